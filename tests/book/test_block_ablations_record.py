"""What chapters 8 and 9 and the page on the KV cache say of a block's parts."""

import itertools

from experiments import block_ablations, sweeps
from helpers.recorded import results
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import at_best_rate
from helpers.text.little_world import whole_world
from helpers.text.probes import AGREEMENT, KINDS
from helpers.text.tokenizer import CharTokenizer
from tests.book.test_notebooks import CHAPTERS
from tools import notebooks

RECORD = results.record("block_ablations")
ADDED = list(block_ablations.ADDED)
BARE, PATH, NORMS, BLOCK, WHOLE = ADDED
FLOOR = whole_world().floor


def of_seeds(rung, steps=block_ablations.STEPS):
    """A run of each seed at the rung's own rate."""
    runs = at_best_rate(RECORD["runs"], rung=rung, steps=steps)
    assert [run["seed"] for run in runs] == list(sweeps.SEEDS)
    return runs


def above(worse, better):
    """The mean and the interval of the differences in loss, seed by seed."""
    pairs = zip(of_seeds(worse), of_seeds(better), strict=True)
    return mean_and_interval([one["test"] - other["test"] for one, other in pairs])


def shares(rung, kind):
    """How much of a kind of questions each seed has right."""
    asked = RECORD["asked"][kind]
    return [run["right"][kind] / asked for run in of_seeds(rung)]


def as_long(rung):
    """The losses of each seed after the time of two blocks."""
    return [
        run["test"] for run in of_seeds(rung, block_ablations.equal_steps(RECORD, rung))
    ]


def test_the_record_lacks_nothing():
    assert block_ablations.wanted(RECORD) == []
    assert min(RECORD["asked"].values()) >= 300


def test_no_loss_is_below_the_floor_of_its_stories():
    assert min(run["test"] for run in RECORD["runs"] if "test" in run) > FLOOR


def test_chapter_8_shows_what_one_layer_and_two_blocks_reached():
    page = notebooks.read(CHAPTERS / "08_how_good_is_it.ipynb")
    (cell,) = (cell for cell in page.cells if cell.id == "one-layer-longer")
    shown = cell.outputs[0].data["text/plain"]
    tokenizer = CharTokenizer(whole_world().alphabet)
    for name, rung, steps in (
        ("one attention layer", BARE, 2400),
        ("one attention layer", BARE, 7400),
        ("two blocks", WHOLE, 2400),
    ):
        settings = {"steps": steps, "rate": 0.001, "seed": 0}
        model, _ = block_ablations.build(rung, tokenizer, settings)
        count = sum(one.numel() for one in model.parameters())
        losses = ", ".join(f"{run['test']:.3f}" for run in of_seeds(rung, steps))
        line = f"{name}, {count:,} parameters, {steps:,} steps: {losses}"
        assert line in shown


def test_a_foreign_rate_makes_the_path_look_ten_times_as_good():
    losses = {
        (run["rung"], run["rate"]): run["test"]
        for run in RECORD["runs"]
        if run["seed"] == 0 and run["steps"] == block_ablations.STEPS and "test" in run
    }
    gains = [losses[BARE, rate] - losses[PATH, rate] for rate in (0.004, 0.016)]
    assert gains[0] > 0.25
    assert gains[1] < 0.04
    ours, theirs = (
        min(loss for (name, _), loss in losses.items() if name == rung)
        for rung in (BARE, PATH)
    )
    assert 0.025 < ours - theirs < 0.035
    rates = block_ablations.SWEEP
    assert sum(losses[PATH, rate] < 0.52 for rate in rates) == 3
    assert all(losses[NORMS, rate] < 0.52 for rate in rates)


def test_the_path_the_mlp_and_the_second_block_gain_from_every_seed():
    for worse, better in ((BARE, PATH), (NORMS, BLOCK), (BLOCK, WHOLE)):
        pairs = zip(of_seeds(worse), of_seeds(better), strict=True)
        assert all(one["test"] > other["test"] for one, other in pairs)
        assert above(worse, better).low > 0


