# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The front door: every target installs what it lacks by itself. The work is done by the scripts of
# scripts/ and by CMake; the result is in build/release.
.DEFAULT_GOAL := help
.PHONY: help setup build demo demo-linux test verify soak bench paper check package install uninstall clean
PREFIX ?= /usr/local
# What make demo builds for its first step, and for those that convert and measure.
ANALYSIS = src/compiler/all src/cli/front/all src/cli/analyze/all python/all
CONVERSION = tandem_native_runtime src/cli/report/all
# Builds of other projects run below these targets; they must not inherit this make's flags.
unexport MAKEFLAGS MFLAGS MAKELEVEL

help: ## this text
	@echo 'Tandem: atomic sections for C and C++. Targets of make:'
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14

setup: ## install every Debian package and the Python environment that are missing, for all targets
	@scripts/setup

build: ## build the product into build/release: bin/tandem, bin/tandem-cc, lib/, ...
	@scripts/setup build
	@scripts/build release

demo: ## what Tandem does, on memcached, a coherence protocol and the simulated machine, in a few minutes
	@scripts/setup build demo
	@scripts/build release $(ANALYSIS:%=--target %)
	@scripts/demo analysis
	@scripts/build release $(CONVERSION:%=--target %)
	@scripts/demo conversion
	@scripts/setup build demo cross
	@scripts/build release --target src/cli/machine/all
	@scripts/demo machine

demo-linux: ## Linux on four simulated harts; builds its image once, in 5 to 20 minutes
	@scripts/setup build image
	@scripts/build release
	@scripts/demo linux

test: ## all tests of a change; the last lines are the summary
	@scripts/setup build demo test
	@scripts/build --tests release
	@scripts/test release

verify: ## the long form: test, check, sanitizers, gcc's and csmith's programs, memcached's suite, a fresh machine
	@scripts/verify

soak: ## the runtime under all algorithms and policies, over and over, for MINUTES (30)
	@scripts/setup build demo test
	@scripts/build --tests release
	@TANDEM_BUILD=build/release build/venv/bin/python tests/runtime/soak.py $(MINUTES)

bench: ## measure, and compare with the peers
	@scripts/setup
	@scripts/build --tests release
	@bench/run

paper: ## every table and figure of the papers on one page, with verdicts (QUICK=1: the short form)
	@scripts/setup build demo
	@scripts/build release
	@build/release/bin/tandem experiment paper $(if $(QUICK),--quick)

check: ## format, lint, types, dead paths in the documents
	@scripts/setup build test check
	@scripts/build --tests release
	@scripts/check

package: ## Debian packages and a Python wheel, in build/release/packages
	@scripts/setup build package
	@scripts/build release
	@scripts/package

install: build ## install into PREFIX (default /usr/local), below DESTDIR if that is set
	@scripts/setup build package
	@cmake --build build/release --target tandem_manual
	@DESTDIR='$(DESTDIR)' cmake --install build/release --prefix '$(PREFIX)'

uninstall: ## remove what the last install has installed
	@scripts/uninstall '$(DESTDIR)'

clean: ## remove the build trees; downloads and the Python environment stay
	@scripts/clean
