# Two commands for a fresh machine: `make demo` and `make test`. Each sets up what it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export MATURIN_NO_INSTALL_RUST := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test check bench instructions format clean tools-present

help:
	@echo "make demo    build, decide the shipped real records, print the summary"
	@echo "make test    build, run every test"
	@echo "make check   format, lint, types, import contracts, stub against module"
	@echo "make bench   measure: ratios in one run, patterns against other engines, growth"
	@echo "make instructions   count the instructions of the hot paths, with valgrind"

demo: $(VENV)/.installed
	@echo "== deciding examples/failures.jsonl by examples/triage.yaml and examples/severity.yaml"
	@$(BIN)/python examples/demo.py

test: $(VENV)/.test
	@echo "== core without Python"
	cargo test --locked --no-default-features --features arrow --quiet
	@echo "== everything else"
	$(BIN)/python -m pytest -q

check: $(VENV)/.check
	@echo "== Rust: format and lint, with and without Python"
	cargo fmt --check
	cargo clippy --locked --quiet --all-targets -- -D warnings
	cargo clippy --locked --quiet --all-targets --no-default-features -- -D warnings
	@echo "== Python: format, lint, types, import contracts, stub"
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy --no-error-summary
	$(BIN)/pyright --warnings --pythonpath $(BIN)/python
	$(BIN)/lint-imports .importlinter --no-cache
	$(BIN)/python -m mypy.stubtest interlock._core
	@echo "== all checks passed"

bench: $(VENV)/.bench
	@echo "== timings"
	$(BIN)/python -m pytest -q benches --benchmark-enable --benchmark-only --benchmark-columns=median,iqr,ops
	@echo "== ratios in one run, growth of the pathological pattern"
	$(BIN)/python benches/ratios.py
	@echo "== batches of 100,000 orders"
	$(BIN)/python benches/batches.py
	@echo "== Arrow columns of 100,000 orders, against pyarrow.compute by hand"
	$(BIN)/python benches/arrow.py
	@echo "== other engines: by hand in their language, and what it costs to be called by them"
	$(BIN)/python benches/engine_costs.py
	@echo "== growth with rows and records; MOST=--most adds ten million records (4 GB of disk)"
	$(BIN)/python benches/growth.py $(MOST)
	@echo "== patterns against other engines"
	$(BIN)/python benches/patterns.py
	@echo "== overhead of the harness"
	$(BIN)/python benches/harness.py
	@echo "== policies of large runbooks"
	$(BIN)/python benches/runbooks.py

# With CHECK=--check nothing is written: it fails when a path has grown by more than 5 %.
instructions: $(VENV)/.test
	$(BIN)/python benches/instructions.py $(CHECK)

format: $(VENV)/.check
	cargo fmt
	$(BIN)/ruff format --quiet .
	$(BIN)/ruff check --fix --quiet .

SOURCES := Cargo.toml Cargo.lock pyproject.toml $(shell find src python -name '*.rs' -o -name '*.json' -o -name '*.py' -o -name '*.pyi')

tools-present:
	@command -v $(PYTHON) >/dev/null || \
	  { echo "make: $(PYTHON) not found: install Python 3.11 or newer, or name one: make PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) .ci/preflight.py

$(BIN)/python: | tools-present
	@echo "== making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

# The build goes into the environment like any other package: what is tested is what is shipped.
$(VENV)/.installed: $(SOURCES) | tools-present $(BIN)/python
	@echo "== building interlock (release; the first time takes about a minute)"
	@$(BIN)/python -m pip install --quiet .
	@touch $@

$(VENV)/.test: $(VENV)/.installed
	@echo "== installing the test tools"
	@$(BIN)/python -m pip install --quiet '.[test]'
	@touch $@

# Other engines to compare with; where one cannot be had, the benches say so and go on without it.
$(VENV)/.bench: $(VENV)/.test
	@$(BIN)/python -m pip install --quiet '.[bench]' || echo "== not all of '.[bench]' can be installed"
	@touch $@

$(VENV)/.check: $(VENV)/.installed
	@echo "== installing the check tools"
	@$(BIN)/python -m pip install --quiet '.[check]'
	@touch $@

clean:
	rm -rf $(VENV) target dist benches/peers/target
