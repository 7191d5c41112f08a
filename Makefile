# Everything runs in .venv, which the first target that needs it makes.

PYTHON ?= python3
VENV := .venv
READY := $(VENV)/installed
RUN := $(VENV)/bin/python

.PHONY: help book test test-all lab notebooks views experiments page-model bench clean

help:
	@echo "make book         build the book from the stored outputs"
	@echo "make test         test the code, every notebook, the book and its pages"
	@echo "make test-all     the same, and what is slow"
	@echo "make lab          open the chapters in JupyterLab"
	@echo "make notebooks    execute every notebook in place"
	@echo "make views        put changed ES modules into the stored views, run nothing"
	@echo "make experiments  train what chapters only read; rewrites helpers/recorded"
	@echo "make page-model   train the model that runs in the page"
	@echo "make bench        print how fast attention and generation are, and training"
	@echo "make clean        remove what was built, but not $(VENV)"

$(READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; ok = sys.version_info >= (3, 11); \
	sys.exit(0 if ok else "The book needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.13 book")'
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --disable-pip-version-check -r requirements.txt
	@touch $(READY)

book: $(READY)
	$(VENV)/bin/jupyter-book build . -W -n --keep-going
	@echo "Open $(CURDIR)/_build/html/index.html in a browser."

test: $(READY)
	$(RUN) -m pytest

test-all: $(READY)
	$(RUN) -m pytest -m "slow or not slow"

lab: $(READY)
	$(RUN) _ext/notebooks.py trust
	$(VENV)/bin/jupyter lab chapters

notebooks: $(READY)
	$(RUN) _ext/notebooks.py run

views: $(READY)
	$(RUN) _ext/notebooks.py views

experiments: $(READY)
	$(RUN) -m helpers.experiments

page-model: $(READY)
	$(RUN) -m helpers.page_model

bench: $(READY)
	$(RUN) -m tests.benchmarks

clean:
	rm -rf _build
