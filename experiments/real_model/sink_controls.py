"""What SmolLM2 reads at a sink: the mark beside other changes, and the values.

Source: Sun et al. 2024, section 2 (massive activations); Gu et al. 2025 (values at the
sink).
"""

from collections.abc import Callable
from contextlib import AbstractContextManager

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.attending import Masked, masked
from experiments.real_model.heads import output_of
from experiments.real_model.intervals import rounded
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.sink_weights import HEADS, LAYERS, LEAST, MARKS, SHARED
from experiments.real_model.sliding_windows import nats
from helpers.attention import causal_mask
from helpers.models.patching import Part, replaced, watched

MARKED = range(MARKS + 1, len(LAYERS))  # the layers that read the mark
Change = Callable[[Tensor], Tensor]


class Fetching(Masked):
    """Attention in which later queries get another value from the first token.

    Args:
        mask: as for ``Masked``.
        value: (H_kv, D), what they get.
    """

    def __init__(self, mask: Tensor, value: Tensor) -> None:
        super().__init__(mask)
        self.value = value

    def __call__(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        *,
        causal: bool,
        window: int | None,
        sinks: int,
    ) -> Tensor:
        """As ``Masked``; the first token itself keeps its own value."""
        options = {"causal": causal, "window": window, "sinks": sinks}
        context = super().__call__(queries, keys, values, **options)  # type: ignore[arg-type]
        times = queries.shape[1] // keys.shape[1]
        other = (self.value - values[:, :, 0]).repeat_interleave(times, dim=1)
        context[:, :, 1:] += self.weights[:, :, 1:, :1] * other[:, :, None]
        return context


def controls(ids: Tensor, others: Tensor, sinking: Tensor) -> many.Run:
    """What is lost where another MLP, the mark's size or the sink's values change.

    Args:
        ids: (N, T) int64, the texts that are asked.
        others: (M, T) int64, those whose mean value the first token gives.
        sinking: (L, H) boolean, the heads whose weight on the first token is kept.

    Returns:
        found: from "whole", "MLP 10 as elsewhere", "a tenth of the mark" and "mean
            value" to the texts' losses, as from ``sinks.ablation``; with ", weight"
            behind, to the mean weights of the sinking heads on the first token; and
            "added", what ``added`` finds in the others.
    """
    changes: dict[str, tuple[int, Change]] = {
        "whole": (MARKS, lambda given: given[:, 0]),
        "MLP 10 as elsewhere": (MARKS - 1, lambda given: given[:, LEAST:].mean(dim=1)),
        "a tenth of the mark": (MARKS, lambda given: given[:, 0] / 10),
    }
    causal = causal_mask(ids.shape[1])
    found: many.Run = {"added": added(others)}
    for name, (layer, change) in changes.items():
        watching = {one: Masked(causal) for one in LAYERS}
        losses, resting = [], []
        for batch in ids.split(6):
            with _mlp(batch, layer, change):
                losses += losses_under(batch, watching)
            table = torch.stack([watching[one].weights for one in LAYERS], dim=1)
            late = table[..., LEAST:, 0].mean(dim=-1)
            resting += rounded(late[:, sinking].mean(dim=1))
        found[name], found[f"{name}, weight"] = losses, resting
    cores: dict[int, Masked] = {
        layer: Fetching(causal, value) for layer, value in _mean_values(others).items()
    }
    found["mean value"] = losses_under(ids, cores)
    return found


