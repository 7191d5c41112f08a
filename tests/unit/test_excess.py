"""helpers.text.excess: against losses that are known by hand or by enumeration."""

import itertools
import math

import pytest
import torch

from helpers import checks
from helpers.models.switches import silenced
from helpers.recorded import story_model
from helpers.text import corpus, excess, probes
from helpers.text.decisions import DECISIONS, FREE, SPELLING
from helpers.text.excess import Excess, Truth
from helpers.text.little_world import WORDS, LittleWorld
from helpers.text.ngram import NGramModel

SIZES = {"girl": 2, "verb": 2, "speech": 2}
LN_2 = math.log(2)


@pytest.fixture(scope="module")
def world():
    """A world of few stories."""
    words = {
        kind: dict(itertools.islice(words.items(), SIZES.get(kind, 1)))
        for kind, words in WORDS.items()
    }
    return LittleWorld(words)


@pytest.fixture(scope="module")
def told(world):
    """The probabilities (stories,) of all its stories, and what is true of them."""
    probabilities, stories = zip(*world.stories(), strict=True)
    return torch.tensor(probabilities, dtype=torch.float64), Truth(stories, world)


def by_decision(probabilities, nats):
    """Expected nats per story, where there are any."""
    means = (probabilities[:, None] * nats).sum(dim=0).tolist()
    pairs = zip(DECISIONS, means, strict=True)
    return {name: mean for name, mean in pairs if abs(mean) > 1e-12}


def changed(truth, change):
    """The truth, but for the marked places, which ``change(kind, p)`` alters."""
    rows = []
    for story, log_p in zip(truth.stories, truth.log_probabilities, strict=True):
        p = log_p.exp()
        for i, position in enumerate(truth.world.positions(story)):
            if position.kind:
                change(position.kind, p[i])
        rows.append(p.log())
    return rows


def test_the_truth_loses_nothing(told):
    _, truth = told
    for nats in truth.excess(truth.log_probabilities):
        assert nats.abs().max() < 1e-12


def test_the_truth_is_what_read_says(told):
    _, truth = told
    encode = truth.world.alphabet.index
    for story, rows in list(zip(truth.stories, truth.log_probabilities, strict=True))[
        ::9
    ]:
        found = rows[range(len(story)), [encode(c) for c in story]].tolist()
        assert found == pytest.approx(truth.world.read(story)[0], abs=1e-12)
        torch.testing.assert_close(rows.exp().sum(1), torch.ones_like(rows[:, 0]))


def test_the_parts_sum_to_a_bigram_models_loss_above_the_entropy(told):
    probabilities, truth = told
    world = truth.world
    bigrams = NGramModel(truth.stories, 2, alphabet=world.alphabet, start="\n")
    table = {c: list(bigrams.next_probabilities(c).values()) for c in world.alphabet}
    rows = [
        torch.tensor([table[c] for c in "\n" + story[:-1]], dtype=torch.float64).log()
        for story in truth.stories
    ]
    lost = truth.excess(rows)
    losses = [
        -float(row[range(len(story)), [world.alphabet.index(c) for c in story]].sum())
        for story, row in zip(truth.stories, rows, strict=True)
    ]
    own = [-math.fsum(world.read(story)[0]) for story in truth.stories]
    losses, own = torch.tensor([losses, own], dtype=torch.float64)
    assert (lost.found.sum(dim=1) - (losses - own)).abs().max() < 1e-9
    expected = float(probabilities @ losses) - world.nats_per_story
    for nats in lost:
        above = float(probabilities @ nats.sum(dim=1))
        assert above == pytest.approx(expected, abs=1e-9)
    found, meant = (by_decision(probabilities, nats) for nats in lost)
    assert found == pytest.approx(meant, abs=1e-9)
    assert set(found) == {*probes.KINDS, SPELLING} | {
        *("who", "subject", "behind subject", "attractor", "verb", "how"),
        *("second verb", "third sentence", "speech", "speaker"),
    }
    assert min(found.values()) > 0


def test_uniform_predictions_lose_the_rest_of_ln_v_everywhere(told):
    probabilities, truth = told
    world, size = truth.world, len(truth.world.alphabet)
    rows = [torch.full_like(one, -math.log(size)) for one in truth.log_probabilities]
    lost = by_decision(probabilities, truth.excess(rows).expected)
    whole = world.characters_per_story * math.log(size) - world.nats_per_story
    assert math.fsum(lost.values()) == pytest.approx(whole, abs=1e-9)
    assert lost["quote"] == pytest.approx(0.8 * math.log(size), abs=1e-9)
    # Two girls and a boy, with weights 4, 3 and 4.
    entropy = -sum(p * math.log(p) for p in (4 / 11, 3 / 11, 4 / 11))
    assert lost["who"] == pytest.approx(math.log(size) - entropy, abs=1e-9)
    # Given a pronoun: two of the four letters that may begin one.
    assert lost["pronoun"] == pytest.approx((0.2 + 0.8 * 0.75) * LN_2, abs=1e-9)


