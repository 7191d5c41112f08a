"""Runs of a model in which a part gives what it gave in another run.

If the answer changes, what the part gives matters for it; if it comes out as in the
other run, that part carried the difference. ``watched`` keeps what parts give,
``replaced`` puts something else there, and ``PathPatched`` changes what one part gives
for some readers alone.

Source: Meng et al. 2022, section 2.1 (causal tracing); Wang et al. 2022, section 3, and
Goldowsky-Dill et al. 2023 (path patching).
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from helpers import validation
from helpers.models.language_model import TransformerLM

LAYERS = {"queries": "W_query", "keys": "W_key", "values": "W_value"}
OF_HEADS = (*LAYERS, "context")
SHARED = ("keys", "values")
KINDS = (*OF_HEADS, "mlp", "stream")


class Part(NamedTuple):
    """A place of a ``TransformerLM`` where numbers pass.

    Attributes:
        kind: "queries", "keys" or "values" of a layer, before positions turn them;
            "context", what its heads give to the output projection; "mlp", what its MLP
            adds; "stream", what its block reads, the sum of all before it. The stream
            of layer 0 is the embeddings.
        layer: which block, from 0.
        head: for the first four, which head, from 0; all of them where None. Where
            several queries share a key, "keys" and "values" have fewer heads.
    """

    kind: str
    layer: int
    head: int | None = None


# A number, a tensor (..., T, width), or a function from ids to those of another text.
Source = float | Tensor | Callable[[Tensor], Tensor]


def require_head(model: TransformerLM, layer: int, head: int | None) -> None:
    """The model has that layer, and the layer that head; both are counted from 0."""
    sizes = {"layer": len(model.blocks), "head": model.config.num_heads}
    for name, index in (("layer", layer), ("head", head)):
        if index is None:
            continue
        if not validation.is_whole(index) or not 0 <= index < sizes[name]:
            raise ValueError(
                f"{name} must be an integer from 0 to {sizes[name] - 1}, got {index!r}"
            )


@contextlib.contextmanager
def watched(
    model: TransformerLM, parts: Sequence[Part]
) -> Iterator[dict[Part, Tensor]]:
    """Keep what some parts give, inside a ``with`` block.

    Args:
        model: a ``TransformerLM``.
        parts: which ones.

    Returns:
        given: a dict from each part to what it gave when the model ran last, (B, T, D)
            for a head and (B, T, C) for a layer.

    Raises:
        ValueError: a part that the model doesn't have.
    """
    given: dict[Part, Tensor] = {}

    def keep(part: Part) -> Callable[[Tensor], None]:
        return lambda found: given.__setitem__(part, found[..., _features(model, part)])

    with _hooked(model, {part: keep(part) for part in parts}):
        yield given


@contextlib.contextmanager
def replaced(
    model: TransformerLM, instead: Mapping[Part, float | Tensor]
) -> Iterator[None]:
    """Put something else in place of what some parts give, inside a ``with`` block.

    Args:
        model: a ``TransformerLM``.
        instead: a dict from parts to numbers or tensors that broadcast to what the part
            gives, (B, T, D) for a head and (B, T, C) for a layer.

    Raises:
        ValueError: a part that the model doesn't have; when the model runs, a tensor
            that doesn't fit.
    """

    def put(part: Part, other: float | Tensor) -> Callable[[Tensor], Tensor]:
        def change(found: Tensor) -> Tensor:
            found, features = found.clone(), _features(model, part)
            _require_fit(part, other, found[..., features])
            found[..., features] = other
            return found

        return change

    with _hooked(model, {part: put(part, other) for part, other in instead.items()}):
        yield


class PathPatched(nn.Module):
    """A model whose senders give something else, as far as the receivers can see.

    The model runs as it is; then with the senders replaced, while all other heads and
    MLPs give what they gave before, to see what the receivers would have given; then as
    it is but for the receivers, which give that. So the change reaches them directly,
    and what follows from them in the usual way. It maps ids to logits like the model
    itself, and can be asked and measured like it.

    Args:
        model: a ``TransformerLM``; its mode and weights are left alone.
        senders: a dict from parts to what they give: a number or a tensor as for
            ``replaced``, or a function from ids (B, T) to the ids (B, T) of another
            text, on which they give what they do there.
        receivers: the parts that see it, such as queries, keys or values of a later
            layer.
        through_mlps: let the MLPs between them answer to the change, too.

    Raises:
        ValueError: a part that the model doesn't have, or nothing to send or receive.

    Source: Goldowsky-Dill et al. 2023; with ``through_mlps``, Wang et al. 2022,
    section 3.
    """

    def __init__(
        self,
        model: TransformerLM,
        senders: Mapping[Part, Source],
        receivers: Sequence[Part],
        *,
        through_mlps: bool = False,
    ) -> None:
        for name, parts in (("senders", senders), ("receivers", receivers)):
            if not parts:
                raise ValueError(f"{name} must hold at least one part, got none")
            for part in parts:
                _require_part(model, part)
        super().__init__()
        self.model, self.senders = model, dict(senders)
        self.receivers = list(receivers)
        heads, layers = range(model.config.num_heads), range(len(model.blocks))
        self.held = [
            Part("context", layer, head)
            for layer in layers
            for head in heads
            if not {(kind, layer, of) for kind in OF_HEADS for of in (head, None)}
            & self.senders.keys()
        ]
        if model.config.mlp and not through_mlps:
            mlps = (Part("mlp", layer) for layer in layers)
            self.held += [one for one in mlps if one not in self.senders]

    def forward(self, ids: Tensor) -> Tensor:
        """Predict the character behind each one of ``ids``.

        Args:
            ids: (B, T) int64.

        Returns:
            logits: (B, T, vocab_size)
        """
        with watched(self.model, self.held) as held:
            self.model(ids)
        sent = {part: self._sent(part, ids) for part in self.senders}
        # The watching hooks come last, so that they see what the others have put there.
        with (
            replaced(self.model, held | sent),
            watched(self.model, self.receivers) as received,
        ):
            self.model(ids)
        with replaced(self.model, received):
            return self.model(ids)

    def _sent(self, part: Part, ids: Tensor) -> float | Tensor:
        source = self.senders[part]
        if isinstance(source, Tensor) or not callable(source):
            return source
        with watched(self.model, [part]) as given:
            self.model(source(ids))
        return given[part]


def _features(model: TransformerLM, part: Part) -> slice:
    """Which features of a layer's a part has."""
    if part.head is None:
        return slice(None)
    width = model.config.d_model // model.config.num_heads
    return slice(part.head * width, (part.head + 1) * width)