def marks(ids: Tensor, sinking: Tensor, *, place: int) -> many.Run:
    """What smaller marks draw, and a mark that another token gets, too.

    Args:
        ids: (N, T) int64, the texts that are asked.
        sinking: (L, H) boolean, the heads whose weight is kept.
        place: of the token that gets, too, what the MLP of layer 11 adds at the first.

    Returns:
        found: from "a hundredth", "a thousandth" and "a second mark" to the texts'
            losses, as from ``sinks.ablation``; with ", weight" behind, to the mean
            weights of the sinking heads on the first token, as in ``controls``; and
            "second mark, late": from "as it is" and "marked" to the texts' mean
            weights on the two places, from queries behind the second on.
    """
    causal = causal_mask(ids.shape[1])
    found: many.Run = {}
    late: dict[str, list[list[float]]] = {"as it is": [], "marked": []}
    ways: dict[str, tuple[int, Change]] = {
        "a hundredth": (0, lambda given: given[:, 0] / 100),
        "a thousandth": (0, lambda given: given[:, 0] / 1000),
        "as it is": (0, lambda given: given[:, 0]),
        "a second mark": (place, lambda given: given[:, 0]),
    }
    for name, (at, change) in ways.items():
        watching = {one: Masked(causal) for one in LAYERS}
        losses, resting = [], []
        for batch in ids.split(6):
            with _mlp(batch, MARKS, change, at=at):
                losses += losses_under(batch, watching)
            table = torch.stack([watching[one].weights for one in LAYERS], dim=1)
            of_heads = table[:, sinking]  # (N, heads, T, T)
            resting += rounded(of_heads[:, :, LEAST:, 0].mean(dim=(1, 2)))
            if name in ("as it is", "a second mark"):
                both = of_heads[:, :, place + LEAST :][..., [0, place]]
                key = "marked" if at else "as it is"
                late[key] += rounded(both.mean(dim=(1, 2)))
        found[name], found[f"{name}, weight"] = losses, resting
    return found | {"second mark, late": late}


def added(ids: Tensor) -> list[list[float]]:
    """By layer and head, what a look at the first token adds to the stream, as a norm.

    Args:
        ids: (N, T) int64.

    Returns:
        ratios: (L, H), the norm of the first token's value behind the output
            projection, divided by the median of the other tokens'; a mean over texts.
    """
    model, _ = smollm2()
    parts = [Part("values", layer) for layer in LAYERS]
    with watched(model, parts) as given, torch.no_grad():
        model(ids)
    rows = []
    for part in parts:
        own = given[part].unflatten(-1, (SHARED, -1))  # (N, T, H_kv, D)
        own = own.repeat_interleave(len(HEADS) // SHARED, dim=2)
        out = output_of(model, part.layer).unflatten(1, (len(HEADS), -1))
        norms = torch.einsum("nthd,chd->nthc", own, out).norm(dim=-1)  # (N, T, H)
        beside = norms[:, 1:].median(dim=1).values
        rows.append((norms[:, 0] / beside).mean(dim=0))
    ratios: list[list[float]] = rounded(torch.stack(rows))
    return ratios


def _mean_values(ids: Tensor) -> dict[int, Tensor]:
    """By layer that reads the mark, the mean value (H_kv, D) of first tokens."""
    model, _ = smollm2()
    parts = [Part("values", layer) for layer in MARKED]
    with watched(model, parts) as given, torch.no_grad():
        model(ids)
    return {
        part.layer: given[part][:, 0].mean(dim=0).unflatten(-1, (SHARED, -1))
        for part in parts
    }


def _mlp(
    ids: Tensor, layer: int, change: Change, *, at: int = 0
) -> AbstractContextManager[None]:
    """What a layer's MLP adds at one place of these texts is changed."""
    model, _ = smollm2()
    part = Part("mlp", layer)
    with watched(model, [part]) as given, torch.no_grad():
        model(ids)
    other = given[part].clone()
    other[:, at] = change(other)
    return replaced(model, {part: other})


def losses_under(ids: Tensor, cores: dict[int, Masked]) -> list[float]:
    """The losses of texts from place 16 on, where layers attend otherwise."""
    model, _ = smollm2()
    with masked(model, cores):
        found: list[float] = rounded(
            torch.cat(list(nats(ids, ids.shape[1] - 16, size=6)))
        )
    return found
