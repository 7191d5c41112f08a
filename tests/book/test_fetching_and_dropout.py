"""What chapters 3 and 5 say of training holds for other rates, seeds and losses."""

import math
import re

import pytest
import torch

from tests.book.test_notebooks import CHAPTERS
from tools import notebooks


def sources(name):
    return {cell.id: cell.source for cell in notebooks.read(CHAPTERS / name).cells}


def run(source, namespace):
    exec(source, namespace)  # noqa: S102


def printed_counts(name, cell_id):
    """Each printed line's label, and its pairs of heads and words, in order."""
    cells = {cell.id: cell for cell in notebooks.read(CHAPTERS / name).cells}
    text = "".join(output.get("text", "") for output in cells[cell_id].outputs)
    found = {}
    for line in text.splitlines():
        pairs = re.findall(r"(\d) of 5 heads, +(\d+) words", line)
        label = re.split(r"  (?:un)?scaled: ", line)[0].strip()
        found[label] = [tuple(map(int, pair)) for pair in pairs]
    return found


def learner(seed=0, optimizer="Adam"):
    """What the page beside chapter 3 trains with, for other seeds and optimisers."""
    cells, namespace = sources("how_sharp_at_first.ipynb"), {}
    run(cells["setup"], namespace)
    train = cells["train"].replace("manual_seed(0)", f"manual_seed({seed})")
    run(train.replace("torch.optim.Adam", f"torch.optim.{optimizer}"), namespace)
    run(cells["losses"].partition("losses = {")[0], namespace)
    namespace["softmax"] = lambda scores: torch.softmax(scores, dim=-1)
    return namespace


@pytest.fixture(autouse=True)
def threads_and_dtype():
    before = torch.get_num_threads(), torch.get_default_dtype()
    yield
    torch.set_num_threads(before[0])
    torch.set_default_dtype(before[1])


@pytest.fixture
def five_heads():
    """Chapter 3's train, which sets torch's default dtype."""
    cells, namespace = sources("03_scaling.ipynb"), {}
    for cell_id in ("setup", "head", "train"):
        run(cells[cell_id], namespace)
    return namespace["train"]


def words_found(found):
    """How many of 15 words each head finds."""
    return (found > 0.5).sum(dim=-1)


@pytest.fixture
def lines():
    """What chapter 5 trains with, by name."""
    cells, names = sources("05_dropout.ipynb"), {}
    for cell_id in ("setup", "sentences", "train"):
        run(cells[cell_id], names)
    return names


# --- chapter 3 and the page on how sharp attention begins --------------------------


