"""What pages conclude from published figures, anew; the figures stand in one place."""

import re

import pytest

from helpers.parallel import workload
from helpers.published import entries, figure, sizes, table
from helpers.text import corpus
from tests import ROOT
from tests.book.test_notebooks import NOTEBOOKS
from tools import notebooks

ATTENTION, CACHE = (
    notebooks.read(ROOT / "chapters" / f"{name}.ipynb")
    for name in ("14_attention_in_pieces", "paged_kv_cache")
)
LLAMA = workload.MODELS["8B"]
PARAMETERS = 2 * LLAMA.numbers  # bytes
FETCHED = PARAMETERS - LLAMA.table_numbers  # of the input's table, hardly a row
FETCHING = FETCHED / figure("H100 bandwidth")  # seconds


def prose(notebook, cell):
    """A cell's words in one line."""
    (found,) = (one.source for one in notebook.cells if one.id == cell)
    return " ".join(found.split())


def token_bytes(key):
    model = sizes(key)
    D = model["d_model"] // model["heads"]
    return 2 * 2 * model["layers"] * model["kv_heads"] * model.get("head_dim", D)


def picoseconds(D):
    """For one score: its products, its exponential, and moving it."""
    units = figure("H100 special functions") * figure("H100 multiprocessors")
    moving = 4 * 2 / figure("H100 bandwidth")
    seconds = (4 * D / figure("H100 FLOPs"), 1 / units / figure("H100 clock"), moving)
    return [1e12 * one for one in seconds]


def test_moving_is_compared_with_the_exponential_and_the_products():
    question, read = prose(ATTENTION, "gpu-question"), prose(ATTENTION, "gpu-read")
    narrow, wide = picoseconds(64), picoseconds(128)
    assert (
        f"at best {figure('H100 FLOPs') / 1e12:.0f} trillion operations of matrix "
        f"products, but only {1 / narrow[1]:.1f} trillion exponentials (each "
        f"multiprocessor {figure('H100 special functions'):.0f} in a clock cycle), and "
        f"it moves {figure('H100 bandwidth') / 1e12} trillion bytes"
    ) in question
    assert narrow[1] == pytest.approx(narrow[0], rel=0.01)
    assert "one exponential takes as long as the 256 operations" in read
    in_turn, at_once = (
        [f"{moving / how(computing):.1f}" for *computing, moving in (narrow, wide)]
        for how in (sum, max)
    )
    assert (
        f"{in_turn[0]} times as long as computing where exponentials and products take "
        f"turns, and {at_once[0]} times where they go on at once; at width 128, it is "
        f"{in_turn[1]} and {at_once[1]} times"
    ) in read


def test_a_table_is_moved_because_nothing_stays_on_the_chip_and_not_for_its_size():
    table = 2 * 4096**2
    question, read = prose(ATTENTION, "gpu-question"), prose(ATTENTION, "gpu-read")
    shared, registers = figure("H100 shared memory"), figure("H100 registers")
    multiprocessors = figure("H100 multiprocessors")
    assert table < multiprocessors * (shared + registers)  # all of them could hold it
    assert "Nothing stays there from one operation to the next. So each" in question
    assert (
        f"has {multiprocessors:.0f} multiprocessors on the chip, and each computes "
        f"with what lies in its own {shared / 1024:.0f} KB of shared memory and "
        f"{registers / 1024:.0f} KB of registers"
    ) in question
    assert f"{table / 1e6:.0f} MB for a table of 4,096 tokens" in question
    # The L2 holds one of these, but isn't fast enough to help.
    assert table < figure("H100 L2 cache") < 2 * table
    moving = 1e12 * 8 / figure("H100 L2 bandwidth")
    assert moving > max(*picoseconds(64)[:2], *picoseconds(128)[:2])
    assert f"the L2, a cache of {figure('H100 L2 cache') / 1e6:.0f} MB" in read
    assert f"moving a score takes {moving:.2f} ps even there" in read