def test_who_confuses_two_names_loses_ln_2_at_each_of_them(told):
    probabilities, truth = told
    ann, eve = (truth.world.alphabet.index(letter) for letter in "AE")

    def confuse(kind, p):
        if kind == "name" and p[ann] + p[eve] == 1:
            p[ann] = p[eve] = 0.5

    lost = truth.excess(changed(truth, confuse))
    girls, called = 7 / 11, 0.8 * 0.25
    expected = {"name": pytest.approx(girls * called * LN_2, abs=1e-12)}
    assert by_decision(probabilities, lost.expected) == expected
    for story, nats in zip(truth.stories, lost.found, strict=True):
        named = story.split()[-2] in ("called", "cried") and not story.startswith("B")
        assert float(nats[DECISIONS.index("name")]) == pytest.approx(named * LN_2)


def test_of_a_verbs_number_only_the_s_is_asked_for(told):
    """Nine "s" in ten everywhere, and right about what comes in its place."""
    probabilities, truth = told
    s = truth.world.alphabet.index("s")

    def expect_an_s(kind, p):
        if kind in probes.AGREEMENT:
            if p[s] == 1:
                p[s - 1] = 0.1 / 0.9
            else:
                p[s] = 9
            p /= p.sum()

    lost = by_decision(probabilities, truth.excess(changed(truth, expect_an_s)).found)
    each = -(math.log(0.9) + math.log(0.1)) / 2
    crossed, joined = 0.65, 0.15
    assert lost == {
        "agreement": pytest.approx((1 - crossed + joined) * each, abs=1e-12),
        "attractor-same": pytest.approx(crossed / 2 * each, abs=1e-12),
        "attractor-other": pytest.approx(crossed / 2 * each, abs=1e-12),
    }


def test_what_comes_in_place_of_an_s_is_another_decision(told):
    probabilities, truth = told
    space, stop = map(truth.world.alphabet.index, " .")

    def prefer_a_stop(kind, p):
        if kind in probes.AGREEMENT and p[space] > 0:
            p[[space, stop]] = torch.tensor([0.1, 0.9], dtype=torch.float64)

    lost = truth.excess(changed(truth, prefer_a_stop)).expected
    plural, even = 0.5, (math.log(0.5 / 0.1) + math.log(0.5 / 0.9)) / 2
    expected = {"how": pytest.approx(plural * even, abs=1e-12)}
    assert by_decision(probabilities, lost) == expected


def test_which_pronoun_and_whether_one_comes_are_two_decisions(told):
    probabilities, truth = told
    she, he = (
        [truth.world.alphabet.index(letter) for letter in letters]
        for letters in probes.PRONOUNS
    )
    both = she + he

    def guess_which(kind, p):
        if kind == "pronoun":
            p[she], p[he] = (p[she] + p[he]) / 2, (p[she] + p[he]) / 2

    def guess_whether(kind, p):
        if kind == "pronoun":
            share = p[both].sum()
            others = [i for i in range(len(p)) if i not in both]
            p[both] *= 0.5 / share
            p[others] *= 0.5 / (1 - share)

    def guess_the_case(kind, p):
        if kind == "pronoun":
            for pair in (she, he):
                p[pair] = p[pair].sum() / 2

    lost = [
        by_decision(probabilities, truth.excess(changed(truth, change)).expected)
        for change in (guess_which, guess_whether, guess_the_case)
    ]
    comes = 0.2 + 0.8 * 0.75
    assert lost[0]["pronoun"] == pytest.approx(comes * LN_2, abs=1e-12)
    # What guesses between S and H gives nothing to another case.
    assert set(lost[0]) == {"pronoun"}

    def divergence(p):
        return LN_2 + p * math.log(p) + (1 - p) * math.log(1 - p)

    assert lost[1] == {
        "third sentence": pytest.approx(divergence(0.2), abs=1e-12),
        "speaker": pytest.approx(0.8 * divergence(0.75), abs=1e-12),
    }
    assert lost[2] == {SPELLING: pytest.approx(comes * LN_2, abs=1e-12)}


def test_every_rule_of_the_whole_world_is_a_decision():
    world = corpus.load("little-world", train_stories=300)
    truth = Truth(world.train)
    rules = {one.rule for story in world.train for one in truth.world.positions(story)}
    assert rules == {*FREE, "stop"}
    assert len(set(DECISIONS)) == len(DECISIONS)
    rows = [torch.zeros_like(one) for one in truth.log_probabilities]
    lost = truth.excess([row.log_softmax(1) for row in rows]).expected.sum(dim=0)
    assert lost.min() > 0