def test_heads_that_learn_are_those_of_the_text():
    cells = {c.id: c for c in notebooks.read(CHAPTERS / "03_scaling.ipynb").cells}

    def numbers(cell_id):
        """The whole numbers of each printed line."""
        text = "".join(o.get("text", "") for o in cells[cell_id].outputs)
        whole = r"(?<![\d.])\d+(?![\d.])"
        return [tuple(map(int, re.findall(whole, line))) for line in text.splitlines()]

    alt = "".join(o.data["text/plain"] for o in cells["both-heads-picture"].outputs)
    scaled, unscaled = (
        tuple(map(float, one.split(", ")))
        for one in re.findall(r"300 steps: \[([\d., ]+)\]", alt)
    )
    longer = float(re.search(r"at the rate 0.03: ([\d.]+)\.", alt)[1])
    assert len(scaled) == len(unscaled) == 10
    assert scaled[5:] == (16,) * 5
    assert max(unscaled) == unscaled[4] == 8  # at 0.03, which then has more steps
    assert round(longer) == 13
    rows = [row[-4:] for row in numbers("who-is-lost")[2:]]
    tiny, others = rows[0][1::2]
    assert [row[1::2] for row in rows] == [(tiny, others)] * 3
    (short, *_), (more, *_), (divided, *_) = rows
    assert short < tiny / 2 < more < tiny == divided
    assert all(row[2] == others for row in rows)
    starts = [pair[-2:] for pair in numbers("starts")]
    assert len(starts) == 2
    assert all(small == 16 and large < 8 for small, large in starts)
    (_, *usual_64), (_, *usual_256) = numbers("usual-start")
    assert usual_64[1:] == [16, 16]
    assert max(usual_256) < 11
    text = "".join(o.text for o in cells["other-widths"].outputs)
    widths = [
        tuple(map(float, re.findall(r"scaled: +([\d.]+)", line)))
        for line in text.splitlines()
    ]
    few, many, high, wide = widths  # 300 steps; 3,000; a rate of 1; D = 256
    assert few[0] == few[1] < 16
    assert many == (16, 16)
    assert high[0] > high[1] + 2
    assert wide[0] == 16
    assert round(wide[1]) == 1
    *smaller, last = [pair[-2:] for pair in numbers("losses")]
    assert smaller == [(16, 16)] * 3
    assert last == (16, 0)
    losses = printed_counts("how_sharp_at_first.ipynb", "losses")
    del losses["heads that find all 15 words, and words found on average"]
    assert len(losses) == 6
    for label, (divided, undivided) in losses.items():
        assert divided == (5, 15)
        assert undivided[0] == (5 if label.startswith("-ln w") else 0)
    new = printed_counts("how_sharp_at_first.ipynb", "new-layers-fetching")
    del new["heads that find all 15 words, and words found on average"]
    assert len(new) == 4
    for label, (divided, undivided) in new.items():
        assert divided == (5, 15)
        assert undivided[0] == (5 if label.startswith("D =  64") else 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_other_words_and_a_rate_between_say_the_same(five_heads, rate, seed):
    assert (five_heads(8, rate, seed=seed) > 0.5).all()
    assert (five_heads(1, rate, seed=seed) > 0.5).sum(dim=-1).max() < 10
    small = five_heads(1, 0.05, seed=seed, start=8**-0.5)
    assert (small > 0.5).all()
    large = five_heads(8, rate, seed=seed, start=8**0.5)
    assert words_found(large).max() < 13


def test_words_that_are_slow_began_with_a_tiny_weight(five_heads):
    tiny = five_heads(1, 0.03, seed=1, steps=1) < 1e-4
    found = five_heads(1, 0.03, seed=1) > 0.5
    assert found[~tiny].double().mean() > 0.9
    assert found[tiny].double().mean() < 0.4
    assert (five_heads(8, 0.1, seed=1) > 0.5).all()


@pytest.mark.slow
def test_at_a_high_rate_the_steps_make_unscaled_scores_larger():
    cells, namespace = sources("03_scaling.ipynb"), {}
    ending = "    return right.detach()"
    spread = "    return (words @ W_query @ W_key.mT @ words.mT).std().item() / divisor"
    assert cells["train"].count(ending) == 1
    for source in (cells["setup"], cells["head"]):
        run(source, namespace)
    run(cells["train"].replace(ending, spread), namespace)
    for seed in (0, 1, 2):
        start, low, high = (
            namespace["train"](1, rate, seed=seed) for rate in (1e-9, 0.03, 0.3)
        )
        assert 0.9 * start < low < start  # hardly smaller
        assert 1.8 * start < high < 2.5 * start


@pytest.mark.slow
def test_at_width_16_both_kinds_find_their_partners_with_more_steps(five_heads):
    for divisor in (1, 4):
        for seed in (1, 2):
            found = five_heads(divisor, 0.3, D=16, steps=3000, seed=seed)
            assert words_found(found).double().mean() > 15.5


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.003, 0.01, 0.03, 0.3])
def test_more_steps_leave_undivided_heads_behind(five_heads, rate):
    for seed in (1, 2):
        found = five_heads(1, rate, steps=3000, seed=seed)
        assert words_found(found).double().mean() < 14


def require_what_the_text_says(names, rate, steps=300):
    train, losses = names["train"], ("squared_distance", "minus_ln_p")
    for loss in (names[one] for one in losses):
        assert words_found(train(loss, rate, 8, steps=steps)).min() == 15
        assert words_found(train(loss, rate, 1, steps=steps)).max() < 15
    for divisor in (1, 8):
        logarithm = train(names["minus_ln_w"], rate, divisor, steps=steps)
        assert words_found(logarithm).min() == 15
    loss, root = names["squared_distance"], math.sqrt(8)
    small = train(loss, rate, 1, start=1 / root, steps=steps)
    assert words_found(small).min() == 15
    assert words_found(train(loss, rate, 8, start=root, steps=steps)).max() < 15


@pytest.mark.slow
def test_other_words_and_matrices_at_another_rate_say_the_same():
    require_what_the_text_says(learner(seed=1), rate=0.002)


@pytest.mark.parametrize("seed", [1, 2])
def test_words_that_stay_lost_began_with_a_tiny_weight(seed):
    names = learner(seed)
    loss = names["squared_distance"]
    start = names["train"](loss, 0.001, 1, steps=1)
    found = names["train"](loss, 0.001, 1) > 0.5
    assert found[start > 1e-4].double().mean() > 0.9
    assert found[start <= 1e-4].double().mean() < 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "steps"), [(0.0003, 900), (0.001, 900), (0.003, 900)])
def test_neither_other_rates_nor_more_steps_open_it(rate, steps):
    require_what_the_text_says(learner(seed=2), rate, steps)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("D", "optimizer", "rates"),
    [
        (D, optimizer, rates)
        for D in (16, 64, 256)
        for optimizer, rates in (
            ("Adam", (0.0001, 0.0003, 0.001, 0.003, 0.01)),
            ("SGD", (0.3, 1, 3, 10)),
        )
    ],
)
def test_no_width_needs_another_sentence(D, optimizer, rates):
    """All divided heads learn at some rates; of undivided ones, some at width 16."""
    names = learner(optimizer=optimizer)
    loss, train = names["squared_distance"], names["train"]
    steps = 600 if D < 256 else 300
    for divisor in (math.sqrt(D), 1):
        found = [words_found(train(loss, r, divisor, D=D, steps=steps)) for r in rates]
        if divisor > 1:
            assert sum(one.min() == 15 for one in found) >= 1
        else:
            assert all(one.min() < 15 for one in found)
            assert any(one.max() == 15 for one in found) == (D == 16)