@contextlib.contextmanager
def _hooked(
    model: TransformerLM, actions: Mapping[Part, Callable[[Tensor], Tensor | None]]
) -> Iterator[None]:
    """Let functions see, and change where they return something, what parts give."""
    for part in actions:
        _require_part(model, part)
    with contextlib.ExitStack() as stack:
        for part, act in actions.items():
            block = model.blocks[part.layer]
            if part.kind in ("context", "stream"):  # what the next module reads
                reader = block
                if part.kind == "context":
                    reader = block.get_submodule("attention.out_proj")
                hook = reader.register_forward_pre_hook(_on_input(act))
            else:
                name = (
                    f"attention.{LAYERS[part.kind]}" if part.kind in LAYERS else "mlp"
                )
                hook = block.get_submodule(name).register_forward_hook(_on_output(act))
            stack.callback(hook.remove)
        yield


def _on_input(
    act: Callable[[Tensor], Tensor | None],
) -> Callable[[nn.Module, tuple[Tensor]], tuple[Tensor] | None]:
    def hook(_: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor] | None:
        changed = act(inputs[0])
        return None if changed is None else (changed,)

    return hook


def _on_output(
    act: Callable[[Tensor], Tensor | None],
) -> Callable[[nn.Module, tuple[Tensor], Tensor], Tensor | None]:
    return lambda _, inputs, output: act(output)


def _require_part(model: TransformerLM, part: Part) -> None:
    """The model has that part."""
    if not isinstance(part, Part) or part.kind not in KINDS:
        listed = ", ".join(map(repr, KINDS))
        raise ValueError(f"a part must be a Part of kind {listed}, got {part!r}")
    require_head(model, part.layer, part.head)
    shared = model.config.num_kv_heads
    if shared and part.kind in SHARED and part.head is not None and part.head >= shared:
        raise ValueError(
            f"head must be at most {shared - 1} for kind {part.kind!r}, which the "
            f"layer's {model.config.num_heads} heads share, got {part.head}"
        )
    if part.head is not None and part.kind not in OF_HEADS:
        raise ValueError(f"head must be None for kind {part.kind!r}, got {part.head}")
    if part.kind == "mlp" and not model.config.mlp:
        raise ValueError("a part must be one of the model's, which has no MLPs")


def _require_fit(part: Part, other: float | Tensor, found: Tensor) -> None:
    """What replaces a part broadcasts to what the part gives."""
    got = tuple(other.shape) if isinstance(other, Tensor) else ()
    try:
        fits = torch.broadcast_shapes(got, found.shape) == found.shape
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(
            f"what replaces {part} must broadcast to {tuple(found.shape)}, got {got}"
        )
