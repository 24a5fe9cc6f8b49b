# SPDX-License-Identifier: MIT
# A thin face on CMake.
#
#   make             build into build/ (the command is build/bin/flynn)
#   make demo        install what is missing, build, run some of the exercises on every backend here
#   make check       install what is missing, build with warnings as errors, run all tests
#   make bench       time the exercises on every backend here
#   make install     install under PREFIX (/usr/local), within DESTDIR
#   make deps        install what building and testing need (Debian, Ubuntu)
#   make deps-gpu    install what the AMD plugin and the emulation need besides (Debian, Ubuntu)

PREFIX ?= /usr/local
CMAKE ?= cmake
CMAKE_FLAGS ?=
BUILD := build
CHECK := build/check
DEMO := out/demo

BUILD_PACKAGES := gcc g++ cmake make pkg-config libpng-dev libjansson-dev libsmartcols-dev libopenblas0-pthread
TEST_PACKAGES := gnuplot-nox python3-jsonschema libcriterion-dev libkissfft-float131 valgrind binutils python3 python3-numpy
GPU_PACKAGES := hipcc libtbb-dev librocprim-dev

all: $(BUILD)/CMakeCache.txt
	@$(CMAKE) --build $(BUILD) --parallel

$(BUILD)/CMakeCache.txt:
	@$(CMAKE) -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DBUILD_TESTING=OFF $(CMAKE_FLAGS)

demo: deps-build
	@$(MAKE) --no-print-directory all
	@sh apps/demo.sh $(BUILD)/bin/flynn $(DEMO)

check: deps
	@$(CMAKE) -S . -B $(CHECK) -DFLYNN_WERROR=ON -DBUILD_TESTING=ON $(CMAKE_FLAGS)
	@$(CMAKE) --build $(CHECK) --parallel
	@$(CHECK)/tests/list_skips
	@$(CMAKE) -E env CTEST_OUTPUT_ON_FAILURE=1 $(CMAKE) --build $(CHECK) --target test

EXERCISES := increment sqrt maximum log_of_sum sort select primes convolve1d convolve slice svd reconstruct

bench: all
	@for exercise in $(EXERCISES); do $(BUILD)/bin/flynn $$exercise --backend=all || exit 1; done

install: all
	@$(CMAKE) --install $(BUILD) --prefix $(PREFIX)

deps-build:
	@sh cmake/deps.sh $(BUILD_PACKAGES)

deps:
	@sh cmake/deps.sh $(BUILD_PACKAGES) $(TEST_PACKAGES)

deps-gpu:
	@sh cmake/deps.sh $(GPU_PACKAGES)

clean:
	@rm -rf $(BUILD) out

.PHONY: all demo check bench install deps-build deps deps-gpu clean
