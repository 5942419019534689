# `make help` lists the targets. `make setup PYTHON=python3.12` picks the interpreter.
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
COMPILING := HATCH_BUILD_HOOK_ENABLE_CUSTOM=1

# quiet and without questions, so that it runs the same at a terminal and in a pipeline
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: compiled help setup demo test test-slow mutants lint format build bench docs lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/.project-stamp node_modules/.stamp ## install everything, pinned, into .venv and node_modules

demo: setup ## run the demonstration
	$(BIN)/batch-quota demo --app examples/article.py --cdk $(CURDIR)/node_modules/.bin/cdk $(ARGS)

test: setup ## run the tests but the slow ones; ARGS="-k word" picks some
	$(BIN)/python -m pytest -q -m "not slow" $(ARGS)

test-slow: setup ## run the slow tests
	$(BIN)/python -m pytest -q -m slow $(ARGS)

mutants: setup ## break the scheduler's core in every way and count what the tests notice; some ten minutes on two idle cores
	$(BIN)/python tests/support/mutants.py $(ARGS)

lint: setup ## check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup ## format, and mend what can be mended by machine
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

build: setup ## build the sdist, and the wheel with the scheduler compiled, into dist/ (needs a C compiler)
	$(COMPILING) $(BIN)/python -m hatchling build $(ARGS)

compiled: setup ## build that wheel and unpack it into build/compiled, to be named in PYTHONPATH (needs a C compiler)
	rm -rf build/wheel build/compiled
	$(COMPILING) $(BIN)/python -m hatchling build --target wheel --directory build/wheel
	$(BIN)/python -m zipfile -e build/wheel/*.whl build/compiled

bench: compiled ## run the benchmarks with the scheduler compiled, and that of simulations again interpreted; ARGS="--trace FILE"
	PYTHONPATH=build/compiled $(BIN)/python -m benchmarks $(ARGS)
	$(BIN)/python -m benchmarks --only simulate_speed $(ARGS)

docs: setup ## build the site into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict $(ARGS)

lock: ## pin the dependencies anew (needs uv); ARGS=--upgrade takes the newest
	uv pip compile pyproject.toml --quiet --universal --python-version 3.10 --extra dev --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	  --output-file requirements.lock $(ARGS)

clean: ## remove all that setup, tests, synth and docs made
	rm -rf .venv node_modules cdk.out build dist site .hypothesis .mypy_cache .pytest_cache .ruff_cache

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
	  || { echo "Python 3.10 or newer is needed; name one: make setup PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv .venv

# uv, where there is one, does in seconds what takes pip a minute or two
.venv/.lock-stamp: requirements.lock | .venv/bin/python
	@if command -v uv >/dev/null; then \
	  echo "uv pip install --require-hashes -r requirements.lock"; \
	  uv pip install --quiet --python .venv/bin/python --require-hashes -r requirements.lock; \
	else \
	  echo "pip install --require-hashes -r requirements.lock (a minute or two)"; \
	  $(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock; \
	fi
	@touch $@

.venv/.project-stamp: .venv/.lock-stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --editable .
	@touch $@

node_modules/.stamp: package-lock.json package.json .npmrc
	npm ci --no-audit --no-fund
	@touch $@
