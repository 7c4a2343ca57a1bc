# Everything that is done to this repository, by name. `make help` lists it.
# Nothing but Rust is needed for `demo` and the Rust tests; what a target lacks it installs by package name or names.

CARGO ?= cargo
GO_MODULES := common nethttp gin echo
PRONY := target/release/prony

.DEFAULT_GOAL := help
.PHONY: help demo build test test-all test-rust test-go lint docs schemas bench clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the optimised binary, target/release/prony
	$(CARGO) build --release --locked -p prony

demo: build ## Run the main job on the embedded default: a known difference of 10 %, found with its certainty
	$(PRONY) run experiments/demo.toml

test: lint test-rust test-go docs ## All checks and tests of every language: what CI runs
	@echo "all tests passed"

test-all: test ## Also the slow suites
	$(CARGO) test --locked --workspace -- --ignored --nocapture

test-rust:
	$(CARGO) test --locked --workspace

# A missing Go is no failure: its tests are skipped, with the reason and the count.
test-go:
	@if command -v go >/dev/null 2>&1; then \
	  for module in $(GO_MODULES); do \
	    echo "go test targets/go/$$module"; \
	    (cd targets/go/$$module && test -z "$$(gofmt -l .)" && go vet ./... && go test ./...) || exit 1; \
	  done; \
	else \
	  echo "skipped: the tests of $(words $(GO_MODULES)) Go modules, because go is not on PATH (apt-get install golang-go, 1.26 or later)"; \
	fi

lint: ## Formatting and clippy, warnings as errors
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

docs: ## Build the API documentation, warnings as errors
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps --document-private-items

schemas: ## Write the JSON Schemas of all file formats again
	$(CARGO) run --locked -p prony -- schema --write docs/schemas

# For example: make bench BENCH="--cases closed-64,rate-10k --peers wrk,oha".
bench: build ## Measure prony against its peers; raw data under benches/results/
	@command -v wrk >/dev/null 2>&1 || { echo "installing wrk"; apt-get install -y wrk; } || { echo "wrk is missing: apt-get install wrk"; exit 2; }
	$(CARGO) build --release --locked -p bench
	target/release/bench $(BENCH)

clean: ## Remove build output; run folders stay
	$(CARGO) clean
	rm -rf targets/*/*/.build
