# Everything that is done to this repository, by name. `make help` lists it.
# Nothing but Rust is needed for `demo` and the Rust tests; what a target lacks it installs by package name or names.

CARGO ?= cargo
# What is built once and thrown away has no use for what a next build could take over, nor for a debugger.
ifdef CI
export CARGO_INCREMENTAL := 0
export CARGO_PROFILE_DEV_DEBUG := 0
endif
# The last one runs prony: the binary that test-rust has built.
GO_MODULES := targets/go/common targets/go/nethttp targets/go/gin targets/go/echo targets/go/stages targets/go/orders \
  targets/go/handover targets/go/supervised targets/go/replicas targets/go/planted targets/go/iris targets/go/fiber targets/go/grpc services/grpc services/http \
  crates/cli/tests/own/go packages/go
PHP_TARGETS := targets/php/fpm targets/php/swoole
RUST_TARGETS := targets/rust/common targets/rust/axum targets/rust/hyper targets/rust/tonic
NODE_PACKAGES := targets/node/common targets/node/fastify targets/node/express targets/node/grpc
FUZZ_TARGETS := response chunked request experiment audit counters profile coding answer import template files http2 hpack grpc spans
# Seconds of `make fuzz` in all, shared out evenly.
FUZZ_SECONDS ?= 3600
PRONY := target/release/prony
# What the slow tests printed: those that skip themselves say why, and are counted.
IGNORED := target/slow-tests.log
MDBOOK_VERSION := 0.5.4
MDBOOK := target/tools/mdbook-$(MDBOOK_VERSION)/bin/mdbook

