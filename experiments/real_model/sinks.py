"""Attention sinks of SmolLM2: which heads rest on the first token, why, and what for.

How much weight each head gives to the first token of a text, and how long its value,
its place in the residual stream and what the MLPs add there are ("weights"); whether it
is the place or the token ("first token"); what is lost where heads can't see it, or
where the MLP that marks it is switched off there ("ablation"); the same for another
MLP, a smaller mark and other values ("controls", in ``sink_controls``); still smaller
marks, and one at another place ("marks", there, too); and the loss in sliding windows,
with and without the first tokens ("windows", in ``sliding_windows``).

A text's pieces begin anywhere in it, and nothing stands before them but where a part
says so: as in training, where texts of many documents were cut into equal pieces.
Prose and code are pieces of this book as they were when the record was made
(``sink_texts``).

Source: Xiao et al. 2024, "Efficient Streaming Language Models with Attention Sinks",
sections 3.1 and 4.1 (there, a cache's places are counted anew; here each token keeps
its own); Sun et al. 2024, "Massive Activations in Large Language Models", section 2;
Gu et al. 2025, "When Attention Sink Emerges in Language Models", for thresholds;
Kobayashi et al. 2020, section 3, for weights times the norm of what is averaged.
"""

import functools
from typing import Any

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.attending import Masked, masked
from experiments.real_model.intervals import rounded
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.sink_controls import controls, losses_under, marks
from experiments.real_model.sink_texts import TEXTS, windows
from experiments.real_model.sink_weights import LAYERS, LEAST, MARKS, weights
from experiments.real_model.sliding_windows import LONG, sliding
from helpers.attention import causal_mask
from helpers.models.patching import Part, replaced, watched