def test_what_others_measured_stands_beside_the_counts():
    read, measured = prose(ATTENTION, "gpu-read"), sizes("FlashAttention on an A100")
    assert (
        f"moved {measured['GB']} GB instead of {measured['standard_GB']}, forward and "
        f"backward, and took {measured['ms']} ms instead of {measured['standard_ms']}"
    ) in read
    reached = figure("FlashAttention-3 FLOPs") / figure("H100 FLOPs")
    assert f"The second reaches {figure('FlashAttention-2 utilization'):.0%}" in read
    assert f"up to {reached:.0%}" in read
    sinks = sizes("attention sinks")
    assert f"of {sinks['window']:,.0f}; when" in prose(ATTENTION, "window-answer")
    assert f"it was {sinks['four_kept']} (" in prose(ATTENTION, "window-answer")


def test_one_token_a_pass_is_the_condition_of_the_bound():
    answer, measured = (
        prose(CACHE, "phases-answer"),
        sizes("speculative decoding on an H100"),
    )
    assert measured["without"] < 1 / FETCHING < measured["EAGLE_2"]
    assert (
        "As long as each pass writes one token, a person who uses the machine alone "
        f"gets {1 / FETCHING:.0f} tokens a second at best"
    ) in answer
    assert (
        f"SGLang, a program that serves models, got {measured['without']:.0f}."
        in answer
    )
    assert f"SGLang wrote {measured['EAGLE_3']:.0f} tokens a second" in answer
    assert (
        f"One token a pass, Llama 3.1 8B writes at most {1 / FETCHING:.0f} a second; "
        "speculative decoding writes more"
    ) in prose(CACHE, "what-to-remember")


def test_reading_and_writing_take_these_times():
    reading = 1000 * FETCHED / figure("H100 FLOPs")  # two operations for two bytes
    writing = 100 * FETCHING
    assert round(writing / reading) == 30
    assert (
        f"1,000 words are read together in {1e3 * reading:.0f} ms, and 100 words are "
        f"written one by one in {1e3 * writing:.0f} ms. A tenth of the words takes "
        "thirty times as long."
    ) in prose(CACHE, "phases-answer")
    question = prose(CACHE, "phases-question")
    assert (
        f"up to {figure('H100 FLOPs') / 1e12:.0f} trillion operations a second with "
        "16-bit numbers, and moves up to "
        f"{figure('H100 bandwidth') / 1e12} trillion bytes a second"
    ) in question
    assert f"parameters, {PARAMETERS / 1e9:.0f} GB in all" in question
    assert f"is enough. That leaves {FETCHED / 1e9:.0f} GB.)" in question
    equal = figure("H100 FLOPs") / figure("H100 bandwidth")
    assert f"About 300, or {equal:.0f} if" in prose(CACHE, "phases-answer")


def test_room_is_left_for_more_than_caches_and_texts_that_grow_need_more():
    cache = 8192 * token_bytes("Llama 3 8B")
    left = 0.9 * figure("H100 memory") - PARAMETERS
    room, longest = int(left / cache), 16 * cache
    read = prose(CACHE, "people-read")
    assert f"leaves {left / 1e9:.0f} for caches: room for {room} people" in read
    found = figure("vLLM cache")
    assert room - 5 < found // 8192 <= room
    assert f"{found:,.0f} tokens, {found // 8192:.0f} people's" in read
    step = {count: FETCHED + count * cache for count in (1, 16, 32)}
    speed = {n: figure("H100 bandwidth") / moved for n, moved in step.items()}
    assert f"{32 * speed[32] / (16 * speed[16]):.2f} times as many" in read
    assert f"gets {speed[1]:.0f} tokens a second instead of {1 / FETCHING:.0f}" in read
    assert f"With 32 people each gets {speed[32]:.0f}" in read
    assert 2 < 32 * cache / FETCHED < 2.5
    assert (
        f"at one token a step all together never get more than "
        f"{figure('H100 bandwidth') / cache:,.0f}"
    ) in read
    answer = prose(CACHE, "pages-answer")
    assert f"so there is room for {int(left // cache)} again" in answer
    assert (
        "But they write on, and at 16,384 tokens each there is room for only "
        f"{int(left / (2 * cache))}."
    ) in answer
    assert longest > PARAMETERS
    assert (
        f"({room} in the example, but {int(left / longest)} if room is reserved"
    ) in prose(CACHE, "what-to-remember")


