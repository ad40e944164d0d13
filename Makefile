# Every target makes the environment it needs: .venv in this folder, nothing outside it.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo demo-spark test test-fast browser docs docs-serve lint fuzz endure bench bench-spark clean

demo: .venv/.demo
	@$(BIN)/ensue demo

# A stream on Spark, which is killed in the middle and goes on.
demo-spark: .venv/.spark
	@$(BIN)/ensue demo --spark

# Pages are tested in a browser, which is installed where that needs no questions; else those tests are skipped.
test: .venv/.dev
	@$(BIN)/python -m tests.browser --quiet || true
	$(BIN)/python -m pytest -n 2 --dist worksteal

browser: .venv/.dev
	@$(BIN)/python -m tests.browser

test-fast: .venv/.dev
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

# The documentation as a site, in build/site: open build/site/index.html, or `make docs-serve` while writing.
docs: .venv/.docs
	$(BIN)/zensical build --clean --strict

docs-serve: .venv/.docs
	$(BIN)/zensical serve

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# How long, and from which seed: make fuzz SEED=7 MINUTES=60
SEED ?= 1
MINUTES ?= 10
fuzz: .venv/.dev
	$(BIN)/python -m tests.fuzz --seed $(SEED) --minutes $(MINUTES)

# Attacks for as long as they are told: make endure SEED=7 MINUTES=60
endure: .venv/.dev
	$(BIN)/python -m tests.endure --seed $(SEED) --minutes $(MINUTES)

# What to measure: make bench ONLY=--quick
ONLY ?=
bench: .venv/.bench
	$(BIN)/python -m benchmarks $(ONLY)

# Ensue on Spark, beside SQL and beside Flink (which gets an environment of its own): make bench-spark ONLY="--spark 1000000"
bench-spark: .venv/.bench
	$(BIN)/python -m benchmarks spark spark-streaming $(ONLY)

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("ensue needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; say make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv

.venv/.demo: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[cli]'
	@touch $@

.venv/.spark: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[cli,spark]'
	@touch $@ .venv/.demo

.venv/.dev: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ .venv/.demo .venv/.spark .venv/.docs

# With the package: its lexer colours the rules.
.venv/.docs: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@

.venv/.bench: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@touch $@

clean:
	rm -rf .venv .venv-flink build dist .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