THREE = ("shakespeare", "prose", "code")
PIECES, LENGTH = 40, 128  # for the weights
SHORT = 96  # tokens, for the first token and the ablations
PLACE = 32  # of a second token that might become a sink
DRAWS = 10  # of other heads
GROUPS = 8  # of four pieces each
GRID = [
    *(
        (window, kept)
        for window in (32, 64, 128, 256)
        for kept in ("first 0", "first 4")
    ),
    *((32, "first 1"), (64, "first 1"), (64, "first 2"), (68, "first 0")),
    *((64, "middle 4"), (64, "second 4"), (LONG, "first 0")),
]
CENTRAL = [(64, "first 0"), (64, "first 4"), (LONG, "first 0")]
CONTROLS = [(64, "first 1"), (64, "middle 4"), (64, "second 4")]
PLAN: list[many.Settings] = [
    *({"part": "weights", "text": text} for text in TEXTS),
    *({"part": "first token", "text": text} for text in THREE),
    *({"part": "ablation", "text": text} for text in THREE),
    *({"part": "controls", "text": text} for text in THREE),
    *({"part": "marks", "text": text} for text in THREE),
    *(
        {
            "part": "windows",
            "text": text,
            "window": window,
            "kept": kept,
            "group": group,
        }
        for pairs, groups in (
            (GRID, range(1)),
            (CENTRAL, range(1, GROUPS)),
            (CONTROLS, range(1, GROUPS // 2)),
        )
        for group in groups
        for window, kept in pairs
        for text in THREE
    ),
]


def measure(settings: many.Settings) -> many.Run:
    """What one part finds on one text.

    Args:
        settings: one of ``PLAN``.

    Returns:
        run: what ``weights``, ``first_token``, ``ablation``, ``controls``, ``marks``
            or ``sliding`` returns.
    """
    text = settings["text"]
    if settings["part"] == "weights":
        ids = windows(text, PIECES, LENGTH)
        chosen = weights(ids[::2])
        few = {name: chosen[name] for name in ("first", "heads")}
        return {"chosen on": few, "test": weights(ids[1::2])}
    if settings["part"] in ("first token", "ablation"):
        tested = windows(text, PIECES, LENGTH)[1::2, :SHORT]
        if settings["part"] == "first token":
            return first_token(tested[:16])
        return ablation(tested[:12], other=1 + 2 * THREE.index(text))
    if settings["part"] == "controls":
        short = windows(text, PIECES, LENGTH)[:, :SHORT]
        return controls(short[1::2][:12], short[::2], sink_heads())
    if settings["part"] == "marks":
        short = windows(text, PIECES, LENGTH)[:, :SHORT]
        found = marks(short[1::2][:12], sink_heads(), place=PLACE)
        return {"first tokens": len(short[::2, 0].unique()), **found}
    pieces = windows(text, 4 * GROUPS, LONG)[settings["group"] :: GROUPS]
    return {"losses": sliding(pieces, settings["window"], settings["kept"])}


@functools.cache
def sink_heads() -> Tensor:
    """Which heads (L, H) give the first token over half of their weight.

    On pieces of two texts with and without many newlines, from the half to choose on.
    """
    model, _ = smollm2()
    pieces = [
        windows(text, PIECES, LENGTH)[::2][::4] for text in ("shakespeare", "code")
    ]
    with torch.no_grad():
        _, found = model(torch.cat(pieces), return_weights=True)
    first: Tensor = torch.stack(found)[:, :, :, LEAST:, 0].mean(dim=(1, 3))
    return first > 0.5


def first_token(ids: Tensor) -> many.Run:
    """Whether the place or the token is the sink: other tokens stand first.

    Args:
        ids: (N, T) int64.

    Returns:
        found: from each variant to dicts of lists, a number a text: the mean weight of
            the ``sink_heads`` on the token at place "0" and at place "32", over queries
            from 40 on, and the norm that the residual stream has there behind layer 12;
            the number of all "heads" that give place 0 over half of their weight; and
            the mean norms there at the first six "places".
    """
    found = {}
    for name, (variant, alone) in variants(ids).items():
        mask = causal_mask(variant.shape[1])
        if alone:
            mask[PLACE, :PLACE] = False
        rows, stream, heads = _resting(variant, mask)
        places = rounded(stream[:, :6].mean(dim=0))
        found[name] = {"heads": heads, "places": places} | {
            f"{what} {place}": rounded(one[:, place])
            for what, one in (("weight", rows), ("norm", stream))
            for place in (0, PLACE)
        }
    return found


def variants(ids: Tensor) -> dict[str, tuple[Tensor, bool]]:
    """Texts that begin otherwise, or have their first token at ``PLACE``, too.

    Args:
        ids: (N, T) int64.

    Returns:
        variants: from names to ids, and whether place 32 sees nothing but itself.
    """
    _, tokenizer = smollm2()
    generator = torch.Generator().manual_seed(1)
    words = torch.randint(17, tokenizer.vocab_size, (len(ids),), generator=generator)

    def put(place: int, token: Tensor | int) -> Tensor:
        changed = ids.clone()
        changed[:, place] = token
        return changed

    newline = tokenizer.encode("\n")[0]
    same = ids.clone()
    same[:, 1:4] = ids[:, :1]
    return {
        "as it is": (ids, False),
        "end of text first": (put(0, 0), False),
        "newline first": (put(0, newline), False),
        "a random token first": (put(0, words), False),
        "first token four times": (same, False),
        "cut off by 16": (ids.roll(-16, dims=1)[:, :-16], False),
        "end of text inside": (put(PLACE, 0), False),
        "first token again inside": (put(PLACE, ids[:, 0]), False),
        "sees itself alone inside": (ids, True),
    }


def _resting(ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, list[int]]:
    """The mean weight (N, T) of sink heads on each place, the stream's norms (N, T),
    and how many heads of all rest on place 0."""
    model, _ = smollm2()
    cores = {layer: Masked(mask) for layer in LAYERS}
    stream = Part("stream", MARKS + 2)
    rows, norms, heads = [], [], []
    for batch in ids.split(8):
        with masked(model, cores), watched(model, [stream]) as given, torch.no_grad():
            model(batch)
        table = torch.stack([cores[layer].weights for layer in LAYERS], dim=1)
        late = table[..., PLACE + LEAST :, :].mean(dim=-2)  # (B, L, H, T)
        rows.append(late[:, sink_heads()].mean(dim=1))
        norms.append(given[stream].norm(dim=-1))
        heads += (late[..., 0] > 0.5).sum(dim=(1, 2)).tolist()
    return torch.cat(rows), torch.cat(norms), heads


def ablation(ids: Tensor, *, other: int) -> many.Run:
    """What is lost where the first token, or another early one, can't be rested on.

    Args:
        ids: (N, T) int64.
        other: the place of that other token.

    Returns:
        found: from each condition to the losses of the texts in nats per token, over
            the tokens from place 16 on (a list of them for each draw of "other
            heads"); "weight" beside those that change the stream:
            the mean weight of the ``sink_heads`` on the first token.
    """
    T = ids.shape[1]
    generator = torch.Generator().manual_seed(2)
    sinking, causal = sink_heads(), causal_mask(T)
    found: many.Run = {"other": other, "sink heads": int(sinking.sum())}

    def column(place: int) -> Tensor:
        later = torch.zeros(T, T, dtype=torch.bool)
        later[place + 1 :, place] = True  # the token goes on to see itself
        return later

    def cores(place: int, heads: Tensor, *, values: bool) -> dict[int, Masked]:
        made = {}
        for layer in LAYERS:
            hidden = heads[layer][:, None, None] & column(place)  # (H, T, T)
            mask = causal if values else causal & ~hidden
            made[layer] = Masked(mask, hidden if values else None)
        return made

    for name, of in (("key", False), ("value", True)):
        for place in (0, other):
            key = f"{name} of {'the first' if place == 0 else 'another'}"
            found[key] = losses_under(ids, cores(place, sinking, values=of))
    found["key of the first, other heads"] = [
        losses_under(ids, cores(0, _as_many_others(sinking, generator), values=False))
        for _ in range(DRAWS)
    ]
    for name, kind in (
        ("whole", "own"),
        ("unmarked", "none"),
        ("another mark", "another text's"),
    ):
        watching = {layer: Masked(causal) for layer in LAYERS}
        losses, resting = [], []
        for batch in ids.split(6):
            with _mark(batch, kind):
                losses += losses_under(batch, watching)
            table = torch.stack([watching[one].weights for one in LAYERS], dim=1)
            late = table[..., LEAST:, 0].mean(dim=-1)
            resting += rounded(late[:, sinking].mean(dim=1))
        found[name], found[f"{name}, weight"] = losses, resting
    return found


def _as_many_others(heads: Tensor, generator: torch.Generator) -> Tensor:
    """As many heads that are none of these, drawn at random from the same layers on."""
    free = ~heads
    free[: int(heads.any(dim=1).nonzero()[0])] = False
    places = free.nonzero()
    drawn = places[torch.randperm(len(places), generator=generator)[: int(heads.sum())]]
    others = torch.zeros_like(heads)
    others[drawn[:, 0], drawn[:, 1]] = True
    return others


def _mark(ids: Tensor, kind: str) -> Any:
    """What the MLP of layer 11 adds at the first place is changed.

    Args:
        ids: (B, T) int64.
        kind: "own", unchanged; "none", what it adds elsewhere on average; "another
            text's", of the batch.
    """
    model, _ = smollm2()
    if kind == "own":
        return replaced(model, {})
    part = Part("mlp", MARKS)
    with watched(model, [part]) as given, torch.no_grad():
        model(ids)
    added = given[part].clone()
    if kind == "none":
        added[:, 0] = added[:, LEAST:].mean(dim=1)
    else:
        added[:, 0] = added[:, 0].roll(1, dims=0)
    return replaced(model, {part: added})
