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
    model that made it, until that model's weights change. Where the model has a window,
    what no later query may attend to is dropped.

    Args:
        model: the TransformerLM; ``model.new_cache()`` is short for ``KVCache(model)``.

    Attributes:
        length: how many characters it has read.
        last_ids: (B, 1), the last character of each text; None where it is empty.

    Raises:
        ValueError: a model that isn't a TransformerLM.

    Source: Shazeer 2019, section 2.3 (incremental multi-head attention).
    """

    def __init__(self, model: nn.Module) -> None:
        config = getattr(model, "config", None)
        if not isinstance(config, TransformerConfig):
            raise ValueError(
                f"model must be a TransformerLM, got {type(model).__name__}"
            )
        self.model, self.config, self.length = model, config, 0
        self.last_ids: Tensor | None = None
        self._layers: dict[int, tuple[Tensor, Tensor]] = {}
        self._grown: dict[int, tuple[Tensor, Tensor]] = {}  # by the call under way

    def extend(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Keep keys and values (B, H_kv, T, D) of a layer; return all, S of them."""
        if self.length:
            kept_keys, kept_values = self._layers[layer]
            validation.require_shared("dtype", **{"the cache": kept_keys, "keys": keys})
            keys = torch.cat([kept_keys, keys], dim=2)
            values = torch.cat([kept_values, values], dim=2)
        self._grown[layer] = (keys, values)
        return keys, values

    def advance(self, ids: Tensor) -> None:
        """Count ids (B, T) as read, once every layer has their keys and values."""
        self._layers = {
            layer: (self._within_reach(keys), self._within_reach(values))
            for layer, (keys, values) in self._grown.items()
        }
        self._grown = {}
        self.length += ids.shape[1]
        self.last_ids = ids[:, -1:]

    def _within_reach(self, heads: Tensor) -> Tensor:
        """What a later query may attend to: all, or the sinks and the window's end."""
        S, window, sinks = heads.shape[2], self.config.window, self.config.sinks
        # A bias by distance needs to know how far away the sinks stand.
        if window is None or (sinks and self.config.positions == "alibi"):
            return heads
        first = S - window + 1  # the new query takes one place of the window
        if first <= sinks:
            return heads
        return torch.cat([heads[:, :, :sinks], heads[:, :, first:]], dim=2)

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
