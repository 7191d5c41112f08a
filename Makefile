# What a reader needs. Everything runs in .venv, which the first target that needs it
# makes. All other commands are modules: CONTRIBUTING.md has the table.

PYTHON ?= python3
# Which build of PyTorch: cpu, cuda, or the one that suits the machine.
TORCH ?= auto
VENV := .venv
# Made once the libraries are there: the readers', and those for working on the book.
READY := $(VENV)/installed
DEV := $(VENV)/installed-dev
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
RUN := $(BIN)/python
NO_PYTHON := There is no $(PYTHON) here. Name a Python of 3.11 or newer: \
make PYTHON=python3.13 book
NO_INSTALL := pip's line above that begins with ERROR says what stopped it. \
'from versions: none' means: no package index answered, or none has it for this \
Python. Then run make again.

.PHONY: help book lab share dev test test-all notebooks experiments bench clean

help:
	@echo "make book        build the book from the stored outputs"
	@echo "make lab         open your own copy of the chapters in JupyterLab"
	@echo "make share       pack the book into files to send: dist/"
	@echo "make dev         install what working on the book needs; make test does, too"
	@echo "make test        test the code, every notebook, the book and its pages"
	@echo "make test-all    the same, and what is slow"
	@echo "make notebooks   execute every notebook in place"
	@echo "make experiments train what the records lack: hours"
	@echo "make bench       print how fast attention and generation are"
	@echo "make clean       remove what was built, but not $(VENV) and my-book"
	@echo "CONTRIBUTING.md has all other commands, and those for Windows without make."

# Python compiles a module when it is first imported; all at once take a minute.
$(READY): requirements.txt
	@command -v $(firstword $(PYTHON)) >/dev/null || { echo "$(NO_PYTHON)" >&2; exit 1; }
	@$(PYTHON) tools/machine.py install $(VENV)
	@echo "Installing the libraries into $(VENV): some minutes, most of them for PyTorch."
	@$(PYTHON) -m venv $(VENV)
	@$(RUN) tools/machine.py torch $(TORCH)
	@$(RUN) -m pip install -q --disable-pip-version-check --no-compile -r requirements.txt \
	|| { echo "$(NO_INSTALL)" >&2; exit 1; }
	@touch $(READY)

$(DEV): $(READY) requirements-dev.txt
	@$(RUN) -m pip install --disable-pip-version-check -q -r requirements-dev.txt \
	|| { echo "$(NO_INSTALL)" >&2; exit 1; }
	@touch $(DEV)

dev: $(DEV)

book: $(READY)
	@$(RUN) tools/machine.py build _build
	@echo "Building the pages takes a minute or two."
	@mkdir -p _build
	@$(BIN)/jupyter-book build . -q -W -n --keep-going > _build/book.log \
	|| { cat _build/book.log; exit 1; }
	@echo "Open $(CURDIR)/_build/html/index.html in a browser."

# make lab FRESH=03_scaling brings a chapter anew, and keeps the old one beside it.
lab: $(READY)
	@$(RUN) -m tools.my_book $(FRESH)

share: book
	@$(RUN) -m tools.share

test: $(DEV)
	$(RUN) -m pytest

test-all: $(DEV)
	$(RUN) -m pytest -m "slow or not slow"

notebooks: $(READY)
	$(RUN) -m tools.notebooks run

experiments: $(READY)
	$(RUN) -m experiments

bench: $(READY)
	$(RUN) -m tests.benchmarks

clean:
	rm -rf _build dist
