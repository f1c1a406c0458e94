# Corelane: `make help` lists what can be done here.

BINARY    := bin/corelane
VERSION   := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
CONFIG    ?= examples/quickstart.yaml
FUZZTIME  ?= 10s
# Extra flags of the benchmark runner, for example BENCH="-rounds 3 -connections 64".
BENCH     ?=
# How long `make soak` sends.
DURATION  ?= 1h

# The version comes from git describe above; asking git again in every build
# only fails where the clone belongs to another user.
export GOFLAGS := -buildvcs=false $(GOFLAGS)

.DEFAULT_GOAL := help
.PHONY: help setup run build test check lint bench soak fuzz clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install the Debian packages that tests and benchmarks need, if missing
	@./scripts/setup.sh

run: build ## start the gateway on 127.0.0.1:8080 with a demo upstream (CONFIG=file)
	$(BINARY) run -c $(CONFIG) --demo

build: ## build bin/corelane
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(BINARY) ./cmd/corelane

test: setup ## run all tests
	go test -timeout 10m ./...

check: setup lint ## formatter, vet, staticcheck, and all tests under the race detector
	@./scripts/setup.sh race
	CGO_ENABLED=1 go test -race -timeout 20m ./...

lint:
	@files=$$(go tool gofumpt -l .); test -z "$$files" || { echo "not formatted, run 'go tool gofumpt -w .':"; echo "$$files"; exit 1; }
	go vet ./...
	go vet -tags debug ./...
	GOOS=darwin go vet ./engine/reactor/...
	go tool staticcheck ./...

bench: setup build ## compare with nginx, HAProxy and Go proxies (BENCH="flags"), see docs/benchmarks.md
	go run ./bench/run $(BENCH)

soak: build ## mixed traffic with trouble for DURATION; every response is checked, memory must stay flat
	go run ./bench/soak -duration $(DURATION) -gateway $(BINARY)

fuzz: ## run every fuzz target for FUZZTIME each
	@FUZZTIME=$(FUZZTIME) ./scripts/fuzz.sh

clean: ## remove what the targets above have built
	rm -rf bin var bench/scratch coverage* *.test