def test_norms_of_one_layer_gain_nothing_that_five_seeds_could_show():
    gain = above(PATH, NORMS)
    assert gain.low < 0 < gain.high


def test_verbs_and_colours_come_with_the_mlp():
    for kind in (*AGREEMENT, "colour"):
        assert min(shares(BLOCK, kind)) > 0.93
        for rung in (BARE, PATH, NORMS):
            assert min(shares(rung, kind)) < 0.65


def test_pronouns_and_names_are_a_matter_of_the_seed_in_one_layer():
    for rung, kind in itertools.product(ADDED[:4], ("pronoun", "name")):
        found = shares(rung, kind)
        assert max(found) - min(found) > 0.2
    for rung, kind in itertools.product((PATH, NORMS), ("colour", "thing")):
        found = shares(rung, kind)
        assert max(found) - min(found) > 0.4


def test_two_blocks_answer_everything_from_four_seeds_of_five():
    lowest = [
        min(share)
        for share in zip(*(shares(WHOLE, kind) for kind in KINDS), strict=True)
    ]
    assert sorted(share > 0.995 for share in lowest) == [False] + 4 * [True]
    assert min(lowest) > 0.9
    for rung in (BARE, PATH, NORMS, BLOCK, "one wide block"):
        rows = zip(*(shares(rung, kind) for kind in KINDS), strict=True)
        assert max(map(min, rows)) < 0.995


def test_the_second_layer_is_worth_more_than_as_many_parameters():
    assert above("one wide block", WHOLE).low > 0
    pairs = zip(of_seeds("one wide block"), of_seeds(WHOLE), strict=True)
    assert all(wide["test"] > two["test"] for wide, two in pairs)


def test_two_blocks_miss_the_path_most_and_norms_least():
    cost = {rung: above(rung, WHOLE) for rung in block_ablations.LEFT_OUT}
    path, norms, mlps = cost.values()
    assert path.low > mlps.high > mlps.low > 0
    assert norms.mean < mlps.mean


def test_two_attention_layers_know_the_verbs_and_colours():
    for kind in (*AGREEMENT, "colour"):
        assert min(shares("without MLPs", kind)) > 0.99


def test_without_norms_two_blocks_need_the_right_rate():
    losses = {
        (run["rung"], run["rate"]): run["test"]
        for run in RECORD["runs"]
        if run["seed"] == 0 and run["steps"] == block_ablations.STEPS and "test" in run
    }
    without = [losses["without normalisation", 0.001 * 2**i] for i in range(6)]
    assert sorted(without)[1] > 0.32
    assert min(without) == without[4] < 0.303
    assert all(losses[WHOLE, 0.001 * 2**i] < 0.303 for i in range(1, 5))


def test_blocks_stay_ahead_when_all_train_as_long():
    losses = {rung: as_long(rung) for rung in ADDED}
    assert max(losses[BLOCK]) < min(losses[BARE] + losses[PATH] + losses[NORMS])
    assert max(losses[WHOLE]) < min(losses[BLOCK])
    pairs = zip(of_seeds(BARE), losses[BARE], strict=True)
    gains = [shorter["test"] - longer for shorter, longer in pairs]
    assert 0.01 < mean_and_interval(gains).low < 0.02 < mean_and_interval(gains).high


def test_when_all_train_as_long_two_blocks_are_still_missed_and_mlps_least():
    whole = [run["test"] for run in of_seeds(WHOLE)]
    lost = {}
    for rung in (*block_ablations.LEFT_OUT, "one wide block"):
        pairs = zip(as_long(rung), whole, strict=True)
        lost[rung] = [one - other for one, other in pairs]
    path, norms, mlps, wide = map(mean_and_interval, lost.values())
    assert path.low > max(norms.high, mlps.high)
    assert min(path.low, mlps.low, wide.low) > 0
    assert max(lost["without MLPs"]) < 0.003