def test_a_story_character_by_character(told):
    """Uniform predictions: the parts of each one are its KL from the truth."""
    _, truth = told
    few = Truth(truth.stories[:300:60], truth.world)
    rows = [torch.zeros_like(one).log_softmax(1) for one in few.log_probabilities]
    whole = few.excess(rows)
    for i, log_q in enumerate(rows):
        each = Excess(*few._by_character({i: log_q}))
        for nats, summed in zip(each, whole, strict=True):
            assert nats.shape == (len(few.stories[i]), len(DECISIONS))
            torch.testing.assert_close(nats.sum(dim=0), summed[i])
        p = few.log_probabilities[i].exp()
        divergences = torch.xlogy(p, p).sum(1) - (p * log_q).sum(1)
        torch.testing.assert_close(each.expected.sum(dim=1), divergences)
        positions = few.world.positions(few.stories[i])
        quotes = [t for t, one in enumerate(positions) if one.kind == "quote"]
        assert each.found[:, DECISIONS.index("quote")].nonzero().flatten().tolist() == (
            quotes
        )


def test_the_exercise_asks_for_what_a_character_loses(told):
    _, truth = told
    p = truth.log_probabilities[7].exp()
    generator = torch.Generator().manual_seed(0)
    log_q = torch.randn(p.shape, generator=generator).double().log_softmax(1)
    lost = truth._by_character({7: log_q})[0].sum(dim=1)
    asked = torch.stack(list(map(checks.excess_nats.reference, log_q, p)))
    torch.testing.assert_close(asked, lost)


def test_stories_of_any_number_are_computed_alike(told, monkeypatch):
    _, truth = told
    few = Truth(truth.stories[:7], truth.world)
    rows = [torch.zeros_like(one).log_softmax(1) for one in few.log_probabilities]
    at_once = few.excess(rows)
    monkeypatch.setattr(excess, "STORIES_AT_A_TIME", 3)
    for one, other in zip(few.excess(rows), at_once, strict=True):
        torch.testing.assert_close(one, other)
        assert one.shape == (7, len(DECISIONS))


def test_without_its_head_the_story_model_loses_colours():
    model, tokenizer = story_model.load_story_model()
    stories = corpus.load("little-world", train_stories=60).train
    truth = Truth(stories)
    whole = truth.excess(probes.log_probabilities(model, tokenizer, stories))
    assert truth.summary(whole.expected)["whole"].nats < 0.3
    with silenced(model, *story_model.FETCHING):
        blind = truth.excess(probes.log_probabilities(model, tokenizer, stories))
    back = truth.summary(blind.expected - whole.expected)
    assert back["colour"].share > 0.5
    assert back["colour"].nats > 5 * back["colour"].error


def test_a_summary_by_hand(told):
    truth = Truth(told[1].stories[:4], told[1].world)
    nats = torch.zeros(4, len(DECISIONS), dtype=torch.float64)
    nats[:, 0] = torch.tensor([1.0, 2.0, 3.0, 6.0])
    nats[:, -1] = torch.tensor([1.0, 2.0, 3.0, 6.0])
    parts = truth.summary(nats)
    error = math.sqrt((4 + 1 + 0 + 9) / 3 / 4)
    characters = truth.world.characters_per_story
    one = (3.0, pytest.approx(error), pytest.approx(3 / characters), 0.5, 0.0)
    assert parts[probes.KINDS[0]] == parts[SPELLING] == one
    assert parts["whole"].nats == 6
    assert parts["whole"].error == pytest.approx(2 * error)
    assert list(parts) == [*DECISIONS, "whole"]
    nats[:, -1] = 3.0  # whatever the other costs
    residuals = nats[:, -1] - nats.sum(1) / 2
    share_error = float(residuals.std()) / 2 / 6
    assert truth.summary(nats)[SPELLING].share_error == pytest.approx(share_error)
    assert math.isnan(truth.summary(nats * 0)[SPELLING].share)


def test_what_does_not_fit_is_named(told):
    truth = Truth(told[1].stories[:2], told[1].world)
    rows = truth.log_probabilities
    short = len(truth.stories[1])
    with pytest.raises(ValueError, match="stories must hold at least one story"):
        Truth([])
    with pytest.raises(ValueError, match="story must be one that this grammar tells"):
        Truth(["Once upon a time."])
    with pytest.raises(ValueError, match="one tensor for each of the 2 stories, got 1"):
        truth.excess(rows[:1])
    with pytest.raises(ValueError, match=rf"of story 1 must have shape .*\({short}, "):
        truth.excess([rows[0], rows[1][:-1]])
    with pytest.raises(
        ValueError, match=r"log_probabilities must be a torch.Tensor, got list"
    ):
        truth.excess([[], []])
    sure = [torch.full_like(row, -math.inf) for row in rows]
    with pytest.raises(ValueError, match="more than probability 0"):
        truth.excess(sure)
    with pytest.raises(ValueError, match=r"nats must have shape .*\(2, 22\), got"):
        truth.summary(torch.zeros(3, 22))
