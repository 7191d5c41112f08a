"""What the page "Latent attention" says of blocks of keys, and of sinks."""

import itertools
import statistics

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


SHOWN = [*(("recall", side) for side in experiment.SIDES), ("sinks", "no gate")]


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
    sizes = [f"blocks of {size}" for size in (1, 2, 4, 8)]
    for finer, coarser in itertools.pairwise(sizes):
        assert min(right(finer)) > max(right(coarser))


def test_blocks_by_their_means_beat_random_ones_and_the_nearest_with_every_seed():
    controls = [*right("random blocks of 8"), *right("nearest blocks of 8")]
    assert min(right("blocks of 8")) > max(controls) + 0.3
    # Of eight blocks of items two or three are read; what isn't found is guessed.
    assert all(0.25 < one < 0.4 for one in right("random blocks of 8"))


def test_trained_with_blocks_is_a_little_better_than_asked_in_blocks():
    after = [run["sparsely"]["blocks of 8"] for run in best("recall", "all")]
    gains = [new - old for new, old in zip(right("blocks of 8"), after, strict=True)]
    assert min(gains) > 0
    assert 0 < mean_and_interval(gains).low < 0.06


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
    assert (D + R) + D < (L + R) + L


def test_the_small_model_has_no_sink():
    runs = best("sinks", "no gate")
    heads = [weight for run in runs for layer in run["first"] for weight in layer]
    assert round(100 * max(heads), 1) == 7.4  # chapter 18's sinks have over 50
    assert statistics.fmean(heads) < 0.025
