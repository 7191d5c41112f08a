"""Temperature, top-k, top-p and draws in the page, as in helpers.models.generation."""

import itertools
import math

import pytest
import torch

from helpers.models.generation import next_probabilities
from helpers.views import sampler
from helpers.views.view import bundle

CHARACTERS = ["r", "l", "d", "w", "e"]
LOGITS = torch.tensor([0.50, 0.25, 0.15, 0.06, 0.04]).log()
CLOSE = 0.00051  # shown with three decimals


@pytest.fixture
def page(show_views):
    """A page that knows the functions of sampling.js."""
    shown = show_views(sampler(LOGITS, CHARACTERS))
    names = "nextProbabilities, drawFrom, randomFrom"
    script = f"{{ {bundle('sampling')}; Object.assign(window, {{ {names} }}) }}"
    shown.page.add_script_tag(content=script)
    return shown.page


GENERATOR = torch.Generator().manual_seed(11)
ROWS = {
    "random": torch.randn(9, dtype=torch.float64, generator=GENERATOR),
    "wide": 40 * torch.randn(65, dtype=torch.float64, generator=GENERATOR),
    "ties": torch.tensor([1.0, 2.0, 2.0, 1.0, 2.0, 1.0]).double(),
    "equal": torch.zeros(7).double(),
    "tenths": torch.tensor([0.1, 0.3, 0.2, 0.1, 0.3]).double().log(),
    "quarters": torch.full((4,), 0.25).double().log(),
    "with -inf": torch.tensor([-math.inf, 0.5, -math.inf, 0.7, 0.5]).double(),
    "one": torch.tensor([3.0]).double(),
    "huge": torch.tensor([1e307, -1e307, 1e307, 0.0], dtype=torch.float64),
}
TEMPERATURES = (0, 5e-324, 1e-300, 0.01, 0.5, 1.0, 2.0, 30.0, 1e308)
TOP_KS = (None, 1, 2, 3, 5, 100)
TOP_PS = (None, 1e-9, 0.1, 0.25, 0.3, 0.5, 0.6, 0.75, 0.8, 0.9, 1 - 1e-9, 1.0)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ROWS)
def test_the_probabilities_are_those_of_helpers(page, name):
    row = ROWS[name]
    settings = list(itertools.product(TEMPERATURES, TOP_KS, TOP_PS))
    got = page.evaluate(
        """([logits, settings]) => settings.map(([temperature, topK, topP]) =>
            nextProbabilities(logits, { temperature, topK, topP }))""",
        [row.tolist(), settings],
    )
    for setting, found in zip(settings, got, strict=True):
        options = dict(zip(("temperature", "top_k", "top_p"), setting, strict=True))
        expected = next_probabilities(row, **options)
        found = torch.tensor(found, dtype=torch.float64)
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)
        assert torch.equal(found > 0, expected > 0), setting


def test_nothing_left_out_leaves_softmax(page):
    got = page.evaluate(
        "(x) => nextProbabilities(new Float32Array(x))", LOGITS.tolist()
    )
    assert got == pytest.approx([0.50, 0.25, 0.15, 0.06, 0.04])


@pytest.mark.parametrize(
    ("draw", "expected"),
    [(0.0, 1), (0.2, 1), (0.25, 3), (0.74, 3), (0.75, 4), (1 - 2**-53, 4)],
)
def test_a_draw_is_where_the_running_sum_exceeds_it(page, draw, expected):
    row = [0.0, 0.25, 0.0, 0.5, 0.25, 0.0]
    assert page.evaluate("([p, x]) => drawFrom(p, () => x)", [row, draw]) == expected
    sums = torch.tensor(row).double().cumsum(0)
    assert torch.searchsorted(sums, draw, right=True) == expected


def test_draws_come_as_often_as_they_should(page):
    row = next_probabilities(ROWS["random"], temperature=1.5, top_k=6)
    counts = page.evaluate(
        """(row) => {
            const random = randomFrom(7);
            const counts = row.map(() => 0);
            for (let i = 0; i < 100000; i += 1) counts[drawFrom(row, random)] += 1;
            return counts;
        }""",
        row.tolist(),
    )
    shares = torch.tensor(counts).double() / 100_000
    assert torch.equal(shares > 0, row > 0)
    torch.testing.assert_close(shares, row, rtol=0, atol=0.006)  # four deviations


# --- the view -----------------------------------------------------------------------


