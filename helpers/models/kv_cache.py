"""What a language model keeps of the characters it has read.

Shapes use the book's letters: B batch, T query positions, S key positions, H heads,
D width of one head.
"""

import torch
from torch import Tensor, nn

from helpers import validation
from helpers.models.transformer_block import TransformerConfig


class KVCache:
    """The keys and values of the characters that a TransformerLM has read.

    ``model(ids, cache=cache)`` reads ids behind those in the cache and keeps them too.
    Its logits are those of the last T positions of the whole text. A cache serves the
    model that made it, until that model's weights change.

    Args:
        model: the TransformerLM; ``model.new_cache()`` is short for ``KVCache(model)``.

    Attributes:
        length: how many characters it holds.
        last_ids: (B, 1), the last character of each text; None where it is empty.

    Raises:
        ValueError: a model that isn't a TransformerLM.

    Source: Shazeer 2019, section 2.3 (incremental multi-head attention).
    """

    def __init__(self, model: nn.Module) -> None:
        if not isinstance(getattr(model, "config", None), TransformerConfig):
            raise ValueError(
                f"model must be a TransformerLM, got {type(model).__name__}"
            )
        self.model, self.length = model, 0
        self.last_ids: Tensor | None = None
        self._layers: dict[int, tuple[Tensor, Tensor]] = {}

    def extend(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Keep keys and values (B, H_kv, T, D) of a layer; return all, S of them."""
        if self.length:
            kept_keys, kept_values = self._layers[layer]
            validation.require_shared("dtype", **{"the cache": kept_keys, "keys": keys})
            # A call that was interrupted may have left more than ``length`` in a layer.
            kept = slice(0, self.length)
            keys = torch.cat([kept_keys[:, :, kept], keys], dim=2)
            values = torch.cat([kept_values[:, :, kept], values], dim=2)
        self._layers[layer] = (keys, values)
        return keys, values

    def advance(self, ids: Tensor) -> None:
        """Count ids (B, T) as read, once every layer has their keys and values."""
        self.length += ids.shape[1]
        self.last_ids = ids[:, -1:]

    def require_fit(self, model: nn.Module, ids: Tensor) -> None:
        """It was made by ``model`` and holds as many texts as ``ids``, beside them."""
        if self.model is not model:
            raise ValueError("cache must come from this model, got another model's")
        if self.length:
            keys = self._layers[0][0]
            validation.require_same(
                "the number of texts (B)",
                ids=(ids.shape[0], validation.shape_of(ids)),
                cache=(keys.shape[0], validation.shape_of(keys)),
            )
            validation.require_shared("device", ids=ids, cache=keys)
