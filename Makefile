# make setup | run | test | integration | check | bench
# Everything happens in .venv; after `make setup` nothing needs a network.

PYTHON ?=
HOST ?= 127.0.0.1
PORT ?= 8000
export HOST PORT

BIN := .venv/bin
REQUIREMENTS := requirements/runtime.txt requirements/dev.txt
INSTALLED := .venv/.installed
SUPPORTED := import sys; sys.exit(not (3, 12) <= sys.version_info[:2] < (3, 14))

.DEFAULT_GOAL := run
.PHONY: setup run test integration check bench chromium servers

setup: $(INSTALLED)
	@$(BIN)/python manage.py migrate --skip-checks --verbosity 0

$(INSTALLED): $(REQUIREMENTS) .python-version
	@python=; \
	for candidate in $(PYTHON) python$$(cat .python-version) python3.13 python3.12 python3; do \
	  if "$$candidate" -c '$(SUPPORTED)' 2>/dev/null; then python=$$candidate; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "Hermes needs Python 3.12 or 3.13: install python$$(cat .python-version), or say where one is with PYTHON=." >&2; exit 1; \
	fi; \
	if ! $(BIN)/python -c '$(SUPPORTED)' 2>/dev/null; then \
	  echo "Making .venv with $$python"; \
	  rm -rf .venv; \
	  "$$python" -m venv .venv || { echo "Making .venv failed: on Debian, install the package $$("$$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')." >&2; exit 1; }; \
	fi
	@echo "Installing what requirements/ pins"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes $(REQUIREMENTS:%=-r %)
	@touch $@

run: setup
	@$(BIN)/python manage.py bootstrap
	@exec $(BIN)/python manage.py serve

test: setup chromium
	@$(BIN)/python -m pytest -n auto --dist loadfile

# A browser that is not where Debian puts it may be named in CHROMIUM.
chromium:
	@if [ -z "$$CHROMIUM" ] && ! command -v chromium >/dev/null; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Installing Chromium for the browser tests"; \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium; } >/dev/null; \
	  else \
	    echo "The browser tests need Chromium: install it (Debian: sudo apt-get install chromium), or say where it is with CHROMIUM=." >&2; exit 1; \
	  fi; \
	fi

# What the database decides, on a PostgreSQL and a Redis that it starts and stops itself.
integration: setup servers
	@$(BIN)/python -m tests.integration

servers:
	@missing=; \
	command -v redis-server >/dev/null || missing="redis-server"; \
	command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$$missing postgresql"; \
	if [ -n "$$missing" ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Installing $$missing for the integration tests"; \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $$missing; } >/dev/null; \
	  else \
	    echo "The integration tests need $$missing: install them (Debian: sudo apt-get install $$missing)." >&2; exit 1; \
	  fi; \
	fi

check: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@git ls-files -z -- 'templates/*.html' | xargs -0 $(BIN)/djade --check --target-version 6.1
	@$(BIN)/python manage.py makemigrations --check --dry-run
	@$(BIN)/python manage.py check

bench: setup
	@$(BIN)/python -m benchmarks