def test_a_page_wastes_half_of_itself_only_where_lengths_spread_over_several():
    lengths = [1 + len(story) for story in corpus.load("little-world").held_out]
    wasted = {
        size: sum(-length % size for length in lengths) / len(lengths)
        for size in (16, 64)
    }
    assert wasted[16] == pytest.approx(7.5, abs=0.5)
    assert wasted[64] > 0.6 * 64
    assert f"and {wasted[64]:.0f} positions are wasted" in prose(CACHE, "pages-answer")


def test_the_prediction_names_the_sizes_of_llama_2():
    small, large = sizes("Llama 2 7B"), sizes("Llama 2 70B")
    assert small["heads"] == small["kv_heads"]
    assert (
        f"({small['layers']} layers, {small['heads']} heads, each with its own keys "
        f"and values) and with 70 billion ({large['layers']} layers, {large['heads']} "
        f"query heads that share {large['kv_heads']} heads"
    ) in prose(CACHE, "table-question")
    each = [f"{token_bytes(f'Llama 2 {name}') / 1e3:.0f} kB" for name in ("7B", "70B")]
    assert f"{each[0]} against {each[1]}" in prose(CACHE, "table-answer")
    vector = sizes("DeepSeek-V3 671B")
    apart = 2 * vector["heads"] * vector["head_dim"]
    assert (
        f"{vector['latent']} numbers, from which the keys and values of all "
        f"{vector['heads']} heads can be made, and {vector['rotary']} numbers for the "
        f"position: {vector['latent'] + vector['rotary']} instead of {apart:,}"
    ) in prose(CACHE, "table-answer")


def test_the_page_of_sources_shows_them_all():
    page = (ROOT / "chapters/sources.md").read_text(encoding="utf-8")
    assert "\n".join(table()) in page, "python -m helpers.published prints it"


def test_no_chapter_types_a_figure_of_the_table():
    large = [
        f"{figure(entry['key']):g}".replace("+", "")
        for entry in entries()
        if not isinstance(entry["value"], dict)
    ]
    typed = {re.sub(r"\.?0*e", "e", one) for one in large if "e" in one}
    # 3.35e12 and 989e12, however they are written
    typed |= {
        f"{float(one) / 10**power:g}e{power}" for one in typed for power in (9, 12)
    }
    assert {"3.35e12", "989e12", "50e9"} < typed
    number = re.compile(r"(?<![\w.])\d+(?:\.\d+)?e\d+")
    for path in NOTEBOOKS:
        for cell in notebooks.read(path).cells:
            if cell.cell_type == "code":
                found = set(number.findall(cell.source)) & typed
                assert found == set(), f"{path.stem}, cell {cell.id!r}"


def test_sentences_of_a_thousand_machines_follow_from_the_figures():
    run = sizes("Llama 3 405B on 16,384")
    # "on sixteen thousand GPUs at once, for months"
    assert figure("Llama 3.1 405B hours") / run["GPUs"] / 24 / 30 > 2
    # "a step has 2²⁴ tokens", and "16 such nodes hold about a sixteenth of the layers"
    assert run["DP"] * run["batch_per_DP"] * run["context_length"] == 2**24
    assert (run["TP"], run["PP"], run["DP"]) == (8, 16, 128)
    # "500 of 700 watts", and "nearly the same as on 8"
    one, sixteen = (sizes(f"Llama 3.1 8B by FSDP on {n}") for n in (8, 128))
    assert one["watts"] == sixteen["watts"] == 500 < figure("H100 power") == 700
    few, many = (sizes(f"MPT 13B by FSDP on {n}") for n in (8, 64))
    for less, more in ((one, sixteen), (few, many)):
        assert more["tokens_per_second"] > 0.97 * less["tokens_per_second"]
    # "higher on fewer GPUs", as the count says
    fewer = sizes("Llama 3 405B on 8,192")
    assert fewer["MFU_percent"] > run["MFU_percent"]


def test_training_apart_is_told_with_both_that_it_stands_between():
    run = sizes("DiLoCo")
    eight, apart, longer = (
        run[f"perplexity{name}"]
        for name in ("_averaged_each_step", "", "_of_8_times_the_steps")
    )
    assert longer < apart < eight
    chapter = notebooks.read(ROOT / "chapters/15_many_machines.ipynb")
    (told,) = (one.source for one in chapter.cells if one.id == "thirty-view-read")
    assert all(f"{one:.2f}" in told for one in (eight, apart, longer))
    assert "a second optimizer, with momentum" in told
