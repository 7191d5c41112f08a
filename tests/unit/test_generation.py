"""helpers.models.generation: exact probabilities, sampling, and the cache."""

import math
import re

import numpy as np
import pytest
import torch
from torch import nn

from helpers.models import generation
from helpers.models.encoder import TransformerEncoder
from helpers.models.generation import generate, generate_text, next_probabilities
from helpers.models.language_model import CharLanguageModel, TransformerLM
from helpers.models.transformer_block import TransformerConfig

pytestmark = pytest.mark.usefixtures("one_thread")
B, T, VOCAB, CONTEXT = 2, 5, 7, 9
PROBABILITIES = [0.25, 0.4, 0.05, 0.3]
LOGITS = torch.tensor(PROBABILITIES).log()
POSITIONS = ("learned", "rotary", "none", "pairs")


def make(positions="learned", dropout=0.0, context_length=CONTEXT):
    """A model whose predictions depend on the whole text."""
    torch.manual_seed(0)
    if positions == "char":
        model = CharLanguageModel(VOCAB, context_length, 12, 3, dropout)
    else:
        model = TransformerLM(
            TransformerConfig(
                VOCAB,
                context_length,
                12,
                3,
                2,
                dropout=dropout,
                positions="none" if positions == "pairs" else positions,
                pair_embedding=positions == "pairs",
            )
        )
    with torch.no_grad():
        model.token_embedding.weight.mul_(10)
        model.head.weight.mul_(50)
    return model


def prompts(length=T, rows=B):
    generator = torch.Generator().manual_seed(1)
    return torch.randint(VOCAB, (rows, length), generator=generator)


def seeded(seed=2):
    return torch.Generator().manual_seed(seed)


# --- next_probabilities ------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [0.25, 0.4, 0.05, 0.3]),
        ({"temperature": 0}, [0, 1, 0, 0]),
        ({"temperature": 0.0, "top_k": 3, "top_p": 0.9}, [0, 1, 0, 0]),
        ({"temperature": 1e-45}, [0, 1, 0, 0]),
        ({"temperature": 0.5}, [0.0625, 0.16, 0.0025, 0.09]),
        ({"temperature": np.float32(2)}, [0.5, 0.4**0.5, 0.05**0.5, 0.3**0.5]),
        ({"temperature": 1e30}, [1, 1, 1, 1]),
        ({"top_k": 1}, [0, 1, 0, 0]),
        ({"top_k": np.int64(3)}, [0.25, 0.4, 0, 0.3]),
        ({"top_k": 4}, [0.25, 0.4, 0.05, 0.3]),
        ({"top_k": 99}, [0.25, 0.4, 0.05, 0.3]),
        ({"top_p": 1}, [0.25, 0.4, 0.05, 0.3]),
        ({"top_p": 1e-9}, [0, 1, 0, 0]),
        ({"top_p": 0.39}, [0, 1, 0, 0]),
        ({"top_p": 0.4}, [0, 1, 0, 0]),
        ({"top_p": 0.41}, [0, 0.4, 0, 0.3]),
        ({"top_p": 0.7}, [0, 0.4, 0, 0.3]),
        ({"top_p": 0.71}, [0.25, 0.4, 0, 0.3]),
        ({"top_p": 0.96}, [0.25, 0.4, 0.05, 0.3]),
        # Of 0.4 and 0.3 alone, the first holds 0.571.
        ({"top_k": 2, "top_p": 0.57}, [0, 1, 0, 0]),
        ({"top_k": 2, "top_p": 0.58}, [0, 0.4, 0, 0.3]),
        # At temperature 0.5 the first holds 0.508.
        ({"temperature": 0.5, "top_p": 0.5}, [0, 1, 0, 0]),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_probabilities_are_those_worked_out_by_hand(options, expected, dtype):
    expected = torch.tensor(expected, dtype=dtype)
    computed = next_probabilities(LOGITS.to(dtype), **options)
    torch.testing.assert_close(computed, expected / expected.sum())
    assert ((computed == 0) == (expected == 0)).all()


