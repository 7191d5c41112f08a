# Everything runs in .venv, which the first target that needs it makes.

PYTHON ?= python3
VENV := .venv
READY := $(VENV)/installed
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
RUN := $(BIN)/python
NO_PYTHON := There is no $(PYTHON) here. Name a Python of 3.11 or newer: \
make PYTHON=python3.13 book
NO_INSTALL := pip's line above that begins with ERROR says what stopped it. \
'from versions: none' means: no package index answered, or none has it for this \
Python. Then run make again.

.PHONY: help book test test-all coverage lab notebooks new-chapter views experiments page-model bench test-notebooks browser zip links lock licences audit locked hand-ins set-repository check-repository clean

help:
	@echo "make book         build the book from the stored outputs"
	@echo "make test         test the code, every notebook, the book and its pages"
	@echo "make test-all     the same, and what is slow"
	@echo "make coverage     what the tests run of helpers; fails under 95%"
	@echo "make lab          open the chapters in JupyterLab"
	@echo "make notebooks    execute every notebook in place"
	@echo "make new-chapter  start a chapter: NAME=10_my_chapter TITLE='My chapter'"
	@echo "make views        put changed ES modules into the stored views, run nothing"
	@echo "make experiments  train what chapters only read; rewrites helpers/recorded"
	@echo "make page-model   train the model that runs in the page"
	@echo "make bench        print how fast attention and generation are, and training"
	@echo "make test-notebooks  of all tests, run the notebooks alone"
	@echo "make browser      download the Chromium that the tests use"
	@echo "make zip          build the book anew and pack it: the offline edition"
	@echo "make links        ask every link that leads elsewhere whether it answers"
	@echo "make lock         write requirements.lock anew, every library with its hashes"
	@echo "make licences     print the licence of every library that is installed"
	@echo "make audit        ask whether a locked version has a known vulnerability"
	@echo "make locked       install every library again, by requirements.lock"
	@echo "make hand-ins     check all notebooks of a folder: FOLDER=/where/they/are"
	@echo "make set-repository  give the book its address: URL=https://github.com/you/book"
	@echo "make check-repository  is the book written for URL and, if given, for TAG?"
	@echo "make clean        remove what was built, but not $(VENV)"

$(READY): requirements.txt pyproject.toml
	@command -v $(firstword $(PYTHON)) >/dev/null || { echo "$(NO_PYTHON)" >&2; exit 1; }
	@$(PYTHON) tools/machine.py install $(VENV)
	$(PYTHON) -m venv $(VENV)
	@$(RUN) -m pip install --disable-pip-version-check -r requirements.txt \
	|| { echo "$(NO_INSTALL)" >&2; exit 1; }
	@touch $(READY)

# What only PyTorch needs has no hashes: it depends on the machine's build.
locked:
	@$(PYTHON) tools/machine.py install $(VENV)
	$(PYTHON) -m venv --clear $(VENV)
	$(RUN) -m pip install --disable-pip-version-check --require-hashes \
	    -r requirements.lock
	$(RUN) -m pip install --disable-pip-version-check \
	    $$(grep '^torch==' requirements.txt)
	$(RUN) -m pip install --disable-pip-version-check --no-deps \
	    --no-build-isolation -e .
	@touch $(READY)

book: $(READY)
	@$(RUN) tools/machine.py build _build
	$(BIN)/jupyter-book build . -W -n --keep-going
	@echo "Open $(CURDIR)/_build/html/index.html in a browser."

test: $(READY)
	$(RUN) -m pytest

test-all: $(READY)
	$(RUN) -m pytest -m "slow or not slow"

coverage: $(READY)
	$(RUN) -m coverage run -m pytest tests -m "not slow and not browser"
	$(RUN) -m coverage report

lab: $(READY)
	$(RUN) -m tools.notebooks trust
	$(BIN)/jupyter lab chapters

notebooks: $(READY)
	$(RUN) -m tools.notebooks run

new-chapter: $(READY)
	@$(RUN) -m tools.new_chapter -- "$$NAME" "$$TITLE"

views: $(READY)
	$(RUN) -m tools.notebooks views

experiments: $(READY)
	$(RUN) -m experiments

page-model: $(READY)
	$(RUN) -m experiments.story_model

bench: $(READY)
	$(RUN) -m tests.benchmarks

test-notebooks: $(READY)
	$(RUN) -m pytest chapters

browser: $(READY)
	$(RUN) -m playwright install chromium

zip: clean book
	@$(RUN) -m tools.offline_edition

links: $(READY)
	@$(RUN) -m tools.links

hand-ins: $(READY)
	@$(RUN) -m tools.hand_ins "$$FOLDER"

set-repository: $(READY)
	@$(RUN) -m tools.repository set "$$URL"

check-repository: $(READY)
	@$(RUN) -m tools.repository check "$$URL" "$$TAG"

lock: $(READY)
	$(RUN) -m tools.dependencies lock

licences: $(READY)
	$(BIN)/pip-licenses --with-system --order=license

audit: $(READY)
	$(RUN) -m tools.dependencies audit

clean:
	rm -rf _build
