"""The head splitter, moved by keyboard and compared with PyTorch."""

import math

import pytest
import torch

from helpers.views import head_splitter

T, H, D = 4, 3, 2
TOKENS = ["red", "fox", "ran", "home"]
STEPS = ["keys", "view", "transpose", "scores", "contexts", "merge"]
PARTS = torch.randn(3, 1, T, H * D, generator=torch.Generator().manual_seed(5))
QUERIES, KEYS, VALUES = PARTS.unbind()


def split(x, direct):
    if direct:
        return x.view(1, H, T, D)
    return x.view(1, T, H, D).transpose(1, 2)


def merge(x):
    return x.transpose(1, 2).contiguous().view(1, T, H * D)


# Where each number comes from, carried along by the same moves.
TOKEN = torch.arange(T).view(1, T, 1).expand(1, T, H * D).contiguous()
HEAD = torch.arange(H).repeat_interleave(D).expand(1, T, H * D).contiguous()


def expected(step, direct):
    """What a step shows: its numbers, and for each the token and the head."""
    parts = queries, keys, values, token, head = [
        split(x, direct) for x in (QUERIES, KEYS, VALUES, TOKEN, HEAD)
    ]
    if step == "keys":
        return KEYS, TOKEN, HEAD
    if step == "view":
        parts = [KEYS, TOKEN, HEAD]
        shape = (1, H, T, D) if direct else (1, T, H, D)
        return [x.view(shape) for x in parts]
    if step == "transpose":
        return keys, token, head
    scores = queries @ keys.transpose(2, 3)
    if step == "scores":
        return scores, token, head
    mask = torch.ones(T, T, dtype=torch.bool).tril()
    weights = (scores.masked_fill(~mask, -math.inf) / math.sqrt(D)).softmax(dim=-1)
    if step == "contexts":
        return weights @ values, token, head
    return merge(weights @ values), merge(token), merge(head)


def places(tensor):
    """Every index of the one sentence, as the view writes it."""
    return [tuple(index) for index in torch.ones(tensor.shape[1:]).nonzero().tolist()]


@pytest.fixture
def shown(show_views):
    return show_views(head_splitter(QUERIES, KEYS, VALUES, H, tokens=TOKENS))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize("step", STEPS)
def test_each_step_shows_the_numbers_of_pytorch(shown, step, direct):
    shown.press("step", "ArrowRight", STEPS.index(step))
    if direct:
        shown.press("direct", "Space")
    numbers, token, head = expected(step, direct)
    values = shown.values()
    for index in places(numbers):
        name = " ".join(map(str, index))
        wanted = float(numbers[0][index])
        assert values.number(name) == pytest.approx(wanted, abs=0.0051)
        of = f"t{token[0][index[:-1]][0]}h{head[0][index[:-1]][0]}"
        if step in ("keys", "merge"):
            of = f"t{token[0][index]}h{head[0][index]}"
        if step == "scores":
            h, _, s = index
            of += f" · t{token[0, h, s, 0]}h{head[0, h, s, 0]}"
        assert values[f"label {name}"] == of
    if step != "scores":
        assert f"= {tuple(numbers.shape)}" in values["code"]


@pytest.mark.parametrize("direct", [False, True])
def test_labels_of_the_values_follow_the_weights(shown, direct):
    shown.press("step", "End")
    shown.press("step", "ArrowLeft")
    if direct:
        shown.press("direct", "Space")
    queries, keys = split(QUERIES, direct)[0], split(KEYS, direct)[0]
    token, head = split(TOKEN, direct)[0, :, :, 0], split(HEAD, direct)[0, :, :, 0]
    values = shown.values()
    for h in range(H):
        for t in range(T):
            scores = keys[h, : t + 1] @ queries[h, t] / math.sqrt(D)
            seen = (scores.softmax(0) >= 0.01).nonzero().flatten().tolist()
            takes = " ".join(f"t{token[h, s]}h{head[h, s]}" for s in seen)
            assert values[f"takes {h} {t}"] == takes


def test_the_words_say_whose_numbers_a_head_holds(shown):
    shown.press("step", "ArrowRight", 2)
    assert "its own 2 numbers of every token" in shown.value("sentence")
    shown.press("direct", "Space")
    held = shown.value("sentence").replace("\u2068", "").replace("\u2069", "")
    assert held.endswith(
        "Head 0 now holds all numbers of red, and the numbers of fox for head 0. "
        "Head 1 now holds the numbers of fox for head 1 and head 2, and the numbers "
        "of ran for head 0 and head 1. "
        "Head 2 now holds the numbers of ran for head 2, and all numbers of home."
    )


def test_the_words_count_scores_between_heads(shown):
    shown.press("step", "ArrowRight", 3)
    assert f" 0 of {H * T * T} scores" in shown.value("sentence")
    shown.press("direct", "Space")
    head = split(HEAD, True)[0, :, :, 0]
    crossed = (head.unsqueeze(1) != head.unsqueeze(2)).sum()
    assert f" {crossed} of {H * T * T} scores" in shown.value("sentence")


def test_the_words_name_later_tokens_after_the_merge(shown):
    shown.press("step", "End")
    assert "later" not in shown.value("sentence")
    shown.press("direct", "Space")
    said = shown.value("sentence").replace("\u2068", "").replace("\u2069", "")
    token = merge(split(TOKEN, True))[0]
    late = {(t, int(one)) for t in range(T) for one in token[t] if one > t}
    assert late
    for t, one in late:
        assert f"Row {TOKENS[t]} holds a context of {TOKENS[one]}." in said
    assert said.count("Row ") == len(late)


def test_every_control_moves_a_number(shown):
    first = shown.number("0 0")
    assert first == pytest.approx(float(KEYS[0, 0, 0]), abs=0.0051)
    shown.press("step", "ArrowRight")
    assert shown.control("step").get_attribute("aria-valuetext") == "2 of 6: view"
    assert shown.number("0 1 0") == pytest.approx(float(KEYS[0, 0, D]), abs=0.0051)
    shown.press("step", "ArrowRight")
    second = shown.number("0 1 0")
    assert second == pytest.approx(float(KEYS[0, 1, 0]), abs=0.0051)
    shown.press("direct", "Space")
    assert shown.number("0 1 0") == pytest.approx(float(KEYS[0, 0, D]), abs=0.0051)
    shown.press("direct", "Space")
    assert shown.number("0 1 0") == second
    shown.press("step", "Home")
    assert shown.number("0 0") == first
    assert shown.moved == shown.controls()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"queries": PARTS[:2, 0], "keys": PARTS[:2, 0]}, "keys and values"),
        (dict.fromkeys(("queries", "keys", "values"), KEYS[0]), r"shape \(1, T, C\)"),
        ({"values": VALUES[..., :2]}, r"values must have the queries' shape"),
        ({"num_heads": 4}, "num_heads must divide C"),
        ({"num_heads": 0}, "num_heads must be an integer of at least 1"),
        ({"tokens": TOKENS[:3]}, "tokens must hold 4 names, got 3"),
    ],
)
def test_bad_input_is_named(changed, message):
    good = {"queries": QUERIES, "keys": KEYS, "values": VALUES}
    good |= {"num_heads": H, "tokens": TOKENS}
    with pytest.raises(ValueError, match=message):
        head_splitter(**(good | changed))
