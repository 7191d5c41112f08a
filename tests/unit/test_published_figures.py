"""Figures of others: where each was read, and that those of one thing agree."""

import datetime
import re

import pytest

from helpers import published
from helpers.parallel.workload import MODELS, h100
from tests import ROOT

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


def test_the_estimates_take_theirs_from_the_table():
    assert h100(8).memory == published.figure("H100 memory")
    for name, work in MODELS.items():
        key = "Llama 3.2 1B" if name == "1.5B" else f"Llama 3 {name}"
        sizes = published.sizes(key)
        found = (work.layers, work.d_model, work.heads, work.kv_heads)
        told = ("layers", "d_model", "heads", "kv_heads")
        assert found == tuple(sizes[one] for one in told)
        assert work.vocab_size == published.figure("Llama 3 vocabulary")