@pytest.mark.slow
def test_the_square_root_is_the_quickest_divisor():
    names = learner(seed=1)
    loss, train = names["squared_distance"], names["train"]
    found = [train(loss, 0.001, c, steps=40) for c in (8, 512**0.5, 64)]
    words = [words_found(one).sum() for one in found]
    assert words[0] > words[1] > words[2]
    for c in (512**0.5, 64):
        assert words_found(train(loss, 0.001, c)).min() == 15
    assert words_found(train(loss, 0.001, 2**0.5)).max() < 15


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_larger_rate_makes_up_for_a_large_divisor_and_none_for_a_small_one(seed):
    names = learner(seed)
    loss, train = names["squared_distance"], names["train"]
    rates = (0.000125, 0.001, 0.008)
    words = {
        c: [words_found(train(loss, rate, c, steps=1000)) for rate in rates]
        for c in (1, 8, 64)
    }
    assert all(one.min() == 15 for one in words[8])
    assert words[64][-1].min() == 15
    assert max(one.double().mean() for one in words[1]) < 14
    assert words[1][-1].double().mean() < 6


# --- chapter 5 ---------------------------------------------------------------------


def losses_at_the_end(lines, p, line, seeds, **options):
    """The loss of each run on new sentences."""
    runs = [lines["train"](p, seed, lines[line], **options) for seed in seeds]
    return torch.tensor([losses[-1][1] for _, losses in runs])


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.1, 0.3, 0.5])
def test_other_runs_say_the_same_of_both_lines(lines, p):
    seeds = range(100, 110)
    without, dropped = (losses_at_the_end(lines, q, "BAD", seeds) for q in (0.0, p))
    assert dropped.mean() < 0.85 * without.mean()
    assert (dropped < without).sum() >= 8
    without, dropped = (losses_at_the_end(lines, q, "CLEAR", seeds) for q in (0.0, p))
    assert dropped.mean() > 1.2 * without.mean()
    assert (dropped > without).sum() >= 8


@pytest.mark.slow
def test_stopping_early_does_not_replace_dropout_on_the_bad_line(lines):
    without, dropped = (
        torch.tensor(
            [lines["train"](p, seed, lines["BAD"])[1] for seed in range(100, 110)]
        )[..., 1].amin(dim=1)
        for p in (0.0, 0.3)
    )
    assert (dropped < without).sum() >= 8
    assert dropped.median() < without.median()


def at_best_rate(lines, p, line, rates, seeds):
    """The mean loss on new sentences, and the rate, which other sentences choose."""
    others = lines["sentences"](100, 2000, lines[line], held_out=True)
    new = lines["sentences"](100, 1000, lines[line], held_out=True)
    found = []
    for rate in rates:
        layers = [lines["train"](p, seed, lines[line], lr=rate)[0] for seed in seeds]
        with torch.no_grad():
            chosen_by, reported = (
                torch.stack([lines["loss_of"](layer, *each) for layer in layers]).mean()
                for each in (others, new)
            )
        found.append((chosen_by.nan_to_num(math.inf).item(), rate, reported.item()))
    return min(found)[1:]


@pytest.mark.slow
def test_no_side_loses_only_by_its_learning_rate(lines):
    rates, seeds = (0.25, 0.5, 1.0, 2.0, 4.0), range(200, 205)
    for line in ("BAD", "CLEAR"):
        (rate, without), (rate_of_dropped, dropped) = (
            at_best_rate(lines, p, line, rates, seeds) for p in (0.0, 0.3)
        )
        assert max(rate, rate_of_dropped) < rates[-1]
        assert dropped < without if line == "BAD" else dropped > without


@pytest.mark.slow
def test_more_training_widens_the_gap_on_the_bad_line_only(lines):
    for line in ("BAD", "CLEAR"):
        runs = [lines["train"](0.0, seed, lines[line], steps=1800) for seed in range(5)]
        new = torch.tensor([losses for _, losses in runs])[..., 1].mean(dim=0)
        assert new[-1] > new[11] if line == "BAD" else new[-1] < new[11]


@pytest.mark.slow
def test_resizing_is_a_small_part_of_what_dropout_does(lines):
    cells, seeds = sources("05_dropout.ipynb"), range(100, 110)
    run(cells["look-inside"].partition("\n\n\nrows = {")[0], lines)
    looks = {}
    for line in ("BAD", "CLEAR"):
        for p in (0.0, 0.3):
            layers = [lines["train"](p, seed, lines[line])[0] for seed in seeds]
            looks[line, p] = lines["look"](layers, lines[line])
    largest, part, resized = range(3)
    assert looks["BAD", 0.3][largest] < looks["BAD", 0.0][largest] - 0.05
    assert looks["BAD", 0.3][resized] < looks["BAD", 0.0][resized]
    assert abs(looks["CLEAR", 0.3][largest] - looks["CLEAR", 0.0][largest]) < 0.1
    assert looks["CLEAR", 0.3][part] < looks["CLEAR", 0.0][part] - 0.1
    assert looks["CLEAR", 0.3][resized] > 2 * looks["CLEAR", 0.0][resized]
