"""What is read once and gone on from many times: a text's beginning, and its streams."""

import copy
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


def copied(cache: KVCache) -> KVCache:
    """Another cache of the same model, to go on from without changing the first."""
    return copy.deepcopy(cache, {id(cache.model): cache.model})


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