@pytest.mark.parametrize("tenths", [(6, 3, 1), (7, 2, 1), (4, 3, 2, 1), (8, 1, 1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rounding_keeps_no_character_behind_the_one_that_reaches_top_p(tenths, dtype):
    logits = (torch.tensor(tenths, dtype=dtype) / 10).log()
    for kept in range(1, len(tenths) + 1):
        computed = next_probabilities(logits, top_p=sum(tenths[:kept]) / 10)
        assert computed.count_nonzero() == kept


@pytest.mark.parametrize("options", [{"top_k": 2}, {"top_p": 0.5}, {"temperature": 0}])
def test_among_equal_logits_the_lower_ids_come_first(options):
    kept = next_probabilities(torch.zeros(3, 4), **options)
    size = 1 if "temperature" in options else 2
    expected = [1 / size] * size + [0] * (4 - size)
    torch.testing.assert_close(kept, torch.tensor([expected] * 3))


def test_rows_are_independent_and_the_logits_unchanged():
    logits = torch.randn(B, T, VOCAB)
    copied, options = logits.clone(), {"temperature": 0.7, "top_k": 5, "top_p": 0.8}
    computed = next_probabilities(logits, **options)
    assert logits.equal(copied)
    assert computed.shape == (B, T, VOCAB)
    torch.testing.assert_close(computed.sum(-1), torch.ones(B, T))
    one = next_probabilities(logits[1, 3], **options)
    torch.testing.assert_close(computed[1, 3], one)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_comes_out_as_float32(dtype):
    logits = LOGITS.to(dtype)
    torch.testing.assert_close(
        next_probabilities(logits), logits.float().softmax(-1), rtol=1e-6, atol=1e-7
    )


def test_a_character_can_be_ruled_out_and_large_logits_stay_finite():
    logits = torch.tensor([3e38, -math.inf, -3e38])
    for temperature in (0, 1e-300, 1.0, 1e300):
        computed = next_probabilities(logits, temperature=temperature)
        assert computed[1] == 0
        torch.testing.assert_close(computed.sum(), torch.tensor(1.0))


@pytest.mark.parametrize(
    ("logits", "message"),
    [
        (torch.tensor([[0.0, 1], [0, math.nan]]), r"\(2, 2\).*NaN.*index \[1\]"),
        (torch.tensor([0.0, math.inf]), r"\+inf.*index \[\]"),
        (torch.full((3,), -math.inf), r"nothing but -inf"),
        (torch.empty(2, 0), r"at least one character.*\(2, 0\)"),
        (torch.tensor(1.0), r"vocab_size.*\(\)"),
        (torch.arange(3), r"floating.*int64"),
        ([0.0, 1.0], r"torch\.Tensor.*list"),
    ],
    ids=str,
)
def test_bad_logits_are_named(logits, message):
    with pytest.raises(ValueError, match="^logits .*" + message):
        next_probabilities(logits)


BAD_OPTIONS = {
    "temperature": (-0.1, -1, math.nan, math.inf, None, "1", True),
    "top_k": (0, -1, 2.0, True, "3"),
    "top_p": (0, 0.0, -0.1, 1.01, math.nan, True, "0.5"),
    "generator": (0, "cpu"),
    "use_cache": (1, None),
    "max_new_tokens": (-1, 1.0, True, None),
    "stop_ids": (5, None, np.array(0)),
}


@pytest.mark.parametrize("option", BAD_OPTIONS)
def test_bad_options_are_named(option):
    for value in BAD_OPTIONS[option]:
        model, options = make().train(), {"max_new_tokens": 3, option: value}
        message = f"^{option} must .*"
        if option != "generator":
            message += re.escape(repr(value))
        with pytest.raises(ValueError, match=message):
            generate(model, prompts(), **options)
        assert model.training
        if option in ("temperature", "top_k", "top_p"):
            with pytest.raises(ValueError, match=message):
                next_probabilities(LOGITS, **{option: value})


@pytest.mark.parametrize(
    ("stop_ids", "got"),
    [
        ((0, VOCAB), "7"),
        ([-1], "-1"),
        ((True,), "True"),
        ((1.0,), r"1\.0"),
        ("01", "'0'"),
        ([[0]], r"\[0\]"),
        (torch.tensor([0]), r"tensor\(0\)"),
    ],
    ids=str,
)
def test_bad_stop_ids_are_named(stop_ids, got):
    with pytest.raises(
        ValueError, match=f"^stop_ids must lie in 0 to .* = 6, got {got}"
    ):
        generate(make(), prompts(), 3, stop_ids=stop_ids)


def test_an_encoder_writes_nothing():
    config = TransformerConfig(VOCAB, CONTEXT, VOCAB - 1, 3, 2, causal=False)
    with pytest.raises(ValueError, match=r"model must predict .*, got a TransformerE"):
        generate(TransformerEncoder(config), prompts(), 3)


def test_a_generator_of_another_device_is_named(monkeypatch):
    class Elsewhere(torch.Generator):
        device = torch.device("cuda")

    with pytest.raises(ValueError, match=r"generator must be on the CPU, got cuda"):
        generate(make(), prompts(), 3, generator=Elsewhere())


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (torch.tensor([[VOCAB] + [0] * 20]), r"vocab_size - 1 = 6, got 7 .*\[0, 0\]"),
        (torch.ones(B, T), r"int64.*float32"),
        (prompts(0), r"\(B, T\).*\(2, 0\)"),
        (prompts()[0], r"\(B, T\).*\(5,\)"),
        ([1], r"torch\.Tensor.*list"),
    ],
    ids=str,
)
def test_bad_prompts_are_named(ids, message):
    with pytest.raises(ValueError, match="^prompt_ids .*" + message):
        generate(make(), ids, 3)


# --- generate ---------------------------------------------------------------------


def by_hand(model, ids, count):
    """The largest logit behind the last CONTEXT characters, again and again."""
    for _ in range(count):
        logits = model.eval()(ids[:, -CONTEXT:])[:, -1]
        ids = torch.cat([ids, logits.argmax(-1, keepdim=True)], dim=1)
    return ids


@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("name", ["char", *POSITIONS])
@pytest.mark.parametrize("length", [1, T, CONTEXT - 1, CONTEXT, CONTEXT + 1, 40])
def test_temperature_0_takes_the_largest_logit(name, length, use_cache):
    model, prompt = make(name), prompts(length)
    copied = prompt.clone()
    written = generate(model, prompt, 2 * CONTEXT, temperature=0, use_cache=use_cache)
    assert written.shape == (B, length + 2 * CONTEXT)
    assert written.equal(by_hand(model, prompt, 2 * CONTEXT))
    assert len(written.unique()) > 2
    assert prompt.equal(copied)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("length", [1, CONTEXT, 30])
def test_the_cache_changes_no_character(positions, seed, length):
    model, prompt = make(positions, context_length=16), prompts(length)
    other = generate(model, prompt, 50, generator=seeded(9))
    for options in ({}, {"temperature": 0.6, "top_k": 5}, {"top_p": 0.8}):
        with_cache, without = (
            generate(
                model,
                prompt,
                50,
                generator=seeded(seed),
                use_cache=use_cache,
                **options,
            )
            for use_cache in (True, False)
        )
        assert with_cache.equal(without)
        assert not with_cache.equal(other)


def test_the_cache_reads_each_character_once_until_the_context_is_full():
    model, sizes = make(), []
    model.register_forward_pre_hook(lambda _, args: sizes.append(args[0].shape[1]))
    generate(model, prompts(4), 8, use_cache=True)
    assert sizes == [4, 1, 1, 1, 1, 1, CONTEXT, CONTEXT]
    sizes.clear()
    generate(model, prompts(4), 8, use_cache=False)
    assert sizes == [4, 5, 6, 7, 8, 9, CONTEXT, CONTEXT]


def test_each_character_is_drawn_with_its_probability():
    model, prompt = make(), prompts(3, rows=1)
    many = generate(model, prompt.expand(20_000, 3), 1, generator=seeded())[:, -1]
    expected = model.eval()(prompt)[0, -1].detach().softmax(-1)
    shares = many.bincount(minlength=VOCAB) / len(many)
    torch.testing.assert_close(shares, expected, rtol=0, atol=0.015)
    assert expected.max() < 0.9


def test_what_has_no_probability_is_never_drawn(monkeypatch):
    sums = torch.tensor([[0.0, 0.5, 0.0, 0.5, 0.0]], dtype=torch.float64)
    for number, drawn in ((0.0, 1), (0.5 - 1e-16, 1), (0.5, 3), (1 - 2**-53, 3)):
        draw = torch.tensor([[number]], dtype=torch.float64)
        monkeypatch.setattr(torch, "rand", lambda *_, d=draw, **__: d)
        for scale in (1.0, 1 - 2**-52, 1 + 2**-51):
            assert generation._draw(sums * scale, None).tolist() == [drawn]


def test_a_seed_leads_along_the_same_path_and_draws_one_number_a_character():
    model, generator = make(), seeded()
    first = generate(model, prompts(), 12, generator=generator)
    assert first.equal(generate(model, prompts(), 12, generator=seeded()))
    expected = seeded()
    torch.rand(12, B, dtype=torch.float64, generator=expected)
    assert generator.get_state().equal(expected.get_state())
    assert not first.equal(generate(model, prompts(), 12, generator=generator))
    torch.manual_seed(2)
    assert first.equal(generate(model, prompts(), 12))


def test_temperature_0_leaves_the_random_stream_untouched():
    before = torch.get_rng_state()
    generate(make(), prompts(), 3, temperature=0, generator=seeded())
    torch.manual_seed(0)
    make()
    generator = seeded()
    generate(make(), prompts(), 3, temperature=0, generator=generator)
    assert generator.get_state().equal(seeded().get_state())
    assert before.shape == torch.get_rng_state().shape


class Recited(nn.Module):
    """A model that says what stands in a table (B, CONTEXT), whatever it reads."""

    vocab_size, context_length = VOCAB, CONTEXT

    def __init__(self, table):
        super().__init__()
        self.table = nn.Parameter(torch.tensor(table).float())

    def forward(self, ids):
        following = self.table[:, 1 : ids.shape[1] + 1].long()
        return nn.functional.one_hot(following, VOCAB).float()


@pytest.mark.parametrize(
    "several", [tuple, iter, np.array, set, lambda ids: (one for one in ids)]
)
def test_a_batch_ends_when_each_text_has_had_a_stop_behind_its_prompt(several):
    model = Recited(
        [
            [5, 0, 4, 4, 4, 3, 4, 4, 4],  # a stop in the prompt doesn't count
            [1, 1, 3, 1, 1, 1, 1, 1, 1],  # the first to have one goes on
            [2, 2, 2, 2, 0, 2, 2, 0, 2],
        ]
    )
    prompt = model.table[:, :2].long().detach()
    written = generate(model, prompt, 7, temperature=0, stop_ids=several([3, 0]))
    assert written.equal(model.table[:, :6].long())
    whole = generate(model, prompt, 7, temperature=0, stop_ids=several([6]))
    assert whole.equal(model.table.long())


def test_no_new_characters_give_a_copy_of_the_prompt():
    prompt = prompts()
    written = generate(make(), prompt, 0)
    assert written.equal(prompt)
    assert written.data_ptr() != prompt.data_ptr()


@pytest.mark.parametrize("name", ["char", "learned"])
def test_dropout_is_off_and_every_module_gets_its_mode_back(name):
    model = make(name, dropout=0.5).train()
    model.token_embedding.eval()
    modes = [module.training for module in model.modules()]
    one, other = (generate(model, prompts(), 20, temperature=0) for _ in range(2))
    assert one.equal(other)
    assert [module.training for module in model.modules()] == modes
    model.eval()
    generate(model, prompts(), 3)
    assert not any(module.training for module in model.modules())


def test_every_module_gets_its_mode_back_after_an_error():
    model = make(dropout=0.5).train()
    model.dropout.eval()
    modes = [module.training for module in model.modules()]
    model.final_norm.register_forward_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        generate(model, prompts(), 3)
    assert [module.training for module in model.modules()] == modes
    assert torch.is_grad_enabled()


def test_a_broken_model_is_named_by_its_logits():
    model = make()
    nn.init.constant_(model.head.weight, math.nan)
    with pytest.raises(ValueError, match=r"logits .*NaN"):
        generate(model, prompts(), 3)


def test_the_result_carries_no_gradient_and_can_be_trained_on():
    model = make()
    written = generate(model, prompts(), 3)
    assert not written.is_inference()
    model(written).sum().backward()


def test_generation_in_half_precision():
    model, prompt = make(), prompts()
    expected = generate(model, prompt, 4, temperature=0)
    assert generate(model.bfloat16(), prompt, 4, temperature=0).shape == expected.shape
    assert generate(model.half(), prompt, 20, generator=seeded()).shape == (B, T + 20)


# --- generate_text --------------------------------------------------------------


class Letters:
    """A stand-in for the tokenizer: what generate_text asks of one."""

    alphabet = "\nabcdef"
    vocab_size = VOCAB
    start_character = "\n"

    def encode(self, text):
        for position, character in enumerate(text):
            if character not in self.alphabet:
                raise ValueError(f"unknown {character!r} at position {position}")
        return [self.alphabet.index(character) for character in text]

    def decode(self, ids):
        return "".join(self.alphabet[i] for i in ids)


def test_text_is_what_the_ids_say():
    model, prompt = make(), "fade" * 5
    for trained_on, start in (("documents", "\n"), ("windows", "")):
        options = {"top_k": 3, "trained_on": trained_on}
        text = generate_text(
            model, Letters(), prompt, 12, generator=seeded(), **options
        )
        ids = torch.tensor([Letters().encode(start + prompt)])
        written = generate(model, ids, 12, generator=seeded(), top_k=3)
        assert start + text == Letters().decode(written[0].tolist())
        assert text.startswith(prompt)
        assert len(text) == 32


def test_an_empty_prompt_starts_from_the_start_character_and_leaves_it_out():
    for trained_on in ("documents", "windows"):
        options = {"temperature": 0, "trained_on": trained_on}
        text = generate_text(make(), Letters(), "", 5, **options)
        assert len(text) == 5
    assert "\n" + text == generate_text(make(), Letters(), "\n", 5, **options)
    assert generate_text(make(), Letters(), "", 0) == ""


def test_a_bad_text_is_named():
    def call(prompt="a", count=3, model=None, **attributes):
        tokenizer = Letters()
        vars(tokenizer).update(attributes)
        generate_text(model or make(), tokenizer, prompt, count)

    for given, message in (
        ({"prompt": "ab?"}, r"unknown '\?' at position 2"),
        ({"prompt": "", "start_character": None}, r"prompt .*at least one.*''"),
        ({"prompt": None}, r"prompt must be a text, got NoneType"),
        ({"prompt": ["a"]}, r"prompt must be a text, got list"),
        ({"count": -1}, r"max_new_characters .*at least 0, got -1"),
        ({"vocab_size": 8}, r"tokenizer .*vocab_size 7, got 8"),
    ):
        with pytest.raises(ValueError, match=message):
            call(**given)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("name", ["char", *POSITIONS])
def test_a_gpu_follows_the_same_path(name, use_cache):
    options = {"use_cache": use_cache}
    expected = generate(make(name), prompts(), 40, generator=seeded(), **options)
    model = make(name).cuda()
    for prompt in (prompts(), prompts().cuda()):
        written = generate(model, prompt, 40, generator=seeded(), **options)
        assert written.device == prompt.device
        assert written.cpu().equal(expected)