NODE_IS_THERE := (npm --version >/dev/null 2>&1 && node -e 'const [a, b] = process.versions.node.split(".").map(Number); \
  process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null)
NO_NODE := Node 20.19 or later and npm are not on PATH (https://nodejs.org, or apt-get install nodejs npm)
# npm writes the second file after the first; as long as that holds nothing is installed again.
NODE_PACKAGES_ARE_THERE := (cd ui && { test node_modules/.package-lock.json -nt package-lock.json || npm ci --no-audit --no-fund --silent; })
NO_NODE_PACKAGES := npm could not install what ui/package-lock.json names (is the npm registry within reach?)

.DEFAULT_GOAL := help
.PHONY: help demo build dist test-dist ui setup-targets setup-kubernetes test last test-all test-rust test-ui test-go test-php test-node test-jvm test-rust-targets lint docs docs-commands book pictures schemas bench fuzz miri loom clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ui ## Build the optimised binary, target/release/prony
	$(CARGO) build --release --locked -p prony

# The binary embeds what this makes. A missing Node is no failure: reports are then the plain page without a script,
# and `prony serve` says what it lacks.
ui: ## Build the report page and the lab, ui/dist; needs Node 20.19 or later
	@if ! $(NODE_IS_THERE); then echo "$(NO_NODE): reports will be the plain page, and there will be no lab"; \
	elif ! $(NODE_PACKAGES_ARE_THERE); then echo "$(NO_NODE_PACKAGES): reports will be the plain page, and there will be no lab"; \
	else cd ui && npm run --silent build; fi

demo: build ## Run the main job on the embedded default: a known difference of 10 %, found with its certainty
	$(PRONY) run experiments/demo.toml

# test-ui and test-go after test-rust: they ask the binary that the latter builds. The last ones take no turns, so two run
# at a time.
STEPS := ui lint test-rust last
LAST := test-ui test-go test-php docs

test: ## All checks and tests of every language: what CI runs
	@took=; for step in $(STEPS); do \
	  began=$$(date +%s); $(MAKE) --no-print-directory $$step || exit 1; \
	  took="$$took $$step $$(($$(date +%s) - began)) s,"; \
	done; echo "all tests passed:$${took%,}"

last:
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(LAST)

test-all: test test-node test-jvm test-rust-targets loom miri ## Also the slow suites
	$(CARGO) test --locked --workspace --bins
	@{ $(CARGO) test --locked --workspace --no-fail-fast -- --ignored --nocapture 2>&1; echo $$? >$(IGNORED).code; } | tee $(IGNORED)
	@echo "skipped: $$(grep -c -E '(^|\.\.\. )skipped' $(IGNORED)) of the slow tests, for the reasons above"; exit $$(cat $(IGNORED).code)

# Without examples in documentation, of which there are none (a test says so): looking for them takes rustdoc a while. The
# tools of `make bench` are tested by test-all: they cost more to build than to test.
test-rust:
	$(CARGO) test --locked --workspace --exclude bench --lib --bins --tests \
	  --config 'target."cfg(all())".runner = "$(CURDIR)/scripts/run-test.sh"'

# Types, units, formatting, then the built page in a browser. What is missing is named, and what it skips is counted.
test-ui: ui ## Tests of the report page and the lab
	@if $(NODE_IS_THERE) && $(NODE_PACKAGES_ARE_THERE); then \
	  cd ui && npm run --silent check && npm run --silent test && npm run --silent test:browser; \
	else \
	  echo "$(NO_NODE), or the npm registry is out of reach: skipped $$(find ui/src ui/test -name '*.test.ts*' -o -name '*.browser.ts' | wc -l) files of tests of the page"; \
	fi

# A missing Go is no failure: its tests are skipped, with the reason and the count.
test-go:
	@if command -v go >/dev/null 2>&1; then \
	  for module in $(GO_MODULES); do \
	    echo "go test $$module"; \
	    (cd $$module && test -z "$$(gofmt -l .)" && go vet ./... && PRONY=$(CURDIR)/target/debug/prony $(CURDIR)/scripts/go-test.sh) || exit 1; \
	  done; \
	else \
	  echo "skipped: the tests of $(words $(GO_MODULES)) Go modules, because go is not on PATH (apt-get install golang-go, 1.26 or later)"; \
	fi

# As with Go: what is missing is named, and its tests are skipped.
test-php:
	@if php --version >/dev/null 2>&1; then \
	  for target in $(PHP_TARGETS); do echo "php tests of $$target"; (cd $$target && php tests/run.php) || exit 1; done; \
	else \
	  echo "skipped: the tests of $(words $(PHP_TARGETS)) PHP targets, because php is not on PATH (apt-get install php-cli)"; \
	fi

test-node: ## Tests of the Node targets; their packages come from the npm registry
	@if npm --version >/dev/null 2>&1; then \
	  for package in $(NODE_PACKAGES); do \
	    echo "npm test $$package"; \
	    (cd $$package && npm ci --no-audit --no-fund --silent && npm test --silent) || exit 1; \
	  done; \
	else \
	  echo "skipped: the tests of $(words $(NODE_PACKAGES)) Node packages, because npm is not on PATH (apt-get install npm)"; \
	fi

test-jvm: ## Tests of the JVM targets; their packages come from Maven Central
	@if mvn --version >/dev/null 2>&1; then \
	  mvn -q -f targets/jvm -B -ntp -Dprony.build=$(CURDIR)/target/jvm test; \
	else \
	  echo "skipped: the tests of the JVM targets, because mvn is not on PATH (apt-get install maven)"; \
	fi

# Workspaces of their own, so that a target is built as its own community would build it.
test-rust-targets: ## Tests and clippy of the Rust targets
	@for target in $(RUST_TARGETS); do \
	  echo "cargo test $$target"; \
	  (cd $$target && export CARGO_TARGET_DIR=$(CURDIR)/target/rust-targets && $(CARGO) fmt --check \
	    && $(CARGO) clippy --locked --all-features --all-targets -- -D warnings \
	    && $(CARGO) test --locked --all-features) || exit 1; \
	done

lint: ## Formatting and clippy, warnings as errors
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

setup-targets: build ## Install what targets and services need from Debian and the language registries, and build them
	scripts/setup-targets.sh

setup-kubernetes: ## Build a control plane of Kubernetes for the slow test of agents in pods; nine minutes the first time
	scripts/setup-kubernetes.sh

# After ui, as test-ui: what the latter writes anew must not be packed meanwhile. There are no examples: with `--examples`
# dependencies have the features that clippy has checked them with, and are not checked again.
docs: ui ## Build the API documentation, warnings as errors
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps --document-private-items --lib --bins --examples

docs-commands: ## Write docs/commands and the dashboards again, from what prony prints
	PRONY_WRITE_DOCS=1 $(CARGO) test --locked -p prony --test it -- docs_commands::pages::the_pages_of_commands_are_fresh dashboards::the_dashboards

# mdBook comes from crates.io, once, into target/tools; building it takes a minute or two, so no test needs it.
book: $(MDBOOK) ## Build the documents as a site with search, into target/book
	@command -v node >/dev/null 2>&1 || { echo "node is missing: apt-get install nodejs"; exit 2; }
	$(MDBOOK) build docs

$(MDBOOK):
	$(CARGO) install mdbook --version $(MDBOOK_VERSION) --locked --no-default-features --features search \
	  --root target/tools/mdbook-$(MDBOOK_VERSION)

dist: ui ## Make all packages of this version, in target/packages: static programs, .deb, .rpm, wheel, npm, image
	packages/build.sh

test-dist: ## Install each package in a place of its own and make a first load with it; needs `make dist`
	packages/test.sh

pictures: build ## Make the pictures of the README anew, from a real run: about two minutes of load
	PRONY=$(PRONY) scripts/pictures.sh

schemas: ## Write the JSON Schemas of all file formats again
	PRONY_WRITE_DOCS=1 $(CARGO) test --locked -p schema --test documents

# For example: make bench BENCH="--cases closed-64,rate-10k --peers wrk,oha".
bench: ui ## Measure prony against its peers; raw data under benches/results/
	@command -v wrk >/dev/null 2>&1 || { echo "installing wrk"; apt-get install -y wrk; } || { echo "wrk is missing: apt-get install wrk"; exit 2; }
	$(CARGO) build --profile dist --locked -p bench -p prony
	target/dist/bench $(BENCH)

# Longest input of each target; where 8192 is not given, longer ones hold the same pieces again and only cost time.
FUZZ_BYTES_MAX_response := 8192
FUZZ_BYTES_MAX_chunked := 8192
FUZZ_BYTES_MAX_request := 1024
FUZZ_BYTES_MAX_experiment := 2048
FUZZ_BYTES_MAX_audit := 512
FUZZ_BYTES_MAX_counters := 4096
FUZZ_BYTES_MAX_profile := 1024
FUZZ_BYTES_MAX_coding := 1024
FUZZ_BYTES_MAX_answer := 1024
FUZZ_BYTES_MAX_import := 1024
FUZZ_BYTES_MAX_template := 512
FUZZ_BYTES_MAX_files := 1024
FUZZ_BYTES_MAX_http2 := 1024
FUZZ_BYTES_MAX_hpack := 512
FUZZ_BYTES_MAX_grpc := 512
FUZZ_BYTES_MAX_spans := 2048
# An input of audit passes so many branches that weighing each of them (entropic) takes a fifth of the time; without it as
# many inputs find as much.
FUZZ_OPTIONS_audit := -entropic=0
# None of the parsers has `unsafe` of its own (a lint denies it), so AddressSanitizer would only watch foreign crates, and
# makes every input two to five times as slow. FUZZ_SANITIZER=address turns it on.
FUZZ_SANITIZER ?= none

# Finds that only widen the search stay in fuzz/work; how to keep the best of them: fuzz/README.md.
fuzz: ## Fuzz every parser, FUZZ_SECONDS (3600) in all; finds go to fuzz/artifacts
	@$(CARGO) +nightly --version >/dev/null 2>&1 || { echo "the nightly toolchain is missing: rustup toolchain install nightly"; exit 2; }
	@$(CARGO) fuzz --version >/dev/null 2>&1 || { echo "installing cargo-fuzz"; $(CARGO) install --locked cargo-fuzz; }
	@cd fuzz && broken=0; \
	for line in $(foreach target,$(FUZZ_TARGETS),$(target):$(FUZZ_BYTES_MAX_$(target)):$(FUZZ_OPTIONS_$(target))); do \
	  target=$${line%%:*}; options=$${line##*:}; bytes=$${line%:*}; bytes=$${bytes#*:}; \
	  mkdir -p work/$$target; known="work/$$target corpus/$$target"; \
	  if test -d regressions/$$target; then known="$$known regressions/$$target"; fi; \
	  $(CARGO) +nightly fuzz run --sanitizer $(FUZZ_SANITIZER) $$target $$known -- -dict=dictionaries/$$target.dict \
	    -max_total_time=$$(($(FUZZ_SECONDS) / $(words $(FUZZ_TARGETS)))) -max_len=$$bytes -timeout=10 \
	    -rss_limit_mb=1024 -malloc_limit_mb=256 -print_final_stats=1 $$options || { broken=$$((broken + 1)); \
	    echo "$$target: a property broke. Replay the file in fuzz/artifacts/$$target/ that is named above:"; \
	    echo "  cd fuzz && $(CARGO) +nightly fuzz run --sanitizer $(FUZZ_SANITIZER) $$target FILE"; \
	    echo "  cp FILE fuzz/regressions/$$target/ && $(CARGO) test -p properties --test smoke $$target"; }; \
	done; echo "fuzzed $(words $(FUZZ_TARGETS)) targets, $$broken broken"; test $$broken -eq 0

# A missing Miri is no failure: the tests are skipped, with the reason and the count.
miri: ## Run the tests of wire under Miri, which finds undefined behaviour
	@if $(CARGO) +nightly miri --version >/dev/null 2>&1; then $(CARGO) +nightly miri test --locked -p wire; \
	else echo "skipped: $$(grep -r '#\[test\]' crates/wire | wc -l) tests of wire under Miri, because Miri is missing (rustup toolchain install nightly --component miri,rust-src)"; fi

loom: ## Model-check the hand-over between workers and controller, deeper than `make test` does
	LOOM_MAX_PREEMPTIONS=3 $(CARGO) test --locked -p engine --test hand_over -- holds never_waits same_border

clean: ## Remove build output; run folders stay
	$(CARGO) clean
	rm -rf targets/*/*/.build
