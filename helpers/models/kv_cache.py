"""What a language model keeps of the characters it has read.

``generate`` has two more: ``fast_decoding.Decoder`` keeps keys and values in buffers of
its own where it fits the model, and the page's model in
``helpers/views/shared/transformer.js``.

Shapes use the book's letters: B batch, T query positions, S key positions, H heads,
D width of one head.
"""

import dataclasses

import torch
from torch import Tensor, nn

from helpers import validation
from helpers.models.recurrent_layers import LayerState
from helpers.models.transformer_block import TransformerConfig


class KVCache:
    """The keys and values of the characters that a TransformerLM has read.

    ``model(ids, cache=cache)`` reads ids behind those in the cache and keeps them too.
    Its logits are those of the last T positions of the whole text. A cache serves the
    model that made it, until that model's weights change. Where the model has a window,
    what no later query may attend to is dropped.

    What comes is written behind what is kept; only where there is no room left, new
    room is made, for twice as much. With gradients, it is made at each call, because
    the way back needs what was there before.

    Of a layer whose memory has a fixed size it keeps a LayerState, and no keys.

    Args:
        model: the TransformerLM; ``model.new_cache()`` is short for ``KVCache(model)``.

    Attributes:
        length: how many characters it has read.
        last_ids: (B, 1), the last character of each text; None where it is empty.

    Raises:
        ValueError: a model whose ``config`` isn't a TransformerConfig, or isn't causal:
            in an encoder, what comes later changes the keys before it.

    Source: Shazeer 2019, section 2.3 (incremental multi-head attention).
    """

    def __init__(self, model: nn.Module) -> None:
        config = getattr(model, "config", None)
        if not isinstance(config, TransformerConfig) or not config.causal:
            raise ValueError(
                f"model must be a TransformerLM, got {type(model).__name__}"
            )
        self.model, self.config, self.length = model, config, 0
        self.last_ids: Tensor | None = None
        self._layers: dict[int, _Layer] = {}
        self._states: dict[int, LayerState] = {}
        self._coming: dict[int, LayerState] = {}

    def extend(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Keep keys and values (B, H_kv, T, D) of a layer; return all, S of them."""
        if not self.length:
            self._layers[layer] = _Layer(keys, values, self.config.context_length)
        return self._layers[layer].put(keys, values)

    def state(self, layer: int) -> LayerState:
        """What a recurrent layer has kept, to be brought up to date by it."""
        state = dataclasses.replace(self._states.get(layer, LayerState()))
        self._coming[layer] = state
        return state

    def advance(self, ids: Tensor) -> None:
        """Count ids (B, T) as read, once every layer has their keys and values."""
        self._states, self._coming = self._coming, {}
        for number, layer in self._layers.items():
            layer.keep(ids.shape[1])
            config = self.config.of_layer(number)
            # A bias by distance needs to know how far away the sinks stand.
            keeps_all = config.sinks and config.positions in ("alibi", "t5")
            if config.window is not None and not keeps_all:
                # A new query takes one place of it.
                layer.drop_all_but(config.sinks, config.window - 1)
        self.length += ids.shape[1]
        self.last_ids = ids[:, -1:]

    def require_fit(self, model: nn.Module, ids: Tensor) -> None:
        """It was made by ``model`` and holds as many texts as ``ids``, beside them."""
        if self.model is not model:
            raise ValueError("cache must come from this model, got another model's")
        if self.length:
            kept = self._example()
            validation.require_same(
                "the number of texts (B)",
                ids=(ids.shape[0], validation.shape_of(ids)),
                cache=(kept.shape[0], validation.shape_of(kept)),
            )
            validation.require_shared("device", ids=ids, cache=kept)

    def _example(self) -> Tensor:
        """The keys (B, H_kv, S, D) of a layer, or a state (B, H, D, D)."""
        for layer in self._layers.values():
            return layer.keys[:, :, : layer.size]
        matrices = [state.matrices for state in self._states.values()]
        return next(one for one in matrices if one is not None)


class _Layer:
    """A layer's keys and values, and room behind them.

    Args:
        keys: (B, H_kv, T, D), what it will begin with.
        values: (B, H_kv, T, D)
        longest: positions that are never exceeded, those dropped included.
    """

    def __init__(self, keys: Tensor, values: Tensor, longest: int) -> None:
        self.keys, self.values = keys[:, :, :0], values[:, :, :0]
        self.longest = longest
        self.first = self.size = 0  # what is kept: so many places, from the first on

    def put(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Write behind what is kept; return all, S positions."""
        validation.require_shared("dtype", **{"the cache": self.keys, "keys": keys})
        T, S = keys.shape[2], self.size + keys.shape[2]
        if any(one.requires_grad for one in (self.keys, self.values, keys, values)):
            kept_keys, kept_values = self._kept(self.size)
            self.keys = torch.cat([kept_keys, keys], dim=2)
            self.values = torch.cat([kept_values, values], dim=2)
            self.first = 0
            return self.keys, self.values
        if self.first + S > self.keys.shape[2]:
            self._move_to_room_for(max(S, min(2 * S, self.longest)))
        end = self.first + self.size
        self.keys.narrow(2, end, T).copy_(keys)
        self.values.narrow(2, end, T).copy_(values)
        return self._kept(S)

    def keep(self, T: int) -> None:
        """Count T positions that were put there."""
        self.size += T

    def drop_all_but(self, sinks: int, last: int) -> None:
        """Keep so many first and so many last positions, side by side."""
        excess = self.size - sinks - last
        if excess <= 0:
            return
        if sinks:  # they are few: they move up, and the many others stay
            if self.keys.requires_grad or self.values.requires_grad:
                self.keys, self.values = self.keys.clone(), self.values.clone()
            for heads in (self.keys, self.values):
                moved = heads.narrow(2, self.first, sinks).clone()
                heads.narrow(2, self.first + excess, sinks).copy_(moved)
        self.first += excess
        self.size -= excess

    def _kept(self, size: int) -> tuple[Tensor, Tensor]:
        keys = self.keys.narrow(2, self.first, size)
        return keys, self.values.narrow(2, self.first, size)

    def _move_to_room_for(self, places: int) -> None:
        """Make room, and copy what is kept to its beginning."""
        kept = self._kept(self.size)
        B, H_kv, _, D = self.keys.shape
        # What inference mode makes couldn't be written to outside of it.
        with torch.inference_mode(False):
            rooms = [one.new_empty(B, H_kv, places, D) for one in kept]
        for room, one in zip(rooms, kept, strict=True):
            room.narrow(2, 0, self.size).copy_(one)
        self.keys, self.values = rooms
        self.first = 0
