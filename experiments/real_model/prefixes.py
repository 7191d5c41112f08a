"""What is read once and gone on from many times, and the streams of a place."""

from typing import cast

import torch
from torch import Tensor

from helpers.models.encoder import TransformerEncoder
from helpers.models.kv_cache import KVCache
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, watched


def read(model: TransformerLM, ids: Tensor) -> KVCache:
    """The keys and values of ids (B, T), with which a model goes on."""
    cache = model.new_cache()
    with torch.no_grad():
        model(ids, cache=cache)
    return cache


def repeated(cache: KVCache, ids: Tensor, times: int = 1) -> KVCache:
    """Another cache with each of its texts several times, to go on from.

    Args:
        cache: it is left as it is.
        ids: (B, T), what it has read.
        times: how often each text stands in the new one, side by side.
    """
    model = cast(TransformerLM, cache.model)
    config, new = model.config, model.new_cache()
    heads, D = (
        config.num_kv_heads or config.num_heads,
        config.d_model // config.num_heads,
    )
    nothing = model.token_embedding.weight.new_empty(len(ids), heads, 0, D)
    with torch.no_grad():
        for layer in range(config.num_layers):
            kept = cache.extend(layer, nothing, nothing)
            keys, values = (one.repeat_interleave(times, dim=0) for one in kept)
            new.extend(layer, keys, values)
        new.advance(ids.repeat_interleave(times, dim=0))
    return new


def streams(
    model: TransformerLM | TransformerEncoder,
    ids: Tensor,
    place: int,
    *,
    cache: KVCache | None = None,
) -> Tensor:
    """The residual stream at one place, before each block and behind the last.

    Args:
        model: either kind.
        ids: (B, T) int64.
        place: which position.
        cache: what stands before the ids; it is changed.

    Returns:
        streams: (B, num_layers + 1, C)
    """
    parts = [Part("stream", layer) for layer in range(len(model.blocks))]
    last: list[Tensor] = []
    hook = model.blocks[-1].register_forward_hook(lambda _, __, x: last.append(x))
    options = {} if cache is None else {"cache": cache}
    # An encoder's blocks have the same places as those of a language model.
    with torch.no_grad(), watched(cast(TransformerLM, model), parts) as given:
        model(ids, **options)
    hook.remove()
    rows = [*(given[part] for part in parts), *last]
    return torch.stack([row[:, place] for row in rows], dim=1)


def after(model: TransformerLM, cache: KVCache, ids: Tensor, tokens: Tensor) -> Tensor:
    """The residual stream at each of some tokens, put behind each text.

    Args:
        model: the cache's.
        cache: of the texts; it is left as it is.
        ids: (B, T), what it has read.
        tokens: (N, 1) int64, one or another of them behind each text.

    Returns:
        streams: (B, N, num_layers + 1, C)
    """
    more = repeated(cache, ids, len(tokens))
    rows = streams(model, tokens.repeat(len(ids), 1), 0, cache=more)
    return rows.unflatten(0, (len(ids), len(tokens)))
