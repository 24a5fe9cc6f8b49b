# SPDX-License-Identifier: MIT
# A thin face on CMake.
#
#   make             build into build/ (the command is build/bin/flynn)
#   make demo        install what is missing, build, run some of the exercises on every backend here
#   make check       install what is missing, build with warnings as errors, run the tests but for the slow ones
#   make check TESTS=all  the slow ones, too; TESTS=LABEL, such as leaks or 'cli|docs': those with this label of ctest
#   make check-quick the unit tests on processors and those of the documents
#   make check-deep  every call that fails once, sanitizers, analyzers, fuzzers, error bounds (half an hour on two cores)
#   make check-mutants  change the kernels and checks in 200 places: a test must notice each (an hour on two cores)
#   make check-gpu      on a machine with an NVIDIA GPU: compute-sanitizer, more than 2^32 elements, 10^6 operations
#   make bench       time exercises over sizes next to the libraries that are installed here: tables, plots, JSON in out/bench
#   make pages       on one quiet machine with a GPU: put what the commands print today into the pages (two minutes)
#   make pictures    draw the pictures of the documents again, each by the command in its page
#   make notebook    install what is missing, build, open the first notebook of docs/notebooks in Jupyter (Debian, Ubuntu)
#   make notebooks   run the notebooks with their answers and store what they show on this machine
#   make dist        write out/flynn-VERSION.tar.gz, of the last commit: the same bytes each time
#   make install     install under PREFIX (/usr/local), within DESTDIR
#   make deps        install what building and testing need (Debian, Ubuntu)
#   make deps-deep   install the compilers and analyzers of check-deep, and what deps-page and deps-mpi install (Debian, Ubuntu)
#   make deps-page   install a browser (350 MB) for the test of the report's page, which is skipped without one (Debian)
#   make deps-notebook  install Jupyter and matplotlib for notebook, notebooks and their tests (Debian, Ubuntu)
#   make deps-gpu    install what the AMD plugin needs besides, and TBB for the test that compares the emulation with HIP-CPU
#   make deps-mpi    install what several processes need: Open MPI, MPICH, and Slurm for its test (Debian, Ubuntu)
#   make deps-all    install what the tests of make check TESTS=all need, in one call of the package manager (Debian, Ubuntu)

PREFIX ?= /usr/local
CMAKE ?= cmake
CMAKE_FLAGS ?=
BUILD := build
JOBS := $(shell nproc 2>/dev/null || echo 2)
# One more than processors: tests of several processes and of failures mostly wait.
TEST_JOBS := $(shell expr $(JOBS) + 1)
# check: the tests without the label all; all: every test; else a regular expression for labels.
TESTS := check
OF_TESTS = $(if $(filter check,$(TESTS)),--label-exclude '^all$$',$(if $(filter all,$(TESTS)),,--label-regex '^($(TESTS))$$'))
# `make check` takes some cases of the tests that have many, by this number; the same number takes the same ones. Other sets take all.
QUICK := $(shell date +%s)
OF_CASES = $(if $(filter check,$(TESTS)),FLYNN_TEST_QUICK=$(QUICK) )
GENERATOR := $(if $(shell command -v ninja),-G Ninja)
DEMO := out/demo
DIST := out
VERSION = $(shell sed -n 's/^.define FL_VERSION_[A-Z]* //p' core/include/flynn/flynn.h | paste -sd .)

BUILD_PACKAGES := gcc g++ cmake make pkg-config libpng-dev libjansson-dev libsmartcols-dev libopenblas0-pthread libhwy-dev libfftw3-single3 libfftw3-double3 libprimesieve-dev
TEST_PACKAGES := ccache gnuplot-nox python3-jsonschema libcriterion-dev valgrind binutils python3 python3-numpy python3-scipy python3-pytest mypy zsh fish groff-base
DEEP_PACKAGES := clang clang-tidy libclang-rt-dev ninja-build g++-aarch64-linux-gnu qemu-user
PAGE_PACKAGES := chromium-headless-shell
NOTEBOOK_TEST_PACKAGES := python3-nbclient python3-ipykernel python3-matplotlib python3-numpy python3-scipy
NOTEBOOK_PACKAGES := jupyter-notebook $(NOTEBOOK_TEST_PACKAGES)
GPU_PACKAGES := hipcc libamdhip64-dev llvm libtbb-dev librocprim-dev libfftw3-dev
MPI_PACKAGES := libopenmpi-dev openmpi-bin libmpich-dev mpich slurmctld slurmd slurm-client munge

# A fresh tree of what runs here alone, such as demo and check, is compiled for few GPUs; `make` and `make install`
# compile it for all that the compilers know, which with the toolchains of both vendors takes twice as long.
FRESH = $(if $(wildcard $(BUILD)/CMakeCache.txt),,$(GENERATOR) -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(FEW))
FEW := -DFLYNN_AMD_ARCHITECTURES=few -DFLYNN_CUDA_ARCHITECTURES=few

all: $(BUILD)/CMakeCache.txt
	@! grep -q 'ARCHITECTURES:STRING=few$$' $< || $(CMAKE) -S . -B $(BUILD) $(FEW:few=all) $(CMAKE_FLAGS)
	@$(CMAKE) --build $(BUILD) --parallel $(JOBS) --target programs

$(BUILD)/CMakeCache.txt:
	@$(CMAKE) -S . -B $(BUILD) $(GENERATOR) -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DBUILD_TESTING=OFF $(CMAKE_FLAGS)

here:
	@$(if $(FRESH),$(CMAKE) -S . -B $(BUILD) $(FRESH) -DBUILD_TESTING=OFF $(CMAKE_FLAGS))
	@$(CMAKE) --build $(BUILD) --parallel $(JOBS) --target programs

