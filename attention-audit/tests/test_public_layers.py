"""The table of public layers: PyTorch's own layers anew, the others by their record."""

import contextlib
import io
import json
import re

import pytest

import attention_audit
from public_layers import LAYERS, RECORD, pytorch
from public_layers.auditing import audit
from public_layers.mending import lines
from public_layers.page import FAILS, PAGE, PASSES, SKIPPED, of, page
from public_layers.verdicts import KINDS, VERDICTS

AGREE = "run `python -m public_layers` anew"
PIN = re.compile(r"^([\w-]+)==([\w.]+)", re.M)


@pytest.fixture(scope="module")
def record():
    return json.loads(RECORD.read_text(encoding="utf-8"))


@pytest.mark.parametrize("layer", pytorch.LAYERS, ids=lambda layer: layer.name)
def test_pytorchs_own_layers_are_as_recorded(layer, record):
    with contextlib.redirect_stdout(io.StringIO()):
        found = audit(layer)
    recorded = next(x for x in record["layers"] if x["name"] == layer.name)
    now = [[row.check, row.result] for row in found.rows]
    assert now == [row[:2] for row in recorded["rows"]], AGREE


def test_the_record_holds_every_adapter_as_it_is_declared(record):
    recorded = [(x["name"], x["package"], x["declared"]) for x in record["layers"]]
    assert recorded == [(x.name, x.package, x.words()) for x in LAYERS], AGREE
    assert len({name for name, *_ in recorded}) == len(recorded)


def test_the_record_has_every_check_of_the_audit(record):
    for layer in record["layers"]:
        assert [row[0] for row in layer["rows"]] == list(attention_audit.CHECKS), AGREE


def test_the_record_was_made_with_the_pinned_versions(record):
    names = "requirements.txt", "without_dependencies.txt"
    files = [RECORD.with_name(name).read_text(encoding="utf-8") for name in names]
    pinned = dict(PIN.findall("\n".join(files)))
    for package, version in record["versions"].items():
        assert pinned[package] == version, AGREE


def test_the_page_shows_the_record(record):
    assert PAGE.read_text(encoding="utf-8") == page(record), AGREE


def test_with_its_reason_taken_away_a_check_passes(record):
    for verdict, mended in zip(VERDICTS, record["mended"], strict=True):
        assert (mended is not None) == bool(verdict.mended), AGREE
        for name, failing in (mended or {}).items():
            assert name in verdict.layers
            assert not {*verdict.checks} & {*failing}, (name, failing)


def test_every_check_that_fails_has_one_verdict(record):
    failing = sorted(
        (layer["name"], check)
        for layer in record["layers"]
        for check, *_ in of(layer, FAILS)
    )
    judged = sorted(
        (name, check)
        for verdict in VERDICTS
        for name in verdict.layers
        for check in verdict.checks
    )
    assert judged == failing
    assert {verdict.kind for verdict in VERDICTS} <= set(KINDS)


def test_the_numbers_of_lines_are_those_of_the_file(record):
    for verdict, recorded in zip(VERDICTS, record["lines"], strict=True):
        assert recorded, verdict.words
        if verdict.source.startswith("torch/"):
            assert lines(verdict) == recorded, AGREE


def test_the_matrix_shows_every_result(record):
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r'^<tr><th scope="row">(.*?)</th>(.*)</tr>$', text, re.M)
    assert [name for name, _ in rows] == [layer["name"] for layer in record["layers"]]
    marks = {PASSES: "pass", FAILS: "FAIL", SKIPPED: "–"}
    for layer, (_, cells) in zip(record["layers"], rows, strict=True):
        said = re.findall(r"<td>(?:<strong>)?(.*?)(?:</strong>)?</td>", cells)
        assert said == [marks[result] for _, result, _ in layer["rows"]]
    heads = re.findall(r'<th scope="col"><span>(.*?)</span></th>', text)
    assert heads == list(attention_audit.CHECKS)


def test_the_page_says_how_many_checks_ran(record):
    text = PAGE.read_text(encoding="utf-8")
    count = len(attention_audit.CHECKS)
    asked = [count - len(of(x, SKIPPED)) for x in record["layers"]]
    assert f"{min(asked)} to {max(asked)} ran on each layer" in text
    assert "\n`compiled` ran on no layer.\n" in text
    for layer in record["layers"]:
        assert "compiled" in [check for check, *_ in of(layer, SKIPPED)]
