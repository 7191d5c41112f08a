"""helpers.models.induction and text.repeats: models whose weights are set by hand."""

import itertools
import random
import string

import pytest
import torch

from experiments import induction as experiment
from experiments import sweeps
from helpers import checks
from helpers.models import induction
from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import TransformerConfig
from helpers.text.repeats import repeats
from helpers.text.tokenizer import CharTokenizer

ALPHABET = string.ascii_lowercase[:9]
TOKENIZER = CharTokenizer("\n" + ALPHABET)
N, V = 7, TOKENIZER.vocab_size


def encoded(*texts):
    return torch.tensor([TOKENIZER.encode("\n" + text) for text in texts])


@pytest.fixture
def told_twice():
    """Each character once in a copy: (B, 1 + 2N) ids."""
    rng = random.Random(0)
    firsts = ["".join(rng.sample(ALPHABET, N)) for _ in range(30)]
    return encoded(*(first * 2 for first in firsts))


@pytest.fixture
def by_hand():
    return induction.by_hand(V, 1 + 2 * N)


def untrained(**changes):
    torch.manual_seed(0)
    options = {"d_model": 40, "num_heads": 5, "num_layers": 3, "mlp": False} | changes
    return TransformerLM(TransformerConfig(V, 1 + 2 * N, **options)).eval()


def one_layer(matrix, *, num_heads=1, head=0):
    """A layer that adds the row ``matrix[c]`` to the logits where it attends to c."""
    config = TransformerConfig(
        V, 1 + 2 * N, 2 * V * num_heads, num_heads, 1, norm="none", mlp=False
    )
    model = TransformerLM(config)
    here, after = slice(0, V), slice(V, 2 * V)
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
        model.token_embedding.weight[:, here] = torch.eye(V)
        model.head.weight[:, after] = torch.eye(V)
        attention = model.blocks[0].attention
        first = head * 2 * V  # a head's features: 2V of them
        attention.W_value.weight[first : first + V, here] = torch.eye(V)
        attention.out_proj.weight[after, first : first + V] = matrix.T
    return model


