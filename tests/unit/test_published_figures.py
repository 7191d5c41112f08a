"""Figures of others: where each was read, and that every place prints the same ones."""

import datetime
import re

import pytest

from helpers import published
from helpers.parallel.workload import MODELS, h100
from tests import ROOT
from tools import notebooks

CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))


def test_each_figure_says_what_it_is_and_where_and_when_it_was_read():
    keys = [entry["key"] for entry in published.entries()]
    assert len(keys) == len(set(keys)) > 0
    for entry in published.entries():
        assert {*entry} == {
            *("key", "value", "unit", "what"),
            *("work", "address", "place", "read"),
        }
        assert entry["unit"] in published.UNITS
        assert re.match(r"https://\S+$", entry["address"])
        datetime.date.fromisoformat(entry["read"])
        assert all(entry[name] for name in ("what", "work", "place"))
        assert "|" not in entry["what"] + entry["work"] + entry["place"]


def test_the_page_of_sources_shows_them_all():
    page = (ROOT / "chapters/sources.md").read_text(encoding="utf-8")
    assert "\n".join(published.table()) in page, "python -m helpers.published prints it"


def test_no_chapter_types_a_figure_of_the_table():
    large = [
        f"{published.figure(entry['key']):g}".replace("+", "")
        for entry in published.entries()
        if not isinstance(entry["value"], dict)
    ]
    typed = {re.sub(r"\.?0*e", "e", one) for one in large if "e" in one}
    # 3.35e12 and 989e12, however they are written
    typed |= {
        f"{float(one) / 10**power:g}e{power}" for one in typed for power in (9, 12)
    }
    assert {"3.35e12", "989e12", "50e9"} < typed
    number = re.compile(r"(?<![\w.])\d+(?:\.\d+)?e\d+")
    for path in CHAPTERS:
        for cell in notebooks.read(path).cells:
            if cell.cell_type == "code":
                found = set(number.findall(cell.source)) & typed
                assert found == set(), f"{path.stem}, cell {cell.id!r}"


def test_a_figure_comes_in_bytes_and_seconds():
    assert published.figure("H100 bandwidth") == 3.35e12
    assert published.figure("H100 shared memory") == 228 * 1024
    assert published.figure("network card") == 50e9
    assert published.sizes("Llama 3 8B")["d_model"] == 4096


@pytest.mark.parametrize(
    ("read", "key", "message"),
    [
        (published.figure, "H900", "key must be one of H100 FLOPs, .*got 'H900'"),
        (published.sizes, "H900", "key must be one of H100 FLOPs, .*got 'H900'"),
        (published.figure, "Llama 3 8B", "single value, got 'Llama 3 8B': use sizes"),
        (published.sizes, "H100 clock", "several values, got 'H100 clock': use fig"),
    ],
)
def test_a_figure_that_is_none_is_named(read, key, message):
    with pytest.raises(ValueError, match=message):
        read(key)


def test_figures_of_one_thing_agree():
    chip, figure = published.sizes, published.figure
    # 16 a clock of each multiprocessor: FlashAttention-3 prints 3.9 TFLOP/s.
    special = figure("H100 special functions") * figure("H100 multiprocessors")
    assert special * figure("H100 clock") == pytest.approx(3.9e12, rel=0.01)
    # 1,024 multiplications and additions a clock of each of four tensor cores.
    dense = 2 * 4 * 512 * figure("H100 multiprocessors") * figure("H100 clock")
    assert dense == pytest.approx(figure("H100 FLOPs"), rel=0.001)
    assert figure("network card by NCCL") < figure("network card")
    assert figure("NVLink by NCCL") < figure("NVLink")
    for run in published.entries():
        if run["key"].startswith("Llama 3 405B on"):
            sizes = run["value"]
            assert (
                sizes["TP"] * sizes["CP"] * sizes["PP"] * sizes["DP"] == sizes["GPUs"]
            )
            share = sizes["TFLOPs_per_GPU"] * 1e12 / figure("H100 FLOPs")
            assert share == pytest.approx(sizes["MFU_percent"] / 100, abs=0.01)
    model = chip("Llama 3 8B")
    assert model["heads"] == 4 * model["kv_heads"]


def test_sentences_of_a_thousand_machines_follow_from_the_figures():
    figure = published.figure
    run = published.sizes("Llama 3 405B on 16,384")
    # "on sixteen thousand GPUs at once, for months"
    assert figure("Llama 3.1 405B hours") / run["GPUs"] / 24 / 30 > 2
    # "a step has 2²⁴ tokens", and "16 such nodes hold about a sixteenth of the layers"
    assert run["DP"] * run["batch_per_DP"] * run["context_length"] == 2**24
    assert (run["TP"], run["PP"], run["DP"]) == (8, 16, 128)
    # "500 of 700 watts", and "nearly the same as on 8"
    one, sixteen = (published.sizes(f"Llama 3.1 8B by FSDP on {n}") for n in (8, 128))
    assert one["watts"] == sixteen["watts"] == 500 < figure("H100 power") == 700
    few, many = (published.sizes(f"MPT 13B by FSDP on {n}") for n in (8, 64))
    for less, more in ((one, sixteen), (few, many)):
        assert more["tokens_per_second"] > 0.97 * less["tokens_per_second"]
    # "higher on fewer GPUs", as the count says
    fewer = published.sizes("Llama 3 405B on 8,192")
    assert fewer["MFU_percent"] > run["MFU_percent"]


def test_training_apart_is_told_with_both_that_it_stands_between():
    run = published.sizes("DiLoCo")
    eight, apart, longer = (
        run[f"perplexity{name}"]
        for name in ("_averaged_each_step", "", "_of_8_times_the_steps")
    )
    assert longer < apart < eight
    chapter = notebooks.read(ROOT / "chapters/15_many_machines.ipynb")
    (told,) = (one.source for one in chapter.cells if one.id == "thirty-view-read")
    assert all(f"{one:.2f}" in told for one in (eight, apart, longer))
    assert "a second optimizer, with momentum" in told


def test_the_estimates_take_theirs_from_the_table():
    assert h100(8).memory == published.figure("H100 memory")
    for name, work in MODELS.items():
        key = "Llama 3.2 1B" if name == "1.5B" else f"Llama 3 {name}"
        sizes = published.sizes(key)
        found = (work.layers, work.d_model, work.heads, work.kv_heads)
        told = ("layers", "d_model", "heads", "kv_heads")
        assert found == tuple(sizes[one] for one in told)
        assert work.vocab_size == published.figure("Llama 3 vocabulary")
