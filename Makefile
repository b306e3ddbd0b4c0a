# A new machine needs Python 3.11 or newer (with venv and pip) and make.
# The first run of a target sets up .venv, which later runs use.

GAME ?= canfield
ARGS ?=
VENV ?= .venv
# Parallel test processes. Many tests wait for processes, so two more than the number of cores are faster.
TESTERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 2)')

# A short test that takes 5 minutes hangs: its stacks are printed, its process ends, and it counts as failed.
NO_HANG := -o faulthandler_timeout=300 -o faulthandler_exit_on_timeout=true

# The number of faults that `make faults` injects, and its seed (default: random).
FAULTS ?= 1000
SEED ?=
# The duration of `make soak` in minutes.
MINUTES ?= 20

# The Python to use: the first on the path that is new enough. PYTHON=/some/python3 selects another.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

BIN := $(VENV)/bin
CLIENT_AND_SERVER := $(VENV)/.server-is-set-up
TOOLS := $(VENV)/.tools-are-set-up
BROWSER := $(VENV)/.browser-is-set-up
MUTANTS := $(VENV)/mutants/bin/cosmic-ray
NODE := node_modules/.package-lock.json

.DEFAULT_GOAL := help
.PHONY: help play demo installed serve test short check style types layers pyright reference browser page-check bench long planted mutants faults soak fuzz clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

play: $(CLIENT_AND_SERVER) ## host a table at GAME (canfield) for friends in your network; ARGS="--cap 5"
	@$(BIN)/saratoga host $(GAME) $(ARGS)

demo: $(CLIENT_AND_SERVER) ## race four bots at GAME (canfield), and verify the result
	@PYTHONPATH=tests $(BIN)/python -m kit.demo --game $(GAME) $(ARGS)

installed: | $(BIN)/python ## build the wheel, install it alone into an empty environment, and race the four bots there
	@set -eu; room=$$(mktemp -d); trap 'rm -rf "$$room"' EXIT; \
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$$room" .; \
	$(BIN)/python -m zipfile --list "$$room"/*.whl | grep -q saratoga_server/web/index.html; \
	$(BIN)/python -m venv "$$room/venv"; \
	"$$room/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$$(echo "$$room"/*.whl)[server]"; \
	PYTHONPATH=tests "$$room/venv/bin/python" -m kit.demo --game $(GAME); \
	"$$room/venv/bin/saratoga" --version; "$$room/venv/bin/saratoga-server" --version

serve: $(CLIENT_AND_SERVER) ## run a server; ARGS="--host 0.0.0.0" admits other machines
	@$(BIN)/saratoga-server $(ARGS)

test: ## all checks, and beside them all short tests
	@$(MAKE) --no-print-directory -j2 check short

short: $(TOOLS)
	$(BIN)/pytest -m "not long and not browser" -n $(TESTERS) --dist worksteal $(NO_HANG) $(ARGS)

check: style types layers ## lint, format, types and layers, without the tests

style: $(TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(TOOLS)
	$(BIN)/mypy

layers: $(TOOLS)
	$(BIN)/lint-imports

pyright: $(TOOLS) ## a second opinion on types (downloads Node.js)
	$(BIN)/pyright

reference: $(TOOLS) ## write protocol/REFERENCE.md and schema.json from the code
	PYTHONPATH=tests $(BIN)/python -m kit.reference

browser: $(BROWSER) ## the page in Chromium; SARATOGA_SCREENSHOTS=FOLDER keeps pictures of every screen
	$(BIN)/pytest -m "browser and not long" tests/browser -n 2 --dist worksteal $(NO_HANG) $(ARGS)

page-check: $(NODE) ## the page's format, types and pure modules (needs Node.js with npm)
	npx --no-install prettier --check "client/web/*.{js,css,html}" "tests/page/*.js"
	npx --no-install tsc
	node --test tests/page

bench: $(TOOLS) ## measure the cost of a move, memory, start; ARGS="--quick"
	$(BIN)/python tests/benchmarks/suite.py $(ARGS)

long: $(TOOLS) ## the long tests: many races, many hostile frames
	SARATOGA_HYPOTHESIS_PROFILE=long $(BIN)/pytest -m "long and not browser" $(ARGS)

planted: $(BROWSER) ## plant 60 faults, one at a time, and say which of them the tests find; ARGS="NAME"
	PYTHONPATH=tests $(BIN)/python tests/planted/run.py $(ARGS)

mutants: $(MUTANTS) ## change 40 small things in each of eight parts, and say how many the tests notice; ARGS="store"
	PYTHONPATH=tests $(BIN)/python tests/planted/mutants.py $(ARGS)

$(MUTANTS): | $(TOOLS)
	$(BIN)/python -m venv $(VENV)/mutants
	$(VENV)/mutants/bin/python -m pip install --quiet --disable-pip-version-check cosmic-ray==8.7.0

faults: $(TOOLS) ## a storm of FAULTS (1000) of every kind, by SEED; takes over half an hour
	PYTHONPATH=tests $(BIN)/python -m kit.storm --faults $(FAULTS) --seed "$(SEED)" $(ARGS)

fuzz: $(TOOLS) ## a million corrupted frames to the decoder, and thousands of hostile sessions to a real server
	$(BIN)/pytest -m long tests/hostile/test_decoder.py tests/hostile/test_hostile_sessions.py $(ARGS)

soak: $(TOOLS) ## MINUTES (20) with the server 60 % busy: memory and response times must stay level
	$(BIN)/python tests/benchmarks/soak.py --minutes $(MINUTES) $(ARGS)

clean: ## delete .venv and caches
	rm -rf $(VENV) node_modules .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(BIN)/python:
	@test -n "$(PYTHON)" || { \
		echo "Saratoga needs Python 3.11 or newer; none is on the path. Install it, or name it:"; \
		echo "  make PYTHON=/path/to/python3 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "This Python cannot make virtual environments. On Debian and Ubuntu, install"; \
		echo "python3-venv; elsewhere, see that Python came with venv and pip."; exit 1; }

$(CLIENT_AND_SERVER): pyproject.toml | $(BIN)/python
	@echo "setting up $(VENV): client and server"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[server]'
	@touch $@

$(TOOLS): pyproject.toml | $(BIN)/python
	@echo "setting up $(VENV): client, server and tools"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[server,dev]'
	@touch $@ $(CLIENT_AND_SERVER)

$(BROWSER): pyproject.toml | $(TOOLS)
	@echo "setting up $(VENV): the browser's driver"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[server,dev,browser]'
	@touch $@

$(NODE): package-lock.json
	@npm ci --silent --no-audit --no-fund
	@touch $@
