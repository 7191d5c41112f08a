"""What the page "Latent attention" says of blocks of keys, and of sinks."""

import itertools
import statistics

import pytest

from experiments import latent_attention as experiment
from experiments import sweeps
from helpers import published
from helpers.models.latent_attention import token_bytes
from helpers.recorded import results
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import at_best_rate

RUNS = results.record("latent_attention")["runs"]


def best(study, side):
    """The run of each seed at the best rate."""
    steps = experiment.STEPS[study]
    runs = at_best_rate(RUNS, study=study, side=side, steps=steps)
    assert [run["seed"] for run in runs] == list(sweeps.SEEDS)
    return runs


def right(side):
    return [run["right"] for run in best("recall", side)]


SHOWN = [
    *(("recall", side) for side in experiment.SIDES),
    *(("caches", side) for side in experiment.CACHES),
    *(("sinks", side) for side in experiment.GATES),
]


def test_the_record_lacks_nothing_and_every_best_rate_stands_inside_its_grid():
    assert experiment.wanted({"runs": RUNS}) == []
    for study, side in SHOWN:
        tried = {
            run["rate"] for run in RUNS if (run["study"], run["side"]) == (study, side)
        }
        assert min(tried) < best(study, side)[0]["rate"] < max(tried)


def test_single_positions_recall_all_and_larger_blocks_less():
    assert min(right("all")) == 1
    assert min(right("blocks of 1")) >= 0.9995
    sizes = [f"blocks of {size}" for size in (1, 4, 8)]
    for finer, coarser in itertools.pairwise(sizes):
        assert min(right(finer)) > max(right(coarser))


def test_blocks_by_their_means_beat_random_ones_with_every_seed():
    random = right("random blocks of 8")
    assert min(right("blocks of 8")) > max(random) + 0.3
    found = [statistics.fmean(right(side)) for side in ("all", "blocks of 8")]
    assert found[0] - found[1] < found[1] - statistics.fmean(random)
    # A question's own block, always among those read, holds no item.
    assert [experiment.ITEMS % size for size in experiment.BLOCK_SIZES] == [0, 0, 0]
    # Half of the questions stand in the ninth block and half in the tenth. Two others
    # of eight or of nine are read; where the item isn't among them, one digit of ten.
    held = (2 / 8 + 2 / 9) / 2
    assert statistics.fmean(random) == pytest.approx(held + (1 - held) / 10, abs=0.01)


def test_a_latent_recalls_more_than_one_shared_head_in_the_same_room():
    found = {
        side: [run["right"] for run in best("caches", side)]
        for side in experiment.CACHES
    }
    ahead = [a - b for a, b in zip(found["MLA"], found["MQA"], strict=True)]
    assert sum(one > 0 for one in ahead) == 4
    assert mean_and_interval(ahead).low > 0
    assert round(statistics.fmean(ahead), 2) == 0.15
    assert min(found["MHA"]) > 0.98
    numbers = {
        side: sum(one.numel() for one in experiment.attention_of(side).parameters())
        for side in experiment.CACHES
    }
    assert numbers["MHA"] > numbers["MLA"] > numbers["MQA"]
    kept = token_bytes(8, 4, num_kv_heads=1, **experiment.LATENT, bytes_each=1)
    assert (kept["MHA"], kept["MQA"], kept["MLA"]) == (64, 8, 8)


def test_sizes_and_bytes_of_the_page():
    sizes = published.sizes("DeepSeek-V3 671B")
    assert (sizes["layers"], sizes["heads"], sizes["head_dim"]) == (61, 128, 128)
    assert sizes["context_length"] == 131_072
    L, R, D = sizes["latent"], sizes["rotary"], sizes["head_dim"]
    kept = token_bytes(
        *(sizes["heads"], D),
        num_kv_heads=8,
        latent_dim=L,
        rotary_dim=R,
        num_layers=sizes["layers"],
    )
    whole = {kind: each * sizes["context_length"] for kind, each in kept.items()}
    card = published.figure("H100 memory")
    assert 6 * card < whole["MHA"] <= 7 * card
    assert whole["MQA"] < whole["MLA"] < whole["GQA"] / 3
    # A score and its share of the context, for one head, one query and one key.
    made, absorbed = (D + R) + D, (L + R) + L
    assert round(absorbed / made, 1) == 3.4
    assert absorbed < (made + 2 * D * L) / 100  # keys and values made anew
    each = sizes["heads"] * 2 * absorbed / (2 * (L + R))
    able = published.figure("H100 FLOPs") / published.figure("H100 bandwidth")
    assert (round(each), round(able)) == (242, 295)
    assert each < able
    indexer = published.sizes("DeepSeek-V3.2 indexer")
    assert (indexer["heads"], indexer["head_dim"], indexer["chosen"]) == (64, 128, 2048)
    share = indexer["heads"] * indexer["head_dim"] / (sizes["heads"] * absorbed)
    assert round(1 / share) == 17
    products = indexer["heads"] * indexer["head_dim"]
    assert round(sizes["heads"] * made / products) == 5
    assert round((L + R) / indexer["head_dim"], 1) == 4.5
    assert kept["GQA"] == 8 * kept["MQA"]  # of 8 GPUs, each has one head of keys


def test_the_small_model_has_no_sink_and_a_gate_changes_little():
    found = {}
    for side in experiment.GATES:
        runs = best("sinks", side)
        found[side] = [
            statistics.fmean(weight for layer in run["first"] for weight in layer)
            for run in runs
        ]
    heads = [
        weight
        for run in best("sinks", "no gate")
        for layer in run["first"]
        for weight in layer
    ]
    assert round(100 * max(heads), 1) == 7.4  # chapter 18's sinks have over 50
    means = {side: statistics.fmean(shares) for side, shares in found.items()}
    assert round(100 * means["no gate"], 1) == 1.9
    assert round(100 * means["gate"], 1) == 2.6
    pairs = zip(best("sinks", "gate"), best("sinks", "no gate"), strict=True)
    higher = mean_and_interval([one["test"] - other["test"] for one, other in pairs])
    assert higher.mean > 0 > higher.low
