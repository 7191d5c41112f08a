"""What reaches one head through another, and what a circuit does alone.

Source: Wang et al. 2022, sections 3 and 4; Goldowsky-Dill et al. 2023.
"""

import contextlib
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from experiments import many
from experiments.real_model.heads import Head, drawn, features
from experiments.real_model.intervals import interval, rounded
from experiments.real_model.prefixes import read, repeated
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.prompts import HALVES, Prompts, prompts
from experiments.real_model.two_prompts import (
    AT_AGAIN,
    AT_END,
    LOWERING,
    MOVERS,
    Direction,
    over_frames,
)
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, PathPatched, watched

DRAWS = 20


def by_path(half: str, *, count: int = 4) -> many.Run:
    """What reaches one head through another, by path patching, MLPs included.

    In the clean prompt, the sender gives at its position what it gives in the swapped
    one; the receivers alone see it.

    Returns:
        found: a dict from paths to mean and interval over frames of the share of the
            difference that is lost, and of the "logits" of it.
    """
    model, _ = smollm2()
    rows: list[dict[str, float]] = []
    for frame in HALVES[half][0]:
        of = prompts(half, frame, count)
        way = Direction(model, of, of.swapped, of.clean)
        shares = {
            path: lost_by_path(model, of, way, senders, receivers, at)
            for path, (senders, receivers, at) in PATHS.items()
        }
        logits = {f"logits, {path}": way.moved(one) for path, one in shares.items()}
        rows.append(shares | logits)
    return over_frames(rows)


def queries(*heads: Head) -> list[Part]:
    """The queries of some heads."""
    return [Part("queries", *head) for head in heads]


