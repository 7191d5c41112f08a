"""helpers.text.grammar and little_world: exact entropies, checked by enumeration."""

import hashlib
import itertools
import math
import random
import re
from collections import Counter

import pytest

from helpers.text.grammar import Grammar, share
from helpers.text.little_world import WORDS, LittleWorld

SIZES = {"girl": 2, "boy": 1, "animal": 2, "verb": 2, "thing": 2, "did": 2, "speech": 3}
STORY = (
    "Eve wants a white drum. The goat that liked the hens swims and plays. "
    '"Who took the white drum?" she asked.\n'
)
KINDS = {"agreement", "attractor-same", "attractor-other", "pronoun"} | {
    *("colour", "thing", "name", "quote")
}


def first_words(sizes):
    """The first words of each kind; one where ``sizes`` doesn't name the kind."""
    return {
        kind: dict(itertools.islice(words.items(), sizes.get(kind, 1)))
        for kind, words in WORDS.items()
    }


@pytest.fixture(scope="module")
def world():
    return LittleWorld()


@pytest.fixture(scope="module")
def told(world):
    rng = random.Random(1)
    return [world.sample(rng) for _ in range(20_000)]


@pytest.fixture(scope="module")
def small():
    return LittleWorld(first_words(SIZES))


@pytest.fixture(scope="module")
def enumerated(small):
    return list(small.stories())


def test_the_figures_that_the_book_prints(world):
    assert world.story_count == 1_138_602_147_840
    assert world.nats_per_story == pytest.approx(24.706026018, abs=1e-9)
    assert world.characters_per_story == pytest.approx(82.592832893, abs=1e-9)
    assert world.floor == pytest.approx(0.299130386, abs=1e-9)
    assert (world.shortest_story, world.longest_story) == (55, 120)
    assert world.alphabet == "\n !\"',.?ABDEFHIJLMNSTWZabcdefghijklmnoprstuvwy"


def test_recursion_equals_enumeration(small, enumerated):
    probabilities = [p for p, _ in enumerated]
    lengths = [len(story) for _, story in enumerated]
    nats = -math.fsum(p * math.log(p) for p in probabilities)
    characters = math.fsum(p * n for (p, _), n in zip(enumerated, lengths, strict=True))
    variance = math.fsum(p * (math.log(p) + nats) ** 2 for p in probabilities)
    assert len(enumerated) == small.story_count == 32_832
    assert math.fsum(probabilities) == pytest.approx(1, abs=1e-12)
    assert small.nats_per_story == pytest.approx(nats, abs=1e-10)
    assert small.nats_variance == pytest.approx(variance, abs=1e-9)
    assert small.characters_per_story == pytest.approx(characters, abs=1e-9)
    assert small.floor == pytest.approx(nats / characters, abs=1e-12)
    assert (small.shortest_story, small.longest_story) == (min(lengths), max(lengths))
    assert small.alphabet == "".join(sorted(set().union(*(s for _, s in enumerated))))


def test_distinct_derivations_never_give_the_same_text(enumerated):
    assert len({story for _, story in enumerated}) == len(enumerated)


def test_no_text_begins_another_in_any_state(world):
    """So a story has one derivation, in the whole grammar as in a part of it."""
    assert len(world._options) == 3_603
    for options in world._options.values():
        for one, other in itertools.permutations(
            [option.text for option in options], 2
        ):
            assert not other.startswith(one)


@pytest.mark.slow
def test_the_mean_over_samples_is_the_entropy(world, told):
    nats = [-math.fsum(world.read(story)[0]) for story in told]
    error = math.sqrt(world.nats_variance / len(told))
    assert math.fsum(nats) / len(told) == pytest.approx(
        world.nats_per_story, abs=3 * error
    )
    spread = math.fsum((n - world.nats_per_story) ** 2 for n in nats) / len(nats)
    assert spread == pytest.approx(world.nats_variance, rel=0.05)
    length = sum(map(len, told)) / len(told)
    assert length == pytest.approx(world.characters_per_story, abs=0.3)
    assert math.fsum(nats) / sum(map(len, told)) == pytest.approx(
        world.floor, rel=0.005
    )
    assert len(set(told)) == len(told)


