"""What chapter 10 says of Shakespeare, beside counting and published losses."""

from experiments import shakespeare
from helpers.recorded import results


def test_counting_five_characters_beats_the_blocks_on_shakespeare():
    row = results.read("shakespeare")
    losses = row["ngrams"]
    assert min(losses, key=losses.__getitem__) == "5"
    assert losses["5"] < row["loss"] < losses["4"] < 1.88
    assert list(losses) == [str(order) for order in shakespeare.ORDERS]
    held_out = [look["held_out"] for look in row["curve"].values()]
    assert held_out == sorted(held_out, reverse=True)
    assert held_out[-1] == row["loss"]
    training = [look["training"] for look in row["curve"].values()]
    assert training == sorted(training, reverse=True)
    assert max(training[-2] - training[-1], held_out[-2] - held_out[-1]) < 0.005
    gaps = [one - other for one, other in zip(held_out, training, strict=True)]
    assert gaps == sorted(gaps)
    rising = [losses[str(order)] for order in (5, 6, 7, 8)]
    assert rising == sorted(rising)
    # nanoGPT's baby GPT: its loss, and the parameters of its blocks.
    assert min(losses.values()) > 1.4697
    assert round(12 * 6 * 384**2 / row["parameters"]) == 91
