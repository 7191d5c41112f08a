"""Imports run one way, so that each module can be read and used by itself."""

import ast

import pytest

from tests import ROOT

HELPERS = ROOT / "helpers"
MAY_IMPORT = {
    "__init__": set(),
    "validation": set(),
    "attention": {"validation"},
    "transformer_block": {"attention", "validation"},
    "kv_cache": {"transformer_block", "validation"},
    "language_model": {"attention", "kv_cache", "transformer_block", "validation"},
    "generation": {"kv_cache", "language_model", "runtime", "tokenizer", "validation"},
    "batches": {"tokenizer", "validation"},
    "checkpoint": {"validation"},
    "recipe": {"validation"},
    "presets": {"recipe", "transformer_block"},
    "training": {"batches", "checkpoint", "recipe", "runtime"},
    "tokenizer": set(),
    "grammar": set(),
    "little_world": {"grammar"},
    "corpus": {"little_world", "validation"},
    "ngram": {"validation"},
    "probes": {"language_model", "little_world", "ngram", "tokenizer", "validation"},
    "experiments": {
        "batches",
        "corpus",
        "generation",
        "language_model",
        "presets",
        "probes",
        "recipe",
        "tokenizer",
        "training",
        "transformer_block",
    },
    "page_model": {
        "batches",
        "corpus",
        "language_model",
        "little_world",
        "presets",
        "probes",
        "tokenizer",
        "training",
    },
    "plotting": set(),
    "runtime": set(),
}
ONLY_IN = {
    "matplotlib": {"plotting"},
    "PIL": {"plotting"},
    "safetensors": {"checkpoint", "page_model"},
    "ipywidgets": {"views"},
    "tqdm": {"training"},
}


def imported(path):
    """Dotted names of everything that a file imports, at its top or inside."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_every_module_has_its_place_in_the_order():
    assert {path.stem for path in HELPERS.glob("*.py")} == set(MAY_IMPORT)
    folders = {path.parent.name for path in HELPERS.glob("*/*.py")}
    assert folders == {"checks", "views"}


@pytest.mark.parametrize("module", MAY_IMPORT)
def test_imports_run_one_way(module):
    names = list(imported(HELPERS / f"{module}.py"))
    own = {name.split(".")[1] for name in names if name.startswith("helpers.")}
    assert own <= MAY_IMPORT[module]
    for package, homes in ONLY_IN.items():
        if module not in homes:
            assert not [name for name in names if name.split(".")[0] == package]


@pytest.mark.parametrize(
    "path", sorted((HELPERS / "views").glob("*.py")), ids=lambda path: path.stem
)
def test_views_know_tensors_and_no_models(path):
    names = list(imported(path))
    own = {name.split(".")[1] for name in names if name.startswith("helpers.")}
    assert own <= {"attention", "validation", "views"}
    for package, homes in ONLY_IN.items():
        if "views" not in homes:
            assert not [name for name in names if name.split(".")[0] == package]


@pytest.mark.parametrize(
    "path", sorted((HELPERS / "checks").rglob("*.py")), ids=lambda path: path.stem
)
def test_checks_know_what_they_check(path):
    names = list(imported(path))
    own = {name.split(".")[1] for name in names if name.startswith("helpers.")}
    assert not own & {"views", "plotting", "training", "experiments"}
    for package in ONLY_IN:
        assert not [name for name in names if name.split(".")[0] == package]
