# SPDX-License-Identifier: MIT
# Finds the unit test framework Criterion by pkg-config. Target: Criterion::criterion
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(CRITERION QUIET IMPORTED_TARGET criterion)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Criterion REQUIRED_VARS CRITERION_LINK_LIBRARIES VERSION_VAR CRITERION_VERSION
    REASON_FAILURE_MESSAGE "install libcriterion-dev, or configure with -DBUILD_TESTING=OFF")
if(Criterion_FOUND AND NOT TARGET Criterion::criterion)
    add_library(Criterion::criterion ALIAS PkgConfig::CRITERION)
endif()