def test_each_character_gets_its_exact_probability():
    """Against the sums over all stories that begin so."""
    tiny = LittleWorld(first_words({"girl": 3, "verb": 2, "animal": 2, "speech": 2}))
    begun = Counter()
    for p, story in tiny.stories():
        for end in range(len(story) + 1):
            begun[story[:end]] += p
    for _, story in itertools.islice(tiny.stories(), 0, None, 37):
        masses = [begun[story[:end]] for end in range(len(story) + 1)]
        expected = [math.log(b / a) for a, b in itertools.pairwise(masses)]
        assert tiny.read(story)[0] == pytest.approx(expected, abs=1e-9)
        for end, position in enumerate(tiny.positions(story)):
            chances = {
                one: begun[story[:end] + one] / masses[end]
                for one in tiny.alphabet
                if begun[story[:end] + one]
            }
            assert dict(position.chances) == pytest.approx(chances, abs=1e-9)


def test_samples_follow_the_probabilities():
    sizes = {"verb": 2, "speech": 2}
    tiny = LittleWorld(first_words(sizes))
    rng = random.Random(0)
    drawn = Counter(tiny.sample(rng) for _ in range(20_000))
    assert set(drawn) <= {story for _, story in tiny.stories()}
    for p, story in tiny.stories():
        error = math.sqrt(p * (1 - p) / 20_000)
        assert drawn[story] / 20_000 == pytest.approx(p, abs=5 * error)


def test_a_seed_gives_the_same_stories_everywhere(world):
    rng = random.Random(7)
    stories = "".join(world.sample(rng) for _ in range(1_000))
    digest = hashlib.sha256(stories.encode()).hexdigest()
    assert digest == (
        "3653d8329ffd74a80802232d659f58dda007e9164903f4be07a2377a030dba81"
    )


def test_a_story_is_one_line(told):
    assert all(story.endswith(".\n") and story.count("\n") == 1 for story in told)


def test_marks_stand_where_memory_is_needed(world):
    marks = world.read(STORY)[1]
    assert {(STORY[i : i + 3], kind) for i, kind in marks.items()} == {
        ("s a", "attractor-other"),
        ("s. ", "agreement"),
        ("whi", "colour"),
        ("dru", "thing"),
        ('" s', "quote"),
        ("she", "pronoun"),
    }
    assert len(marks) == 6


def test_every_mark_is_decided_by_what_came_before(world, told):
    """Read again by regular expressions, which know nothing of the grammar."""
    seen = Counter()
    for story in told[:3_000]:
        name, colour, thing = re.match(r"(\w+) \w+ a (\w+) (\w+)\.", story).groups()
        subject = re.search(r"\. The (\w+)", story)[1]
        other = re.search(r"(?:that \w+|near|by|behind|under) the (\w+)", story)
        plural = subject.endswith("s")
        if other is None:
            crossed = "agreement"
        elif other[1].endswith("s") == plural:
            crossed = "attractor-same"
        else:
            crossed = "attractor-other"
        words = {"colour": colour, "thing": thing, "name": name}
        she = name in WORDS["girl"]
        verbs = [crossed, "agreement"]
        for i, kind in world.read(story)[1].items():
            seen[kind] += 1
            rest = story[i:]
            if kind in words:
                assert re.match(r"\w+", rest)[0] == words[kind]
            elif kind == "pronoun":
                assert rest.lower().startswith("she " if she else "he ")
            elif kind == "quote":
                assert rest[0] in "'\""
                assert story.index(rest[0]) < i
            else:
                assert kind == verbs.pop(0)
                assert (rest[0] == "s") != plural
    assert set(seen) == KINDS
    assert min(seen.values()) > 100


def test_a_position_has_the_mark_of_what_is_told_there(world, told):
    """And of what isn't: any "called" might have been a "she said"."""
    pronouns = 0
    for story in told[:300]:
        positions = world.positions(story)
        kinds = {i: one.kind for i, one in enumerate(positions) if one.kind}
        marks = world.read(story)[1]
        others = kinds.items() - marks.items()
        assert marks.items() <= kinds.items()
        assert {kind for _, kind in others} <= {"pronoun"}
        for place, _ in others:
            assert story[place] in "c'\""
        pronouns += len(others)
    assert pronouns > 100


