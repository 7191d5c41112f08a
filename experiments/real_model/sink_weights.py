"""How much weight the first token of a text has, and how much else.

Source: Xiao et al. 2024, section 3.1; Sun et al. 2024, section 2 (massive activations);
Kobayashi et al. 2020, section 3 (weights times the norm of what is averaged).
"""

import itertools
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.heads import output_of
from experiments.real_model.intervals import rounded
from experiments.real_model.pretrained_models import smollm2
from helpers.attention import causal_mask
from helpers.models.patching import Part, watched

LAYERS, HEADS, SHARED = range(30), range(9), 3  # heads share three keys and values
LEAST = 8  # queries before it are left out: all of their weight lies near the start
THRESHOLDS = (0.3, 0.5, 0.7)
MARKS = 11  # the layer whose MLP writes the massive activation


def weights(ids: Tensor) -> many.Run:
    """How much weight, and how much else, the first token of some texts has.

    Args:
        ids: (N, T) int64.

    Returns:
        found: a dict of, for all queries from ``LEAST`` on, by layer and head the
            weight on the "first" token and its share of the weights times the norms of
            what they average, behind the output projection, "of norms"; of the
            "heads" of each text that give it more than each of ``THRESHOLDS``; by layer
            the norms of the residual "stream" that the layer reads, of what its "mlp"
            adds and of "values", at the first place and, at the median, elsewhere; the
            largest of the stream's norms "elsewhere"; the largest
            "features" of the stream at the first place, behind layer 12; and by layer
            how much weight lies "on" the first token, on other newlines, on other marks
            and on all else, and the shares of these "kinds" among the places that a
            query sees.
    """
    rows = [_weights(batch) for batch in ids.split(10)]
    merged: many.Run = {"heads": [one for row in rows for one in row.pop("heads")]}
    features = torch.stack([row.pop("features") for row in rows]).mean(dim=0)
    largest = features.abs().topk(3).indices
    merged["features"] = dict(
        zip(map(str, largest.tolist()), rounded(features[largest]), strict=True)
    )
    for name in rows[0]:
        mean = torch.stack([row[name] for row in rows]).mean(dim=0)
        merged[name] = rounded(mean)
    return merged


def _weights(ids: Tensor) -> dict[str, Any]:
    model, _ = smollm2()
    parts = {kind: [Part(kind, i) for i in LAYERS] for kind in ("stream", "mlp")}
    parts["values"] = [Part("values", i) for i in LAYERS]
    with (
        watched(model, list(itertools.chain(*parts.values()))) as given,
        torch.no_grad(),
    ):
        _, found = model(ids, return_weights=True)
    table = torch.stack(found)[:, :, :, LEAST:]  # (L, B, H, T - LEAST, T)
    first = table[..., 0].mean(dim=3)  # (L, B, H)
    norms = {
        kind: torch.stack([given[part].norm(dim=-1) for part in of])  # (L, B, T)
        for kind, of in parts.items()
    }
    kinds = _kinds(ids)  # (4, B, T)
    seen = causal_mask(ids.shape[1])[LEAST:].double()
    shares = torch.einsum("kbs,ts->kt", kinds, seen).mean(dim=1) / len(ids)
    return {
        "heads": [
            [int((one > q).sum()) for q in THRESHOLDS] for one in first.unbind(1)
        ],
        "features": given[Part("stream", MARKS + 2)][:, 0].mean(dim=0),
        "first": first.mean(dim=1),
        "of norms": _of_norms(table, [given[part] for part in parts["values"]]),
        **{kind: _beside(one) for kind, one in norms.items()},
        "elsewhere": norms["stream"][:, :, 1:].flatten(1).max(dim=1).values,
        "on": torch.einsum("lbhts,kbs->lk", table.double(), kinds)
        / table[..., 0].numel()
        * len(LAYERS),
        "kinds": shares / seen.sum(dim=1).mean(),
    }


def _beside(norms: Tensor) -> Tensor:
    """By layer, the mean at the first place and the median elsewhere, (L, 2)."""
    elsewhere = norms[:, :, 1:].flatten(1).median(dim=1).values
    return torch.stack([norms[:, :, 0].mean(dim=1), elsewhere], dim=-1)


def _of_norms(table: Tensor, values: Sequence[Tensor]) -> Tensor:
    """The first token's share of weights times norms of what a head adds, (L, H)."""
    model, _ = smollm2()
    shares = []
    for layer, (rows, given) in enumerate(zip(table, values, strict=True)):
        of_heads = output_of(model, layer).unflatten(1, (len(HEADS), -1))
        of_heads = of_heads.transpose(0, 1)  # (H, C, D)
        own = given.unflatten(-1, (SHARED, -1)).repeat_interleave(
            len(HEADS) // SHARED, dim=2
        )  # (B, T, H, D)
        square = torch.einsum("hcd,hce->hde", of_heads, of_heads)
        norms = torch.einsum("bthd,hde,bthe->bht", own, square, own).clamp(min=0).sqrt()
        added = rows * norms[:, :, None]
        shares.append((added[..., 0] / added.sum(dim=-1)).mean(dim=(0, 2)))
    return torch.stack(shares)


def _kinds(ids: Tensor) -> Tensor:
    """One of (4, B, T) is 1: the first token, newlines, other marks, all else."""
    _, tokenizer = smollm2()
    pieces = [tokenizer.pieces(row) for row in ids]
    first = torch.zeros(ids.shape, dtype=torch.bool)
    first[:, 0] = True
    newline = torch.tensor([["\n" in one for one in row] for row in pieces]) & ~first
    mark = torch.tensor(
        [[not any(map(str.isalnum, one)) for one in row] for row in pieces]
    )
    mark &= ~first & ~newline
    return torch.stack([first, newline, mark, ~(first | newline | mark)]).double()
