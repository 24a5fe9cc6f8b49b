# SPDX-License-Identifier: MIT
# Cross-compiles for 64-bit Arm, and runs what was built by qemu-user:
#   cmake -S . -B build/arm --toolchain cmake/aarch64-linux-gnu.cmake
# ARM_SYSROOT (an option of CMake or a variable of the environment): the root of an arm64 system with the libraries;
# without it those that the host has for arm64 (multiarch).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu max)

if(NOT ARM_SYSROOT)
    set(ARM_SYSROOT "$ENV{ARM_SYSROOT}")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ARM_SYSROOT)
set(ENV{PKG_CONFIG_LIBDIR}
    "${ARM_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${ARM_SYSROOT}/usr/share/pkgconfig")
if(ARM_SYSROOT)
    set(CMAKE_SYSROOT "${ARM_SYSROOT}")
    set(ENV{PKG_CONFIG_SYSROOT_DIR} "${ARM_SYSROOT}")
    list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -L "${ARM_SYSROOT}")
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
