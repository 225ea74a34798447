# The tree builds, tests and checks itself from here; `make` alone lists what it can do.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# All that is built or tested here has the same flags, so that it shares the build cache. nomsgpack: Gin's binding for MessagePack is
# 6 MB that nothing here calls. buildvcs: the version is VERSION, and stamping fails in a clone that another user owns.
export GOFLAGS := -trimpath -tags=nomsgpack -buildvcs=false
export CGO_ENABLED := 0

VERSION ?= $(shell scripts/version)
LDFLAGS := -X levelboard/internal/platform/version.name=$(VERSION)
PROGRAM ?= levelboard
OUT ?= dist/$(PROGRAM)
BENCH ?= .
BASE ?= HEAD~1
FUZZTIME ?= 10s
TORTURE_TIME ?= 10m
TORTURE_SEED ?=

# make test leaves out these packages: they take long, or test the tools of this tree. Others skip long tests under -short (testenv.Long).
LONG := ./cmd/levelboard-bench ./internal/bench/... ./internal/testing/attack ./internal/testing/browsertest ./internal/testing/monitoring
# Packages whose goroutines share data.
SHARED := ./internal/app/... ./internal/http/... ./internal/platform/... ./internal/store/... ./internal/usecase/...
# Small packages come first, so that there is something to see early.
PACKAGES ?= $(shell go list ./internal/domain/... ./internal/platform/... ./... | grep -vxF "$$(go list $(LONG))")
RUN ?= .
COUNT ?= 1
# The time after which Go ends a test that hangs, with a dump of its goroutines.
TEST_TIMEOUT ?= 30m

# The race detector needs cgo. gopher-lua and SQLite are not ours and would take nine tenths of the time: they run without it. A package that uses
# sync.Map must run with it: the linker may take its copy of the generic methods, and one without the detector hides what orders the others.
NO_RACE := -race=false -d=checkptr=0
RACE := -race -gcflags='github.com/yuin/gopher-lua/...=$(NO_RACE)' -gcflags='modernc.org/...=-d=checkptr=0' -gcflags='modernc.org/sqlite/lib=$(NO_RACE)'
# Tests look for leftover goroutines themselves: the detector must not wait a second for them at each exit.
export GORACE ?= atexit_sleep_ms=0

# gotestsum prints each package's result as it comes, and the output of failed tests. The servers' files are in memory if possible.
GOTEST = dir=$$(scripts/memory-dir); trap 'rm -rf "$$dir"' EXIT; gotestsum=$$(go tool -modfile=scripts/tools/go.mod -n gotestsum); \
	GOTMPDIR="$${TMPDIR:-/tmp}" TMPDIR="$$dir" TESTENV_SHARED_DIR="$$dir" $(1) "$$gotestsum" --format=pkgname-and-test-fails --format-hide-empty-pkg --hide-summary=skipped -- \
	-count=$(COUNT) -run='$(RUN)' -vet=off -timeout=$(TEST_TIMEOUT)

.PHONY: help setup setup-test build static demo test test-all race ci lint walk clients-check package-check torture shake fuzz bench bench-go bench-compare release clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## a board with live numbers, nothing else needed
	@go run -ldflags '$(LDFLAGS)' ./cmd/levelboard demo

build: ## build ./levelboard and ./levelboard-bot
	go build -ldflags '$(LDFLAGS)' -o . ./cmd/levelboard ./cmd/levelboard-bot

static: ## build PROGRAM (levelboard) to OUT (dist/levelboard) as the images and the releases have it, without symbols; GOOS and GOARCH say for what
	go build -ldflags '-s -w $(LDFLAGS)' -o '$(OUT)' './cmd/$(PROGRAM)'

test: setup-test ## the tests that take minutes; PACKAGES, RUN (a pattern) and COUNT say which and how often
	@echo 'test: compiling, then running on private servers; make ci adds what is long: attacks, floods, browser, Prometheus, benchmarks, all modes of torture, clusters and sentinels'
	@$(call GOTEST) -short $(PACKAGES)

test-all: setup ## all tests, the long ones too
	@echo 'test-all: compiling, then running on private servers'
	@$(call GOTEST) ./...

race: setup ## make test with the race detector; PACKAGES, RUN and COUNT as there
	@echo 'race: compiling with the race detector takes minutes the first time'
	@$(call GOTEST,CGO_ENABLED=1) $(RACE) -short $(PACKAGES)

lint: ## gofmt, go vet, staticcheck, the import rules, the modules, the pages
	@scripts/lint

ci: lint test-all ## everything that must be green before a change is merged
	@$(MAKE) --no-print-directory race PACKAGES='$(SHARED)'
	@$(MAKE) --no-print-directory walk clients-check package-check

walk: setup build ## run the commands of the README and of docs/first-calls.md, backup.md and deploy.md against fresh services
	@LEVELBOARD_BIN=levelboard scripts/walk
	@LEVELBOARD_BIN=levelboard scripts/walk --servers

clients-check: setup build ## make a TypeScript and a Go client of docs/openapi.json, check the documentation's calls, use them, run the bots of docs/examples
	@LEVELBOARD_BIN=levelboard scripts/clients-check

package-check: setup ## the Dockerfile, the Compose file, the manifests, the unit and the release files
	@scripts/package-check

torture: setup-test ## the model test with random kills, TORTURE_TIME (10m) of faults for each mode of Redis; TORTURE_SEED repeats one
	TORTURE_TIME='$(TORTURE_TIME)' TORTURE_SEED='$(TORTURE_SEED)' go test -count=1 -vet=off -v -timeout 0 ./internal/testing/torture

shake: setup ## make test on a machine that stands still for seconds now and then; PACKAGES are whose
	@scripts/shake -short $(PACKAGES)

fuzz: ## run each fuzz target for FUZZTIME (10s)
	@scripts/fuzz $(FUZZTIME)

bench: setup ## measure the service beside its floors and write docs/benchmarks.md, twelve minutes; QUICK=1 to see that it works
	@scripts/bench

bench-go: setup-test ## run the Go benchmarks; BENCH is a pattern
	go test -vet=off -run '^$$' -bench '$(BENCH)' -benchmem -timeout 30m ./...

bench-compare: setup-test ## the Go benchmarks of BASE (HEAD~1) and of this tree through benchstat, six runs of each; BENCH is a pattern
	@scripts/bench-compare '$(BASE)' '$(BENCH)'

release: ## build all platforms into dist/release, with checksums and a software bill of materials
	@scripts/release

setup: ## install what all checks need: also prometheus, chromium, systemd-analyze, proxies, Node.js, a C compiler
	@scripts/setup

setup-test: ## install what make test needs: redis-server, postgres, fonts
	@scripts/setup test

clean: ## remove what building left behind; levelboard-data is yours and stays
	rm -rf levelboard dist
