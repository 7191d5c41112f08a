"""Writing on, character by character, with a model's predictions.

Shapes use the book's letters: B batch, T positions; a text is a row of character ids.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from helpers import validation
from helpers.models.encoder import TransformerEncoder
from helpers.models.fast_decoding import Decoder
from helpers.models.language_model import require_ids
from helpers.models.switches import eval_mode
from helpers.text.encoding import encode_for_model, require_tokenizer
from helpers.text.tokenizer import CharTokenizer


def next_probabilities(
    logits: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Tensor:
    """Turn logits into the probabilities that the next character is drawn with.

    The temperature comes first, then ``top_k``, then ``top_p``; what is left is divided
    by its sum. Among equal logits the lower ids come first.

    Args:
        logits: (..., vocab_size); entries of -inf get probability 0.
        temperature: at least 0; the logits are divided by it. 0 gives all probability
            to the largest logit.
        top_k: keep the k most probable characters; all, where there are fewer.
        top_p: in (0, 1]; keep the most probable characters until their sum reaches
            ``top_p``, the one that crosses it included (nucleus sampling).

    Returns:
        probabilities: (..., vocab_size), float32 or float64; each row sums to 1.

    Raises:
        ValueError: an option out of its range; logits that aren't floating point, that
            hold no character, or a row with NaN, +inf, or nothing but -inf.

    Source: Fan et al. 2018, section 5.4 (top-k); Holtzman et al. 2020, section 3.1
    (top-p). The page on sampling the next character.
    """
    _require_options(temperature, top_k, top_p)
    _require_logits(logits)
    logits = logits if logits.dtype == torch.float64 else logits.float()
    limits = torch.finfo(logits.dtype)
    divisor = min(max(float(temperature), limits.tiny), limits.max)
    # With the largest logit at 0, no temperature of this dtype can make a NaN.
    scaled = (logits - logits.amax(dim=-1, keepdim=True)) / divisor
    if temperature > 0 and top_k is None and top_p is None:
        return scaled.softmax(dim=-1)
    ordered, ids = scaled.sort(dim=-1, descending=True, stable=True)
    if temperature == 0 or top_k is not None:
        ordered[..., 1 if temperature == 0 else top_k :] = -math.inf
    probabilities = ordered.softmax(dim=-1)
    if top_p is not None:
        before = probabilities.cumsum(dim=-1) - probabilities
        # A sum that misses top_p by rounding alone has reached it.
        reached = before >= top_p - 1e-6
        reached[..., 0] = False
        probabilities = probabilities.masked_fill(reached, 0.0)
        probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probabilities).scatter(-1, ids, probabilities)


def generate(
    model: nn.Module,
    prompt_ids: Tensor,
    max_new_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    use_cache: bool = True,
    stop_ids: Iterable[int] = (),
) -> Tensor:
    """Write on from a prompt, one character (or token) at a time.

    The model sees the last ``context_length`` characters. One random number is drawn
    for each new character, on the CPU whatever the model's device, so that a seed leads
    along the same path everywhere. The model runs in eval mode and without gradients;
    each of its modules then gets back the mode it had, after an error too.

    Args:
        model: a language model with ``context_length`` and ``vocab_size``, which maps
            ids (B, T) to logits (B, T, vocab_size).
        prompt_ids: (B, T) int64, T of any length from 1 on, on any device.
        max_new_tokens: how many characters to add, at least 0.
        temperature: as for next_probabilities; so are the next two.
        top_k: see there.
        top_p: see there.
        generator: a ``torch.Generator`` of the CPU; PyTorch's own where left out. With
            temperature 0 nothing is drawn.
        use_cache: keep keys and values where the model can: a ``fast_decoding.Decoder``
            where it fits, else the model's own ``new_cache``, where it has one. The
            characters are the same, sooner. Once the text outgrows the context, every
            position moves with each character and nothing kept fits any more: from
            there on each step reads the last ``context_length`` characters anew.
        stop_ids: end as soon as every text has one of these behind its prompt, such as
            the token that closes an answer. A text that had one before goes on until
            then.

    Returns:
        ids: (B, T + max_new_tokens), the prompt and what follows, on the prompt's
            device; fewer where all have stopped.

    Raises:
        ValueError: a model without a vocabulary, or an encoder; ids or an option of
            another type or out of its range, a generator of another device.

    Source: Holtzman et al. 2020, section 3. Built by hand in chapter 7.
    """
    own: Any = model  # to PyTorch's hints, its attributes are tensors or modules
    if not (hasattr(model, "vocab_size") and hasattr(model, "context_length")):
        raise ValueError(
            "model must have a vocab_size and a context_length, got "
            f"{type(model).__name__}"
        )
    if isinstance(model, TransformerEncoder):
        raise ValueError(
            "model must predict what comes next, got a TransformerEncoder, whose "
            "features are no logits"
        )
    require_ids("prompt_ids", prompt_ids, own.vocab_size)
    validation.require_counts(max_new_tokens=max_new_tokens)
    _require_options(temperature, top_k, top_p)
    _require_generator(generator)
    validation.require_booleans(use_cache=use_cache)
    stops = _stops(stop_ids, own.vocab_size)
    B, T = prompt_ids.shape
    running = set(range(B))
    ids = prompt_ids.new_empty(B, T + max_new_tokens, device="cpu")
    ids[:, :T] = prompt_ids
    with eval_mode(model), torch.inference_mode():
        read = _reader(model, B, use_cache)
        for end in range(T, T + max_new_tokens):
            logits = read(ids[:, :end])
            if temperature == 0:
                largest, drawn = logits.max(dim=-1)  # the first, where several are
                if not all(map(math.isfinite, largest.tolist())):
                    _require_logits(logits)
            else:
                probabilities = next_probabilities(
                    logits.double(), temperature=temperature, top_k=top_k, top_p=top_p
                )
                drawn = _draw(probabilities, generator)
            ids[:, end] = drawn
            if stops:
                running -= {i for i in running if ids[i, end].item() in stops}
                if not running:
                    ids = ids[:, : end + 1]
                    break
    return ids.to(prompt_ids.device, copy=True)


def generate_text(
    model: nn.Module,
    tokenizer: CharTokenizer,
    prompt: str,
    max_new_characters: int,
    *,
    trained_on: str = "documents",
    **options: Any,
) -> str:
    """Write on from a text.

    Args:
        model: a language model of the tokenizer's vocabulary.
        tokenizer: with ``encode``, ``decode``, ``vocab_size``, ``start_character``.
        prompt: the text to start from; where empty, the tokenizer's start character,
            which is then left out of the result.
        max_new_characters: how many characters to add, at least 0.
        trained_on: "documents" for a model that learned whole texts, each behind the
            start character, as ``helpers.text.encoding.encode_for_model`` has it;
            "windows" for one that learned windows of a stream.
        options: those of ``generate``.

    Returns:
        text: the prompt and what follows.

    Raises:
        ValueError: a character that the tokenizer doesn't know; an empty prompt where
            it has no start character; a vocabulary of another size; what ``generate``
            refuses.
    """
    if not isinstance(prompt, str):
        raise ValueError(f"prompt must be a text, got {type(prompt).__name__}")
    validation.require_counts(max_new_characters=max_new_characters)
    require_tokenizer(tokenizer)
    if tokenizer.vocab_size != model.vocab_size:
        raise ValueError(
            f"tokenizer must have the model's vocab_size {model.vocab_size}, "
            f"got {tokenizer.vocab_size}"
        )
    if not prompt and tokenizer.start_character is None:
        raise ValueError(
            "prompt must hold at least one character, got '' and a tokenizer without "
            "a start character"
        )
    if not prompt:
        trained_on = "documents"  # the start character alone, also for windows
    ids = encode_for_model(prompt, tokenizer, trained_on=trained_on)
    new = generate(model, ids, max_new_characters, **options)[0, ids.shape[1] :]
    return prompt + tokenizer.decode(new.tolist())


def _reader(model: nn.Module, B: int, use_cache: bool) -> Callable[[Tensor], Tensor]:
    """A function from B texts (B, T) to logits (B, vocab_size), on the CPU.

    Each text must go on from the one before.
    """
    own: Any = model
    device, context_length = next(model.parameters()).device, own.context_length
    decoder = cache = None
    if use_cache and Decoder.fits(model):
        decoder = Decoder(own, B)
    elif use_cache and hasattr(model, "new_cache"):
        cache = own.new_cache()

    def read(ids: Tensor) -> Tensor:
        T = ids.shape[1]
        if decoder is not None and context_length >= T:
            logits = decoder.read(ids[:, decoder.length :].to(device))
        elif cache is not None and context_length >= T:
            logits = model(ids[:, cache.length :].to(device), cache=cache)[:, -1]
        else:
            logits = model(ids[:, -context_length:].to(device))[:, -1]
        return logits.cpu()

    return read


def _draw(probabilities: Tensor, generator: torch.Generator | None) -> Tensor:
    """One id a row, (B,): where the running sum first exceeds a random number."""
    sums = probabilities.cumsum(dim=-1)
    draws = torch.rand(len(sums), 1, dtype=sums.dtype, generator=generator)
    return torch.searchsorted(sums, draws * sums[:, -1:], right=True)[:, 0]


def _stops(stop_ids: Iterable[int], vocab_size: int) -> set[int]:
    try:
        several = list(stop_ids)
    except TypeError:
        raise ValueError(f"stop_ids must be several ids, got {stop_ids!r}") from None
    for one in several:
        if not validation.is_whole(one) or not 0 <= one < vocab_size:
            raise ValueError(
                f"stop_ids must lie in 0 to vocab_size - 1 = {vocab_size - 1}, got "
                f"{one!r}"
            )
    return set(several)


def _require_options(
    temperature: float, top_k: int | None, top_p: float | None
) -> None:
    for name, number in (("temperature", temperature), ("top_p", top_p)):
        left_out = name == "top_p" and number is None
        if not (left_out or validation.is_real(number)):
            raise ValueError(f"{name} must be a number, got {number!r}")
    if not 0 <= temperature < math.inf:
        raise ValueError(
            f"temperature must be at least 0 and finite, got {temperature!r}"
        )
    if top_k is not None:
        validation.require_integers(top_k=top_k)
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p must lie in (0, 1], got {top_p!r}")


def _require_generator(generator: torch.Generator | None) -> None:
    if generator is None:
        return
    if not isinstance(generator, torch.Generator):
        raise ValueError(
            f"generator must be a torch.Generator, got {type(generator).__name__}"
        )
    if generator.device.type != "cpu":
        raise ValueError(f"generator must be on the CPU, got {generator.device}")


def _require_logits(logits: Tensor) -> None:
    validation.require_float(logits=logits)
    validation.require_rank("logits", logits, "vocab_size")
    shape = validation.shape_of(logits)
    if shape[-1] == 0:
        raise ValueError(f"logits must hold at least one character, got shape {shape}")
    # The largest of a row is NaN, +inf or -inf where the row can't be used.
    if not validation.holds(lambda: logits.amax(dim=-1).isfinite().all()):
        row = (~logits.amax(dim=-1).isfinite()).nonzero()[0].tolist()
        raise ValueError(
            f"logits of shape {shape} have a row with NaN, +inf, or nothing but "
            f"-inf, the first at index {row}"
        )