def test_texts_are_told_twice():
    texts = repeats(200, ALPHABET, (2, 5), random.Random(1))
    copies = [(text[: len(text) // 2], text[len(text) // 2 :]) for text in texts]
    assert all(one == other for one, other in copies)
    assert {len(one) for one, _ in copies} == {2, 3, 4, 5}
    assert set("".join(texts)) == set(ALPHABET)
    assert texts == repeats(200, ALPHABET, (2, 5), random.Random(1))
    assert texts != repeats(200, ALPHABET, (2, 5), random.Random(2))


def test_the_places_after_the_same_character():
    mask = induction.after_the_same(encoded("abab"))[0]
    # ids: newline, a, b, a, b. The second a looks at b, the second b at the second a.
    assert mask.nonzero().tolist() == [[3, 2], [4, 3]]
    mask = induction.after_the_same(encoded("aaab"))[0]
    assert mask.nonzero().tolist() == [[2, 2], [3, 2], [3, 3]]


def test_the_model_by_hand_does_induction(by_hand, told_twice):
    prefix = induction.prefix_matching(by_hand, told_twice)
    previous = induction.previous_token(by_hand, told_twice)
    assert prefix[1].item() == pytest.approx(1, abs=1e-4)
    assert prefix[0].item() == pytest.approx(0, abs=1e-4)
    assert previous[0].item() == pytest.approx(1, abs=1e-4)
    assert previous[1].item() < 0.3
    first, second = induction.losses_of_copies(by_hand, told_twice)
    assert second < 1e-3
    assert first > 3
    added = induction.copying_matrix(by_hand, 1, 0)
    assert induction.positive_share(added) == pytest.approx(1)
    assert induction.own_rank(added) == 1


def test_it_says_what_came_next_the_last_time(by_hand):
    logits = by_hand(encoded("cabdbfac"))[0]
    said = "".join(TOKENIZER.alphabet[i] for i in logits.argmax(-1))
    # Behind the second b came d, behind the second a came b, behind the second c an a.
    assert (said[5], said[7], said[8]) == ("d", "b", "a")


def test_untrained_models_look_anywhere(told_twice):
    model = untrained()
    chance = sum(1 / (t + 1) for t in range(N + 1, 2 * N + 1)) / N
    scores = induction.prefix_matching(model, told_twice)
    assert scores.shape == (3, 5)
    assert (scores - chance).abs().max() < 0.3 * chance
    before = sum(1 / (t + 1) for t in range(1, 2 * N + 1)) / (2 * N)
    scores = induction.previous_token(model, told_twice)
    assert (scores - before).abs().max() < 0.3 * before
    first, second = induction.losses_of_copies(model, told_twice)
    assert abs(first - second) < 0.1


def test_two_steps_are_the_products_of_weights_over_the_places_in_between():
    model, ids = untrained(), encoded("aabcab", "cabbca")
    with torch.no_grad():
        _, weights = model.eval()(ids, return_weights=True)
    mask = induction.after_the_same(ids)
    total, positions = torch.zeros(2, 5, 5), 0
    for b, t in mask.any(dim=-1).nonzero().tolist():
        positions += 1
        for layer, one, two in itertools.product(range(2), range(5), range(5)):
            for place in range(t + 1):
                reached = weights[layer][b, two, place] * mask[b, t]
                total[layer, one, two] += (
                    weights[layer + 1][b, one, t, place] * reached.sum()
                )
    scores = induction.in_two_steps(model, ids)
    torch.testing.assert_close(scores, total / positions)
    assert induction.in_two_steps(one_layer(torch.zeros(V, V)), ids).numel() == 0


def test_each_position_with_a_predecessor_counts_the_same():
    """Equal weights: at t (from 0) the share of marked places is theirs over t + 1."""
    model = one_layer(torch.zeros(V, V))
    score = induction.prefix_matching(model, encoded("aaab", "abcd"))
    assert score.item() == pytest.approx((1 / 3 + 2 / 4) / 2)
    score = induction.previous_token(model, encoded("abcd"))
    assert score.item() == pytest.approx((1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 4)


def test_the_exercise_asks_for_prefix_matching(told_twice):
    """Where no character occurs twice in a copy, counting positions is enough."""
    model = untrained()
    with torch.no_grad():
        _, weights = model(told_twice, return_weights=True)
    asked = [
        [checks.prefix_matching_score.reference(text, N) for text in layer]
        for layer in weights
    ]
    asked = torch.stack([torch.stack(layer).mean(dim=0) for layer in asked])
    torch.testing.assert_close(asked, induction.prefix_matching(model, told_twice))


def test_losses_leave_out_the_first_character_of_a_copy():
    matrix = torch.zeros(V, V)
    model = one_layer(matrix)
    ids = encoded("abcabc")
    with torch.no_grad():  # each position says its own next character, but for two
        model.position_embedding.weight[range(6), ids[0, 1:] + V] = 30.0
        model.position_embedding.weight[[0, 3]] = 0.0
    first, second = induction.losses_of_copies(model, ids)
    assert first == pytest.approx(0, abs=1e-6)
    assert second == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(("num_heads", "head"), [(1, 0), (3, 2)])
def test_the_copying_matrix_is_the_one_put_in(num_heads, head):
    torch.manual_seed(1)
    matrix = torch.randn(V, V)
    model = one_layer(matrix, num_heads=num_heads, head=head)
    added = induction.copying_matrix(model, 0, head)
    centred = matrix - matrix.mean(dim=1, keepdim=True)
    torch.testing.assert_close(added, centred)
    for other in set(range(num_heads)) - {head}:
        assert not induction.copying_matrix(model, 0, other).any()


def test_the_copying_matrix_of_a_head_that_shares_its_values():
    sharing, full = untrained(num_heads=4, num_kv_heads=2), untrained(num_heads=4)
    state = sharing.state_dict()
    for layer in range(3):
        for name in ("key", "value"):
            key = f"blocks.{layer}.attention.W_{name}.weight"
            of_heads = state[key].unflatten(0, (2, 10))
            state[key] = of_heads.repeat_interleave(2, dim=0).flatten(0, 1)
    full.load_state_dict(state)
    for head in range(4):
        expected = induction.copying_matrix(full, 1, head)
        assert torch.equal(induction.copying_matrix(sharing, 1, head), expected)


@pytest.mark.parametrize("norm", ["none", "rms", "layer"])
def test_the_copying_matrix_is_what_a_sole_character_adds(norm):
    """One layer, one character: its head's part of the logits, up to their scale."""
    model = untrained(num_layers=1, norm=norm, positions="none", tie_weights=True)
    block = model.blocks[0]
    with torch.no_grad():
        block.attention.out_proj.bias.zero_()
        if norm != "none":
            for gain in (block.attention_norm.weight, model.final_norm.weight):
                gain.uniform_(0.5, 2)
        kept = []
        hook = model.final_norm.register_forward_pre_hook(
            lambda _, x: kept.append(x[0])
        )
        ids = torch.arange(V)[:, None]
        whole = model(ids)[:, 0]
        hook.remove()
        embedded = model.token_embedding.weight
        stream = kept[0][:, 0]
        added = sum(induction.copying_matrix(model, 0, head) for head in range(5))
        if norm == "none":
            scale = 1.0
        elif norm == "rms":
            scale = (stream.square().mean(1, keepdim=True) + 1e-5).sqrt()
        else:
            scale = (stream.var(1, keepdim=True, unbiased=False) + 1e-5).sqrt()
        own = embedded - embedded.mean(1, keepdim=True) * (norm == "layer")
        own = own * (1 if norm == "none" else model.final_norm.weight)
        expected = whole * scale - own @ embedded.T
        expected = expected - expected.mean(dim=1, keepdim=True)
    torch.testing.assert_close(added, expected, atol=1e-5, rtol=1e-4)


def test_copying_scores_by_hand():
    eye, ones = torch.eye(4), torch.ones(4, 4)
    assert induction.positive_share(eye) == pytest.approx(1)
    assert induction.positive_share(-eye) == pytest.approx(-1)
    assert induction.positive_share(torch.diag(torch.tensor([3.0, -1.0]))) == 0.5
    turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]])  # eigenvalues i and -i
    assert induction.positive_share(turn) == pytest.approx(0)
    assert induction.own_rank(eye) == 1
    assert induction.own_rank(ones - eye) == 0
    assert induction.own_rank(torch.arange(4.0).repeat(4, 1)) == 0.5


def test_chance_gives_neither_score():
    torch.manual_seed(0)
    added = torch.randn(200, 200)
    assert abs(induction.positive_share(added)) < 0.1
    assert induction.own_rank(added) == pytest.approx(0.5, abs=0.06)


def test_training_goes_on_as_it_was(told_twice):
    model = untrained(dropout=0.5).train()
    scores = [induction.prefix_matching(model, told_twice) for _ in range(2)]
    assert torch.equal(*scores)
    induction.losses_of_copies(model, told_twice)
    assert model.training


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: repeats(0, "ab", (1, 2), random), "count must .* at least 1, got 0"),
        (lambda: repeats(1, "ab", (0, 2), random), "shortest must .* got 0"),
        (lambda: repeats(1, "ab", (3, 2), random), r"in order, got \(3, 2\)"),
        (
            lambda: repeats(1, "aba", (1, 2), random),
            "not repeat a character, got 'aba'",
        ),
        (
            lambda: induction.prefix_matching(untrained(), encoded("abcd")),
            "ids must repeat a character",
        ),
        (
            lambda: induction.in_two_steps(untrained(), encoded("abcd")),
            "ids must repeat a character",
        ),
        (
            lambda: induction.previous_token(untrained(), encoded("")),
            r"T of at least 2, got \(1, 1\)",
        ),
        (
            lambda: induction.losses_of_copies(untrained(), encoded("abca")),
            r"told twice, got shape \(1, 5\)",
        ),
        (
            lambda: induction.losses_of_copies(untrained(), encoded("aba")),
            r"told twice, got shape \(1, 4\)",
        ),
        (
            lambda: induction.losses_of_copies(untrained(), encoded("aa")),
            r"at least 2 characters told twice, got shape \(1, 3\)",
        ),
        (
            lambda: induction.copying_matrix(untrained(), 3, 0),
            "layer must be an integer from 0 to 2, got 3",
        ),
        (
            lambda: induction.copying_matrix(untrained(residual=False), 0, 0),
            "model must have a residual path",
        ),
    ],
)
def test_what_does_not_fit_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.slow
def test_a_short_run_watches_the_heads():
    settings = {"model": "two attention layers", "rate": 0.001, "seed": 1, "steps": 50}
    count = {"train": 40, "validation": 5, "measured": 4}
    run = experiment.train_one(settings, **count)
    assert run == experiment.train_one(settings, **count)
    assert run["step"] == [0, 50]
    assert len(run["first"]) == len(run["second"]) == 2
    assert 2.5 < run["validation"] < 4.5
    for name in ("prefix_matching", "previous_token", "positive_share", "own_rank"):
        assert torch.tensor(run[name]).shape == (2, 2, 4)
    assert torch.tensor(run["in_two_steps"]).shape == (2, 1, 4, 4)
    assert run["prefix_matching"][0] != run["prefix_matching"][1]


def test_every_model_of_the_experiment_is_wanted():
    plain = {"steps": experiment.STEPS, "seed": sweeps.SEEDS[0]}
    asked = experiment.wanted({"runs": []})
    assert asked == [
        {"model": name, "rate": rate, **plain}
        for name in experiment.MODELS
        for rate in experiment.BEGIN
    ]
    assert all(
        experiment.running.recipe(TOKENIZER, experiment.running.SHORT, **changes)
        for changes in experiment.MODELS.values()
    )