def values(*heads: Head) -> list[Part]:
    """The values of some heads, of which three share one."""
    return sorted({Part("values", layer, head // 3) for layer, head in heads})


LOOKING: tuple[Head, ...] = ((19, 2), (20, 0))
TURNING: tuple[Head, ...] = (*LOOKING, (23, 3))  # swapped at once, the lead turns
OTHERS: tuple[tuple[Head, ...], ...] = (((19, 4), (20, 3)), ((19, 7), (20, 6)))
PATHS: dict[str, tuple[tuple[Head, ...], list[Part], int]] = {
    "19.2 and 20.0 to queries of name movers": (LOOKING, queries(*MOVERS), -1),
    "19.2 and 20.0 to queries of 23.3": (LOOKING, queries((23, 3)), -1),
    "19.4 and 20.3 to queries of name movers": (OTHERS[0], queries(*MOVERS), -1),
    "19.7 and 20.6 to queries of name movers": (OTHERS[1], queries(*MOVERS), -1),
    "17.4 to values of 19.2 and 20.0": (((17, 4),), values(*LOOKING), 0),
    "17.4 to values of 23.3": (((17, 4),), values((23, 3)), 0),
    "17.0 to values of 19.2 and 20.0": (((17, 0),), values(*LOOKING), 0),
}


def lost_by_path(
    model: TransformerLM,
    of: Prompts,
    way: Direction,
    senders: Sequence[Head],
    receivers: Sequence[Part],
    at: int,
) -> float:
    """The share of the difference that goes with one path."""
    place = of.again if at == 0 else of.clean.shape[1] - 1
    parts = [Part("context", *head) for head in senders]
    with torch.no_grad():
        with watched(model, parts) as given:
            whole = of.difference(model(of.clean)).mean()
        sent: dict[Part, Any] = {}
        for part in parts:
            one = given[part].clone()
            swapped = way.given[Part("context", part.layer)][:, place - of.again]
            one[:, place] = swapped[:, features(model, part.head or 0)]
            sent[part] = one
        patched = PathPatched(model, sent, receivers, through_mlps=True)
        after = of.difference(patched(of.clean)).mean()
    return float((whole - after) / -way.whole)


@contextlib.contextmanager
def ablated(
    model: TransformerLM, means: Sequence[Tensor], kept: Tensor
) -> Iterator[None]:
    """Heads give their mean at all positions but those where they are kept.

    Args:
        model: the model.
        means: of each layer (T, C), the contexts of all heads side by side.
        kept: (num_layers, T, H) boolean.
    """
    D = model.config.d_model // model.config.num_heads

    def hook(layer: int) -> Callable[[nn.Module, tuple[Tensor]], tuple[Tensor]]:
        own = kept[layer].repeat_interleave(D, dim=-1)  # (T, C)
        return lambda _, inputs: (torch.where(own, inputs[0], means[layer]),)

    with contextlib.ExitStack() as stack:
        for layer, block in enumerate(model.blocks):
            module = block.get_submodule("attention.out_proj")
            stack.callback(module.register_forward_pre_hook(hook(layer)).remove)
        yield


def ablation(half: str, *, count: int = 8, draws: int = DRAWS) -> many.Run:
    """What the circuit does alone, and what is left without it, beside other heads.

    From the second mention on, heads that aren't kept give their mean over prompts in
    which a third name gives; what stands before it is read as it is.

    Returns:
        found: a dict of shares of the whole difference, mean and interval over frames,
            by what ``kept_heads`` lists; the same for heads drawn at random, and drawn
            from the "same layers", mean and interval over draws, and the least and the
            most of a draw; of all these, what is left of the "lead" in logits, and the
            lead itself.
    """
    model, _ = smollm2()
    rows: list[dict[str, float]] = []
    of_draws: dict[str, list[list[float]]] = {}
    for frame in HALVES[half][0]:
        of = prompts(half, frame, count)
        left, T = keeping(model, of), of.clean.shape[1] - of.again
        with torch.no_grad():
            whole = float(of.difference(model(of.clean)).mean())
        shares = {one: left(kept) for one, kept in kept_heads(model, T).items()}
        rows.append(shares | {f"lead, {one}": whole * x for one, x in shares.items()})
        rows[-1]["lead"] = whole
        anywhere, layerwise = random.Random(0), random.Random(1)
        several = [  # the same heads for each frame
            random_heads(model, T, anywhere) | in_same_layers(model, T, layerwise)
            for _ in range(draws)
        ]
        for one in several[0]:
            each = [left(masks[one]) for masks in several]
            of_draws.setdefault(one, []).append(each)
            of_draws.setdefault(f"lead, {one}", []).append([whole * x for x in each])
    found: many.Run = over_frames(rows)
    for one, of_frames in of_draws.items():
        means = torch.tensor(of_frames).mean(dim=0).tolist()
        found[one] = interval(means)
        found[f"range of {one}"] = rounded(torch.tensor([min(means), max(means)]))
    return found


def falls(half: str, *, count: int = 8) -> many.Run:
    """By how many logits the lead falls where only some heads are kept, as in ablation.

    Returns:
        found: a dict of mean and interval over frames, by what ``kept_heads`` and
            ``kept_without`` list; and the share of prompts in which the right name
            "leads" then, such as "leads, circuit", or as it is ("leads, all").
    """
    model, _ = smollm2()
    rows: list[dict[str, float]] = []
    for frame in HALVES[half][0]:
        of = prompts(half, frame, count)
        leads, T = leads_keeping(model, of), of.clean.shape[1] - of.again
        with torch.no_grad():
            whole = of.difference(model(of.clean))
        kept = kept_heads(model, T) | kept_without(model, T)
        left = {"all": whole} | {one: leads(mask) for one, mask in kept.items()}
        row = {one: float((whole - left[one]).mean()) for one in kept}
        shares = {one: (lead > 0).double().mean() for one, lead in left.items()}
        rows.append(row | {f"leads, {one}": float(x) for one, x in shares.items()})
    return over_frames(rows)


def kept_without(model: TransformerLM, T: int) -> dict[str, Tensor]:
    """All heads but three of the circuit, or but its other eleven, as in kept_heads."""
    others = [one for one in AT_END if one not in TURNING]
    return {
        "without the three": ~mask_of(model, T, (), TURNING),
        "without the eleven": ~mask_of(model, T, AT_AGAIN, others),
    }


def kept_heads(model: TransformerLM, T: int) -> dict[str, Tensor]:
    """Which heads are kept where, each (num_layers, T, H).

    "all at the end": no head at the second mention and behind it, but all at the end.
    "circuit and below": also all heads of the layers before the circuit's first, at the
    second mention. "circuit at the end": at the end only those of the circuit, and all
    elsewhere. The last two keep all but those of the circuit.
    """
    raising = [one for one in AT_END if one not in LOWERING]
    heads = list(
        itertools.product(range(AT_AGAIN[0][0]), range(model.config.num_heads))
    )
    at_end = mask_of(model, T, (), AT_END)
    everywhere = torch.ones_like(at_end)
    everywhere[:, -1] = False
    only_end = ~everywhere
    return {
        "none": torch.zeros_like(at_end),
        "all at the end": only_end,
        "circuit": mask_of(model, T, AT_AGAIN, AT_END),
        "raising": mask_of(model, T, AT_AGAIN, raising),
        "circuit and below": mask_of(model, T, [*AT_AGAIN, *heads], AT_END),
        "circuit at the end": everywhere | at_end,
        "without circuit": ~mask_of(model, T, AT_AGAIN, AT_END),
        "without circuit at the end": ~at_end,
    }


def keeping(model: TransformerLM, of: Prompts) -> Callable[[Tensor], float]:
    """From a mask of kept heads to the share of the difference that is left."""
    leads = leads_keeping(model, of)
    with torch.no_grad():
        whole = of.difference(model(of.clean)).mean()
    return lambda kept: float(leads(kept).mean() / whole)


def leads_keeping(model: TransformerLM, of: Prompts) -> Callable[[Tensor], Tensor]:
    """From a mask of kept heads to the difference that is left of each prompt, (B,)."""
    before = of.clean[:, : of.again]
    cache = read(model, before)
    behind = of.clean[:, of.again :]
    parts = [Part("context", layer) for layer in range(model.config.num_layers)]
    with torch.no_grad():
        with watched(model, parts) as given:
            model(of.third)
        means = [given[part][:, of.again :].mean(dim=0) for part in parts]

    def leads(kept: Tensor) -> Tensor:
        with torch.no_grad(), ablated(model, means, kept):
            return of.difference(model(behind, cache=repeated(cache, before)))

    return leads


def mask_of(
    model: TransformerLM, T: int, at_again: Sequence[Head], at_end: Sequence[Head]
) -> Tensor:
    """Which heads are kept where, (num_layers, T, H)."""
    kept = torch.zeros(
        model.config.num_layers, T, model.config.num_heads, dtype=torch.bool
    )
    for place, heads in ((0, at_again), (T - 1, at_end)):
        for layer, head in heads:
            kept[layer, place, head] = True
    return kept


def random_heads(model: TransformerLM, T: int, rng: random.Random) -> dict[str, Tensor]:
    """The same for as many heads of the same range of layers outside of the circuit."""
    layers = range(AT_AGAIN[0][0], model.config.num_layers)
    heads = list(itertools.product(layers, range(model.config.num_heads)))
    others = [one for one in heads if one not in {*AT_AGAIN, *AT_END}]
    again, end = rng.sample(others, len(AT_AGAIN)), rng.sample(others, len(AT_END))
    return _masks(model, T, again, end, "")


def in_same_layers(
    model: TransformerLM, T: int, rng: random.Random
) -> dict[str, Tensor]:
    """The same for other heads, of each layer as many as the circuit has there.

    Layer 23 has only four others beside the circuit's five.
    """
    return _masks(model, T, drawn(AT_AGAIN, rng), drawn(AT_END, rng), ", same layers")


def _masks(
    model: TransformerLM, T: int, again: Sequence[Head], end: Sequence[Head], name: str
) -> dict[str, Tensor]:
    everywhere = torch.ones_like(mask_of(model, T, (), ()))
    everywhere[:, -1] = False
    return {
        f"random{name}": mask_of(model, T, again, end),
        f"random at the end{name}": everywhere | mask_of(model, T, (), end),
        f"without random{name}": ~mask_of(model, T, again, end),
    }