def assert_shows(shown, logits=LOGITS, **options):
    expected = next_probabilities(logits, **options)
    values = shown.values()
    for i, p in enumerate(expected.tolist()):
        assert values.number(f"probability {i}") == pytest.approx(p, abs=CLOSE), options
        assert values[f"count {i}"] == "0"
        assert values[f"share {i}"] == ""
    sentence = values["sentence"]
    if options.get("temperature") == 0:
        assert "takes all" in sentence
        return
    kept = expected > 0
    if kept.all():
        assert f"All {len(logits)} characters can be drawn" in sentence
    else:
        plain = next_probabilities(logits, temperature=options.get("temperature", 1.0))
        assert f"{kept.sum()} of {len(logits)} characters are left" in sentence
        assert f"summed to {plain[kept].sum():.3f}" in sentence
    assert f"largest probability is {expected.max():.3f}" in sentence


def test_the_sliders_reshape_the_probabilities(show_views):
    shown = show_views(sampler(LOGITS, CHARACTERS))
    assert_shows(shown)
    shown.press("temperature", "ArrowRight", 10)
    assert_shows(shown, temperature=2.0)
    shown.press("temperature", "ArrowLeft", 15)
    assert_shows(shown, temperature=0.5)
    shown.press("top-k", "ArrowLeft", 2)
    assert_shows(shown, temperature=0.5, top_k=3)
    shown.press("top-p", "ArrowLeft", 8)
    assert_shows(shown, temperature=0.5, top_k=3, top_p=0.6)
    shown.press("temperature", "Home")
    assert_shows(shown, temperature=0, top_k=3, top_p=0.6)
    shown.press("temperature", "End")
    assert_shows(shown, temperature=3, top_k=3, top_p=0.6)
    shown.press("top-k", "End")
    assert_shows(shown, temperature=3, top_p=0.6)
    shown.press("top-p", "End")
    assert_shows(shown, temperature=3)
    shown.press("draw 1", "Enter")
    shown.press("draw 1000", "Enter")
    assert shown.moved == shown.controls()


def test_every_stop_of_top_p_keeps_what_helpers_keeps(show_views):
    shown = show_views(sampler(LOGITS, CHARACTERS))
    for place in range(19, 0, -1):  # 0.75 and 0.90 are met exactly by running sums
        shown.press("top-p", "ArrowLeft")
        assert_shows(shown, top_p=place / 20)


def read_counts(shown):
    values = shown.values()
    return torch.tensor([int(values[f"count {i}"]) for i in range(5)])


def test_draws_are_counted_against_the_probabilities(show_views):
    shown = show_views(sampler(LOGITS, CHARACTERS))
    shown.press("top-k", "ArrowLeft", 2)
    expected = next_probabilities(LOGITS, top_k=3)
    shown.press("draw 1", "Enter")
    counts = read_counts(shown)
    assert counts.sum() == 1
    drawn = CHARACTERS[counts.argmax()]
    assert f"Drawn: \u2068{drawn}\u2069. 1 draw so far" in shown.value("sentence")

    shown.press("draw 1000", "Space")
    counts = read_counts(shown)
    assert counts.sum() == 1001
    assert (counts[3:] == 0).all()
    shares = counts / 1001
    values = shown.values()
    for i in range(5):
        assert values.number(f"share {i}") == pytest.approx(float(shares[i]), abs=CLOSE)
    assert (shares - expected).abs().max() < 0.06
    gap = float((shares - expected).abs().max())
    sentence = values["sentence"]
    assert "1,001 draws so far" in sentence
    assert float(sentence.split("farther than ")[1].split()[0]) == pytest.approx(
        gap, abs=CLOSE
    )

    shown.press("top-k", "ArrowRight")  # another setting starts anew
    assert_shows(shown, top_k=4)
    shown.press("top-k", "ArrowLeft")
    shown.press("draw 1", "Enter")
    shown.press("draw 1000", "Enter")
    assert torch.equal(read_counts(shown), counts)  # with the same seed


@pytest.mark.parametrize(
    ("logits", "characters", "message"),
    [
        (LOGITS.unsqueeze(0), CHARACTERS, r"shape \(vocab_size,\), got \(1, 5\)"),
        (LOGITS[:0], [], r"shape \(vocab_size,\), got \(0,\)"),
        (LOGITS, CHARACTERS[1:], r"characters must hold 5 names, .* got 4"),
        (LOGITS - math.inf, CHARACTERS, r"logits must be finite"),
        (LOGITS * math.nan, CHARACTERS, r"logits must be finite"),
        (LOGITS.tolist(), CHARACTERS, r"logits must be a torch.Tensor, got list"),
    ],
)
def test_bad_input_is_named(logits, characters, message):
    with pytest.raises(ValueError, match=message):
        sampler(logits, characters)
