# What a reader needs. Everything runs in .venv, which the first target that needs it
# makes. All other commands are modules: CONTRIBUTING.md has the table.

PYTHON ?= python3
# Which build of PyTorch: cpu, cuda, or the one that suits the machine.
TORCH ?= auto
VENV := .venv
READY := $(VENV)/installed
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
RUN := $(BIN)/python
NO_PYTHON := There is no $(PYTHON) here. Name a Python of 3.11 or newer: \
make PYTHON=python3.13 book
NO_INSTALL := pip's line above that begins with ERROR says what stopped it. \
'from versions: none' means: no package index answered, or none has it for this \
Python. Then run make again.

.PHONY: help book lab test test-all notebooks experiments bench clean

help:
	@echo "make book        build the book from the stored outputs"
	@echo "make lab         open the chapters in JupyterLab"
	@echo "make test        test the code, every notebook, the book and its pages"
	@echo "make test-all    the same, and what is slow"
	@echo "make notebooks   execute every notebook in place"
	@echo "make experiments train what the records lack: hours"
	@echo "make bench       print how fast attention and generation are"
	@echo "make clean       remove what was built, but not $(VENV)"
	@echo "CONTRIBUTING.md has all other commands, and those for Windows without make."

$(READY): requirements.txt pyproject.toml
	@command -v $(firstword $(PYTHON)) >/dev/null || { echo "$(NO_PYTHON)" >&2; exit 1; }
	@$(PYTHON) tools/machine.py install $(VENV)
	$(PYTHON) -m venv $(VENV)
	@$(RUN) tools/machine.py torch $(TORCH)
	@$(RUN) -m pip install --disable-pip-version-check -r requirements.txt \
	|| { echo "$(NO_INSTALL)" >&2; exit 1; }
	@touch $(READY)

book: $(READY)
	@$(RUN) tools/machine.py build _build
	$(BIN)/jupyter-book build . -W -n --keep-going
	@echo "Open $(CURDIR)/_build/html/index.html in a browser."

lab: $(READY)
	$(RUN) -m tools.notebooks trust
	$(BIN)/jupyter lab chapters

test: $(READY)
	$(RUN) -m pytest

test-all: $(READY)
	$(RUN) -m pytest -m "slow or not slow"

notebooks: $(READY)
	$(RUN) -m tools.notebooks run

experiments: $(READY)
	$(RUN) -m experiments

bench: $(READY)
	$(RUN) -m tests.benchmarks

clean:
	rm -rf _build