demo: deps-build
	@$(MAKE) --no-print-directory here
	@sh docs/examples/demo.sh $(BUILD)/bin/flynn $(DEMO)

# The tests join the same tree. What `make` compiled without -Werror is compiled once more, so that no warning passes;
# after that neither `make` nor another `make check` compiles what has not changed.
tests: deps
	@$(CMAKE) -S . -B $(BUILD) $(FRESH) -DFLYNN_WERROR=ON -DBUILD_TESTING=ON $(CMAKE_FLAGS)
	@$(CMAKE) --build $(BUILD) --parallel $(JOBS)

check: tests
	@$(BUILD)/tests/list_skips
	@cd $(BUILD) && $(OF_CASES)python3 -B ../tests/run_ctest.py ctest --no-tests=error --parallel $(TEST_JOBS) --output-on-failure $(OF_TESTS)

check-quick: tests
	@cd $(BUILD) && FLYNN_TEST_FAMILY=cpu ctest --parallel $(JOBS) --output-on-failure --label-regex 'unit|docs'

check-deep: deps-deep tests
	@python3 -B tests/deep/deep.py $(BUILD) -j $(JOBS) $(DEEP_FLAGS)

check-mutants: tests
	@python3 -B tests/mutants/mutants.py --build=$(BUILD) $(MUTANTS_FLAGS)

check-gpu: tests
	@bash tests/deep/gpu.sh -j $(JOBS) $(BUILD)

bench: here
	@FLYNN=$(CURDIR)/$(BUILD)/bin/flynn $(call python_with,numpy) -B tests/bench/bench.py --output=$(DIST)/bench $(BENCH_FLAGS)

pages: here
	@$(BUILD)/bin/flynn ceiling --backend=serial,simd,omp,hip
	@FLYNN=$(BUILD)/bin/flynn FLYNN_SOURCE=$(CURDIR) python3 -B tests/docs/pages.py --write $(PAGES)

# A page with docs/images/NAME.png has the command that draws it, from words that make arrays: `$ flynn show gaussian:9x9 --png=NAME.png`.
# The picture of report.md is a browser's, which that page says; drawings (.svg) are written by hand.
pictures: here
	@cd docs/images && for picture in *.png; do \
		command=$$(sed -n "s/^ *[$$] \(flynn .*--png=$$picture\)/\1/p" ../*.md ../*/*.md | head -1); \
		[ -z "$$command" ] || { echo "$$command"; PATH="$(CURDIR)/$(BUILD)/bin:$$PATH" sh -c "$$command" > /dev/null || exit 1; }; done
	@mkdir -p out && $(BUILD)/bin/flynn report tests/data/saved/sweep.json -o out/sweep.html --plots=out/plots
	@cp out/plots/01-sweep-map-*.svg docs/images/report-sweep-map.svg && cp out/plots/02-sweep-lines-*.svg docs/images/report-sweep-lines.svg

NOTEBOOK := docs/notebooks/1-sort-and-copies.ipynb
# The first Python that has the module $(1).
python_with = $(or $(firstword $(foreach python,python3 /usr/bin/python3,$(if $(filter 0,$(shell $(python) -c 'import $(1)' 2>/dev/null; echo $$?)),$(python)))),$(error no Python here has the module $(1): make deps-notebook))

# Jupyter wants to be told that root, as in a container, is meant. NOTEBOOK_FLAGS=--no-browser prints the address alone.
notebook: deps-build deps-notebook
	@$(MAKE) --no-print-directory here
	@PYTHONPATH="$(CURDIR)/python:$$PYTHONPATH" $(call python_with,notebook) -m notebook $(if $(filter 0,$(shell id -u)),--allow-root) --notebook-dir=docs $(NOTEBOOK_FLAGS) $(NOTEBOOK)

notebooks: deps-build deps-notebook
	@$(MAKE) --no-print-directory here
	@$(call python_with,nbclient) -B tests/python/notebooks.py --write docs/notebooks/*.ipynb

# What is not committed is not in it, and the time of its files is the commit's.
dist:
	@git diff --quiet HEAD || { echo "make dist: needs a git repository, and no changes that are not committed" >&2; exit 1; }
	@mkdir -p $(DIST)
	@git -c tar.umask=0022 -c tar.tar.gz.command='gzip -9n' archive --format=tar.gz --prefix=flynn-$(VERSION)/ \
		--output=$(DIST)/flynn-$(VERSION).tar.gz HEAD
	@sha256sum $(DIST)/flynn-$(VERSION).tar.gz

install: all
	@$(CMAKE) --install $(BUILD) --prefix $(PREFIX)

deps-build:
	@sh cmake/deps.sh $(BUILD_PACKAGES)

deps:
	@sh cmake/deps.sh $(BUILD_PACKAGES) $(TEST_PACKAGES)

deps-deep: deps-page deps-mpi
	@sh cmake/deps.sh $(DEEP_PACKAGES)

deps-page:
	@sh cmake/deps.sh $(PAGE_PACKAGES)

deps-notebook:
	@sh cmake/deps.sh $(NOTEBOOK_PACKAGES)

deps-gpu:
	@sh cmake/deps.sh $(GPU_PACKAGES)

deps-mpi:
	@sh cmake/deps.sh $(MPI_PACKAGES)

deps-all:
	@sh cmake/deps.sh $(BUILD_PACKAGES) $(TEST_PACKAGES) $(GPU_PACKAGES) $(MPI_PACKAGES) $(PAGE_PACKAGES) $(NOTEBOOK_TEST_PACKAGES)

clean:
	@rm -rf $(BUILD) out

.PHONY: all here demo tests check check-quick check-deep check-mutants check-gpu bench pages pictures notebook notebooks dist install deps-build deps deps-deep deps-page deps-notebook deps-gpu deps-mpi deps-all clean
