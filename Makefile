# Outlast's own targets. `make help` lists them; a target that is not here is not built.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?=
REPORT ?=
KEYS ?=
SLICE ?=
BENCH ?=

.PHONY: help setup demo up test test-wheel recovery model bench lint fresh docs format clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.installed ## Make the environment; bring git, a browser and test tools where missing
	@$(BIN)/python -m sandbox.setup

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Outlast needs Python 3.11 or newer: set PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
		|| { echo "$(PYTHON) lacks venv: install python3-venv, or set PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable '.[dev]' --constraint constraints.txt
	@touch $@

demo: setup ## The whole job, two kills included; REPORT=name another report, KEYS=off a host without keys
	@$(BIN)/outlast demo $(if $(REPORT),--report $(REPORT)) $(if $(filter off,$(KEYS)),--no-keys)

up: setup ## Leave everything running until Ctrl-C, then stop all of it
	@exec $(BIN)/outlast up $(if $(filter off,$(KEYS)),--no-keys)

test: setup ## Run every test; a skip without leave and a run without tests fail
	$(BIN)/pytest $(PYTEST_ARGS)

test-wheel: setup ## Run the tests of engine and database on the wheel's PostgreSQL
	OUTLAST_POSTGRES=wheel $(BIN)/pytest tests/engine tests/postgres $(PYTEST_ARGS)

recovery: setup ## The crash matrix: each point once; SLICE=k/n or SLICE=all for points x modes
	$(BIN)/pytest tests/recovery -m recovery $(if $(SLICE),--slice $(SLICE)) $(PYTEST_ARGS)

bench: setup ## The engine's speed beside a bare-SQL floor, in one run; BENCH=--quick for a tenth
	$(BIN)/python -m benchmarks.engine_rates $(BENCH)

model: setup ## Check the protocol's model with spin; every planted fault must be found
	@$(BIN)/python -m sandbox.setup spin
	$(BIN)/python models/check.py

lint: setup ## Check style, types and who imports whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --explicit-package-bases tests
	$(BIN)/lint-imports --no-cache

fresh: ## Demo and test in a clone of HEAD with this machine's PostgreSQL and browser masked
	@PYTHON="$(PYTHON)" .ci/fresh

docs: setup ## Write the pages that follow from code
	$(BIN)/python -m docs.generate

format: setup ## Rewrite the code in the one style
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

clean: ## Remove the environment and what tools keep; the data folder .outlast stays
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