def test_positions_name_the_rule_that_chooses(world):
    rules = [one.rule for one in world.positions(STORY)]
    first = {rule: rules.index(rule) for rule in dict.fromkeys(rules)}
    assert {rule: STORY[place : place + 5] for rule, place in first.items()} == {
        "who": "Eve w",
        "what was done": "wants",
        "which colour": "white",
        "which thing": "drum.",
        "subject": "goat ",
        "behind subject": "that ",
        "attractor": "hens ",
        "verb": "swims",
        "how": " and ",
        "second verb": "plays",
        "stop": '. "Wh',
        "third sentence": '"Who ',
        "speech": "Who t",
        "speaker": "she a",
    }


@pytest.mark.parametrize("kind", ["colour", "thing", "name", "quote"])
def test_what_is_recalled_is_certain(world, told, kind):
    for story in told[:500]:
        scores, marks = world.read(story)
        assert all(
            scores[i] == pytest.approx(0, abs=1e-12) for i in marks if marks[i] == kind
        )


@pytest.mark.parametrize(
    ("story", "message"),
    [
        (STORY.replace("Eve", "Eva"), "from character 0 .*'Eva wants"),
        (STORY.replace("she", "he"), "from character 97 .*'he asked"),
        (STORY.replace("white drum?", "white hat?"), "from character 71 "),
        (STORY + "Eve", "from character 108 .*'Eve'"),
        (STORY[:-1], "from character 97 "),
        ("", "from character 0 on it can't: ''"),
        (None, "story must be a string, got NoneType"),
    ],
)
@pytest.mark.parametrize("read", ["read", "positions"])
def test_a_text_that_is_no_story_is_named(world, read, story, message):
    with pytest.raises(ValueError, match=message):
        getattr(world, read)(story)


def test_words_are_replaced_and_not_changed():
    words = first_words({})
    before = str((WORDS, words))
    assert LittleWorld(words).story_count < LittleWorld().story_count
    assert str((WORDS, words)) == before


def coin(*then):
    return [(1, "heads ", *then), (3, "tails ", *then)]


def twice():
    return coin((coin,))


def ambiguous():
    return [(1, "ab"), (1, "c"), (1, "a", (coin,))]


def repeated():
    return [(1, "ab"), (1, "ab")]


def silent():
    return [(1, "")]


def endless():
    return [(1, "a", (endless,)), (1, "b")]


def test_a_small_grammar_by_hand():
    grammar = Grammar((twice,))
    entropy = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert grammar.nats_per_story == pytest.approx(2 * entropy)
    assert grammar.characters_per_story == 12
    assert {story: p for p, story in grammar.stories()} == {
        "heads heads ": 1 / 16,
        "heads tails ": 3 / 16,
        "tails heads ": 3 / 16,
        "tails tails ": 9 / 16,
    }


def test_a_group_keeps_its_proportions():
    assert share(0.6, [(1, "a"), (2, "b", ("x",))]) == [
        (pytest.approx(0.2), "a"),
        (pytest.approx(0.4), "b", ("x",)),
    ]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Grammar((ambiguous,)), "ambiguous must .* begins .*'a' and 'ab'"),
        (lambda: Grammar((repeated,)), "repeated must .* begins .*'ab' and 'ab'"),
        (lambda: Grammar((silent,)), "silent must .* begins .*'' and ''"),
        (lambda: Grammar((endless,)), "endless must not lead to itself"),
        (lambda: Grammar((list,)), "positive weights, got no option"),
        (lambda: LittleWorld({"verb": {"sit": 0}}), "weights, got 0 for 'sit<.*>s'"),
        (lambda: LittleWorld({"how": {"now": -1}}), "weights, got -1 for ' now. '"),
        (lambda: LittleWorld({"how": {}}), "weights, got no option"),
        (lambda: LittleWorld({"animal": {"cat": 1, "cats": 1}}), "_subject must"),
        (lambda: LittleWorld({"verbs": {}}), r"words must have kinds .*\['verbs'\]"),
    ],
)
def test_a_grammar_whose_entropy_would_be_wrong_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
