# The tree builds, tests and checks itself from here; `make` alone lists what it can do.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VERSION ?= $(shell scripts/version)
LDFLAGS := -X levelboard/internal/cli.version=$(VERSION)
FUZZTIME ?= 10s
BENCH ?= .
BASE ?= HEAD~1
COUNT ?= 6
PACKAGES ?= ./...
TORTURE_TIME ?= 10m
TORTURE_SEED ?=
# The Lua and the SQLite of the embedded setup are others' code, and took most of the time: they run without the race detector. What is ours, and
# what both of them lock with, runs with it.
NO_RACE := -race=false -d=checkptr=0
RACE := -race -gcflags='github.com/yuin/gopher-lua/...=$(NO_RACE)' -gcflags='modernc.org/...=$(NO_RACE)'
# A package's tests take seconds to minutes; this ends one that hangs, with a dump of what it was doing.
TEST_TIMEOUT ?= 60m
# The race detector need not wait a second at each exit: goroutines that are left over fail a test.
export GORACE ?= atexit_sleep_ms=0

# nomsgpack: Gin's binding for MessagePack is 6 MB that nothing here calls.
BUILD := -trimpath -tags nomsgpack
OUT ?= dist/levelboard

# The version comes from VERSION, and stamping fails in a clone that another user owns.
export GOFLAGS := $(GOFLAGS) -buildvcs=false

.PHONY: help setup build static demo test shake torture upgrade-test lint walk clients-check package-check ci release fuzz bench bench-go bench-compare clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install what the tests need: redis-server, postgres, prometheus, chromium, systemd-analyze, proxies, fonts, Node.js, a C compiler
	@scripts/setup

build: ## build ./levelboard
	go build $(BUILD) -ldflags '$(LDFLAGS)' -o levelboard ./cmd/levelboard

static: ## build OUT (dist/levelboard) as the image and the releases have it: static, without symbols; GOOS and GOARCH say for what
	CGO_ENABLED=0 go build $(BUILD) -ldflags '-s -w $(LDFLAGS)' -o '$(OUT)' ./cmd/levelboard

demo: ## a board with live numbers, nothing else needed
	@go run $(BUILD) -ldflags '$(LDFLAGS)' ./cmd/levelboard demo

test: setup ## run all tests with the race detector, on private servers
	@git rev-parse --quiet --verify 'HEAD~1^{commit}' >/dev/null 2>&1 || \
		echo 'test: no commit before this one is here (git fetch --unshallow): the upgrade is tried from this tree to itself'
	@dir=$$(scripts/memory-dir); trap 'rm -rf "$$dir"' EXIT; \
		GOTMPDIR="$${TMPDIR:-/tmp}" TMPDIR="$$dir" go test $(RACE) -count=1 -vet=off -p 2 -timeout $(TEST_TIMEOUT) ./...

shake: setup ## tests on a machine that stands still for seconds now and then; PACKAGES are whose
	@scripts/shake $(PACKAGES)

torture: setup ## the model test with random kills, TORTURE_TIME (10m) of faults for each mode of Redis; TORTURE_SEED repeats one
	TORTURE_TIME='$(TORTURE_TIME)' TORTURE_SEED='$(TORTURE_SEED)' go test $(RACE) -count=1 -vet=off -v -timeout 0 ./internal/testing/torture

upgrade-test: setup ## from the binary of BASE (HEAD~1), or the one that LEVELBOARD_UPGRADE_FROM names, to this tree's and back, under load; part of test
	LEVELBOARD_UPGRADE_BASE='$(BASE)' go test $(RACE) -count=1 -vet=off -v -timeout $(TEST_TIMEOUT) -run Upgrade ./internal/testing/torture

lint: ## gofmt, go vet, staticcheck, the import rules, the modules, the pages
	@scripts/lint

walk: setup ## run the commands of the README and of docs/first-calls.md, backup.md and deploy.md against fresh services
	@scripts/walk
	@scripts/walk --servers

package-check: setup ## the Dockerfile, the Compose file, the manifests, the unit and the release files
	@scripts/package-check

release: ## build all platforms into dist/release, with checksums and a software bill of materials
	@scripts/release

clients-check: setup ## make a TypeScript and a Go client of docs/openapi.json, check the documentation's calls, use them, run the bots of docs/examples
	@scripts/clients-check

ci: lint test walk clients-check package-check ## everything that must be green before a change is merged

fuzz: ## run each fuzz target for FUZZTIME (10s)
	@scripts/fuzz $(FUZZTIME)

bench: setup ## measure the service beside its floors and write docs/benchmarks.md, twelve minutes; QUICK=1 to see that it works
	@scripts/bench

bench-go: setup ## run the Go benchmarks; BENCH is a pattern
	go test -vet=off -run '^$$' -bench '$(BENCH)' -benchmem -timeout 30m ./...

bench-compare: setup ## the Go benchmarks of BASE (HEAD~1) and of this tree through benchstat; BENCH is a pattern, COUNT is 6
	@scripts/bench-compare '$(BASE)' '$(BENCH)' '$(COUNT)'

clean: ## remove what building left behind; levelboard-data is yours and stays
	rm -rf levelboard dist
