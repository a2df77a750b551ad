# Everything runs in .venv, which is made when something needs it. Before that there has to be a Python >= 3.11 and make,
# nothing else. Kept to GNU make 3.81, which is macOS's.

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  PYTHON=python3  makes .venv    TREE=starter  is checked    JOBS=3  files of tests at once    ARGS=  are passed on"

PYTHON ?= python3
TREE ?= starter
JOBS ?= 3
ARGS ?=

BIN := .venv/bin

selfcheck: .venv/.with-core ## check the four exercises (in TREE), in memory
	@MOCK=1 SELFTEST=1 $(BIN)/selfcheck --exit-zero --tree "$(TREE)" $(ARGS)

# The tests of one file share what they start, so files are what is shared out; the longest come first. On two cores too
# three at once are faster than two: much of the time, tests wait.
test: .venv/.with-test ## run the tests, three files at once (JOBS)
	@$(BIN)/python -m pytest -n "$(JOBS)" --dist loadfile --no-loadscope-reorder $(ARGS)

lint: .venv/.with-dev ## style and format
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

typecheck: .venv/.with-dev ## types
	@$(BIN)/python -m mypy

check: lint typecheck proofs test ## all that proves the kit

# Sub-commands of selfcheck that prove something of the kit itself.
PROOFS := verify
proofs: .venv/.with-core ## what the kit proves of itself
	@set -e; for each in $(PROOFS); do $(BIN)/selfcheck $$each; done

serve: .venv/.with-core ## run the service in memory, for hands and curl
	@$(BIN)/selfcheck serve $(ARGS)

bench: .venv/.with-dev ## measure
	@set -e; for each in bench/[!_]*.py; do echo "$$each"; $(BIN)/python "$$each" $(ARGS); done

golden: .venv/.with-test ## write the screens anew that the tests compare with
	@$(BIN)/python scripts/golden.py

screens: golden ## the same, and those of docs/screens and the READMEs
	@$(BIN)/python scripts/screens.py

constraints: .venv/.with-dev ## pin the newest versions
	@$(BIN)/python scripts/constraints.py

contract: .venv/.with-core ## write docs/line.schema.json anew
	@$(BIN)/python scripts/contract.py

symptoms: .venv/.with-core ## write docs/symptoms.md anew
	@$(BIN)/python scripts/symptoms.py

clean: ## remove .venv and all that was made
	@rm -rf .venv .selfcheck .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One after the other: two installations into one place would meet.
.NOTPARALLEL:
.PHONY: help selfcheck test lint typecheck check proofs serve bench golden screens constraints contract symptoms clean
MAKEFLAGS += --no-builtin-rules

# The stamps, one for each set of dependencies. They say nothing when the folder was moved or the interpreter has gone.
ifneq ($(shell cat .venv/.made-in 2>/dev/null):$(wildcard $(BIN)/python),$(CURDIR):$(BIN)/python)
$(shell rm -f .venv/.with-*)
endif

.venv/.with-core: EXTRA :=
.venv/.with-test: EXTRA := test
.venv/.with-dev: EXTRA := dev
.venv/.with-core .venv/.with-test .venv/.with-dev: pyproject.toml constraints.txt
	@$(if $(findstring use:,$(FOUND)),sh scripts/install.sh "$(subst use:,,$(FOUND))" $(EXTRA),$(error $(FOUND)))

# Looked for once, and only when something has to be installed.
FOUND = $(eval FOUND := $(shell sh scripts/find-python.sh "$(PYTHON)"))$(FOUND)
