"""What the name movers are worth, counted in several ways.

Source: Wang et al. 2022, sections 3.1 and 3.4; McDougall et al. 2023, section 4 (heads
that answer for others).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from experiments import many
from experiments.real_model.circuit_ablation import LOOKING, queries
from experiments.real_model.circuit_switches import SETS
from experiments.real_model.heads import Head, features, without
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.prompts import HALVES, Prompts, direct_effect, prompts
from experiments.real_model.two_prompts import MOVERS, over_frames
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, PathPatched, watched

ANSWERING: Head = (24, 4)
HELD: dict[str, tuple[Head, ...]] = {
    "24.4": (ANSWERING,),
    "others of 24": tuple((24, head) for head in range(9) if head != ANSWERING[1]),
}
ADDING = ("movers", "24.4")
Contexts = dict[Head, float | Tensor]


class Asked(NamedTuple):
    """Prompts of which one name is right.

    Attributes:
        of: the prompts that they are from, with all names.
        ids: (B, T).
        other: (B, T), where the other name is right.
        right: (B,), the token of the right name.
        wrong: (B,), the giver's.
    """

    of: Prompts
    ids: Tensor
    other: Tensor
    right: Tensor
    wrong: Tensor

    def named(self, logits: Tensor) -> dict[str, Tensor]:
        """The lead, and both names above the mean over all names, from (B, V)."""
        both = [self.of.above_others(logits, one) for one in (self.right, self.wrong)]
        return {"lead": both[0] - both[1], "right name": both[0], "giver": both[1]}


def movers(half: str, *, count: int = 8) -> many.Run:
    """The lead and its two names without some heads, and what those add to them.

    Each prompt is read with either of its names as the giver. All numbers but the share
    are logits: of the "lead", and of its two names, above the mean over all names.

    Returns:
        found: a dict of means and intervals over frames. The share of prompts in which
            the right name "leads"; each number "as it is"; by how much it falls without
            each of ``SETS`` and without its "others", where heads give "zeros" or
            "means" (over prompts in which a third name gives), such as "lead, name
            movers off, zeros"; and where 19.2 and 20.0 are "swapped" into the movers'
            queries. The last two also where ``HELD`` heads of layer 24 give what they
            give as it is. What the "movers" and "24.4" add to each number, as it is,
            swapped, and with movers off.
    """
    model, _ = smollm2()
    return over_frames(
        [of_frame(model, prompts(half, frame, count)) for frame in HALVES[half][0]]
    )


def of_frame(model: TransformerLM, of: Prompts) -> dict[str, float]:
    """What ``movers`` says of one frame."""
    two = (
        Asked(of, of.clean, of.swapped, of.answer, of.subject),
        Asked(of, of.swapped, of.clean, of.subject, of.answer),
    )
    means = mean_contexts(model, of)
    row = read(model, two, "as it is", added=ADDING)
    plain = {one.removesuffix(", as it is"): x for one, x in row.items()}
    ways: dict[str, dict[str, Any]] = {"swapped": {"steered": True}}
    for name, (heads, others) in SETS.items():
        for whose, several in ((name, heads), (f"others than {name}", others)):
            ways[f"{whose} off, zeros"] = {"off": dict.fromkeys(several, 0.0)}
            ways[f"{whose} off, means"] = {"off": {one: means[one] for one in several}}
    for title in [one for one in ways if one.startswith(("name movers", "swapped"))]:
        for name, heads in HELD.items():
            ways[f"{title}, {name} held"] = ways[title] | {"held": heads}
        ways[title]["added"] = ADDING
    for title, way in ways.items():
        found = read(model, two, title, **({"added": ()} | way))
        for one, x in found.items():
            name = one.split(", ")[0]
            row[one] = x if name in ADDING else plain[name] - x
    return {one: x for one, x in row.items() if one[:5] != "leads" or "as it" in one}


def mean_contexts(model: TransformerLM, of: Prompts) -> dict[Head, Tensor]:
    """The mean context (T, D) of each head of ``SETS`` where a third name gives."""
    heads = {one for several in SETS.values() for few in several for one in few}
    parts = [Part("context", *one) for one in sorted(heads)]
    with torch.no_grad(), watched(model, parts) as given:
        model(of.third)
    return {
        (part.layer, part.head or 0): rows.mean(dim=0) for part, rows in given.items()
    }


def read(
    model: TransformerLM,
    two: Iterable[Asked],
    title: str,
    *,
    off: Mapping[Head, float | Tensor] | None = None,
    steered: bool = False,
    held: Sequence[Head] = (),
    added: Iterable[str] = (),
) -> dict[str, float]:
    """The numbers of ``movers`` in one way.

    Args:
        model: the model.
        two: the prompts, with either name as the giver.
        title: what stands behind each number's name.
        off: what some heads give instead.
        steered: the movers' queries see 19.2 and 20.0 as of the other prompts.
        held: they give what they give as it is.
        added: whose additions to the logits are wanted, "movers" or "24.4".
    """
    rows: dict[str, list[Tensor]] = {}
    layers = [Part("context", layer) for layer in (MOVERS[0][0], ANSWERING[0])]
    for one in two:
        contexts: Contexts = dict(off or {})
        with torch.no_grad():
            if held:
                parts = [Part("context", *head) for head in held]
                with watched(model, parts) as given:
                    model(one.ids)
                contexts |= {head: given[Part("context", *head)] for head in held}
            through = swapped(model, one) if steered else model
            with without(model, contexts), watched(model, layers) as given:
                logits, end = with_end(model, through, one.ids)
        numbers = {"leads": (one.named(logits)["lead"] > 0).double()}
        numbers |= one.named(logits)
        for whose in added:
            heads = MOVERS if whose == "movers" else (ANSWERING,)
            effect = torch.zeros_like(logits)
            for head in heads:
                context = given[Part("context", head[0])][:, -1]
                effect += direct_effect(
                    model, context[:, features(model, head[1])], head, end
                )
            numbers |= {f"{whose}, {to}": x for to, x in one.named(effect).items()}
        for name, found in numbers.items():
            rows.setdefault(f"{name}, {title}", []).append(found)
    return {name: torch.cat(several).mean().item() for name, several in rows.items()}


def swapped(model: TransformerLM, one: Asked) -> PathPatched:
    """The model whose movers' queries see 19.2 and 20.0 at the end as of the other."""
    parts = [Part("context", *head) for head in LOOKING]
    with torch.no_grad():
        with watched(model, parts) as given:
            model(one.other)
        theirs = dict(given)
        with watched(model, parts) as given:
            model(one.ids)
    sent = {part: given[part].clone() for part in parts}
    for part, rows in sent.items():
        rows[:, -1] = theirs[part][:, -1]
    return PathPatched(model, dict(sent), queries(*MOVERS), through_mlps=True)


def with_end(
    model: TransformerLM, through: nn.Module, ids: Tensor
) -> tuple[Tensor, Tensor]:
    """The logits (B, V) at the last position, and what the final norm reads there."""
    last: list[Tensor] = []
    hook = model.final_norm.register_forward_pre_hook(
        lambda _, inputs: last.append(inputs[0][:, -1])
    )
    logits = through(ids)[:, -1]
    hook.remove()
    return logits, last[-1]
