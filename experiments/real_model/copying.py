"""Induction heads of SmolLM2: who copies what came next the last time, and how.

Scores of all heads on random tokens told twice ("scores"), and on the weights alone
("matrices"); the loss of the second copy without the heads of the highest scores,
beside the next ones and others of the same layers ("switched off"), for other lengths
and tokens ("other texts"), for pieces of real texts ("real texts"), and for made-up
names that sentences say twice ("names");
and whether the induction heads' weights need the previous-token heads ("composition"),
of which one alone is switched off, too ("one head").

Heads are chosen on the first half of the texts, and switched off on the other half.

Source: Elhage et al. 2021, "Induction Heads"; Olsson et al. 2022, sections 2 and 4;
Wang et al. 2022, section 3 (path patching).
"""

import itertools
from collections.abc import Sequence

from torch import Tensor

from experiments import many
from experiments.real_model.copying_composition import composition, first_previous
from experiments.real_model.copying_losses import (
    beside,
    finished,
    losses,
    means,
    padded,
)
from experiments.real_model.copying_scores import (
    HEADS,
    SCORED,
    SWITCHED,
    TESTED,
    chosen,
    matrices,
    of_real_texts,
    ranked,
    scores,
    told_twice,
)
from experiments.real_model.heads import Head, head_name
from experiments.real_model.intervals import rounded
from helpers.text.repeated_names import repeated_names

FEW, DRAWS = (1, 2, 4, 8, 16, 32), 20
DRAWN = (8, 16)  # of FEW, beside as many heads drawn at random
OTHERS = (
    *(("all", 10, True), ("all", 25, True), ("all", 100, True)),
    *(("frequent", 25, True), ("rare", 25, True), ("all", 25, False)),
)
PLAN: list[many.Settings] = [
    {"part": part}
    for part in (
        *("scores", "names", "switched off", "composition", "matrices"),
        *("one head", "real texts"),
    )
]
PLAN += [
    {"part": "other texts", "tokens": tokens, "length": length, "start": start}
    for tokens, length, start in OTHERS
]


def measure(settings: many.Settings) -> many.Run:
    """What one part finds.

    Args:
        settings: one of ``PLAN``.

    Returns:
        run: what the function of that part returns.
    """
    if settings["part"] == "other texts":
        ids = told_twice(
            *(TESTED, "test"), length=settings["length"], tokens=settings["tokens"]
        )
        return other_texts(ids if settings["start"] else ids[:, 1:])
    parts = {
        "scores": scores_of_halves,
        "matrices": matrices,
        "switched off": switched_off,
        "names": names,
        "composition": composition,
        "one head": one_head,
        "real texts": real_texts,
    }
    return parts[settings["part"]]()


def scores_of_halves() -> many.Run:
    """The scores of both halves.

    Returns:
        found: from "choose" and "test" to dicts of each score's means by layer and
            head; "errors", the standard errors of the test half's prefix scores; and
            "losses", of each text of the test half, on the first and the second copy.
    """
    tested = told_twice(SCORED, "test")
    halves = {"choose": chosen(), "test": scores(tested)}
    found: many.Run = {
        half: {name: rounded(one.mean(dim=-1)) for name, one in of._asdict().items()}
        for half, of in halves.items()
    }
    prefix = halves["test"].prefix
    found["errors"] = rounded(prefix.std(dim=-1) / prefix.shape[-1] ** 0.5)
    found["losses"] = [rounded(one) for one in losses(tested)]
    return found


def switched_off() -> many.Run:
    """The test half's losses without some heads.

    Returns:
        found: "heads", the 32 of the highest prefix scores on the first half; and from
            "whole", "zeros 8", "means 8", "next zeros 8" and so on to the losses of the
            first and of the second copy, a list of the texts' each; from "drawn
            zeros 8" and so on to the means of both losses, of each draw.
    """
    ids = told_twice(TESTED, "test")
    order, mean = ranked(chosen().prefix), means(told_twice(TESTED, "choose"))
    found: many.Run = {"heads": [head_name(one) for one in order[: FEW[-1]]]}

    def lost(heads: Sequence[Head], kind: str) -> list[Tensor]:
        return losses(
            ids, {one: 0.0 if kind == "zeros" else mean[one] for one in heads}
        )

    found["whole"] = list(map(rounded, losses(ids)))
    for kind, k in itertools.product(("zeros", "means"), FEW):
        found[f"{kind} {k}"] = list(map(rounded, lost(order[:k], kind)))
    for kind, k in itertools.product(("zeros", "means"), (4, *DRAWN)):
        found[f"next {kind} {k}"] = list(map(rounded, lost(order[k : 2 * k], kind)))
    for kind, k in [*(("zeros", k) for k in DRAWN), ("means", SWITCHED)]:
        found[f"drawn {kind} {k}"] = [
            [round(float(one.mean()), 4) for one in lost(beside(order[:k], seed), kind)]
            for seed in range(DRAWS)
        ]
    return found


def other_texts(ids: Tensor) -> many.Run:
    """The losses on texts of another kind, whole and without some heads.

    Args:
        ids: (B, 1 + 2n) or (B, 2n).

    Returns:
        found: "whole", without the eight heads of the highest prefix scores, "top", and
            without eight "drawn" three times: the losses of both copies, as from
            ``switched_off``.
    """
    top = ranked(chosen().prefix)[:SWITCHED]
    found: many.Run = {
        "whole": list(map(rounded, losses(ids))),
        "top": list(map(rounded, losses(ids, dict.fromkeys(top, 0.0)))),
    }
    draws = [losses(ids, dict.fromkeys(beside(top, seed), 0.0)) for seed in range(3)]
    found["drawn"] = [[round(float(one.mean()), 4) for one in draw] for draw in draws]
    return found


def real_texts() -> many.Run:
    """The losses on pieces of three real texts told twice, without some heads.

    Returns:
        found: "whole", and with "zeros 8" and "means 8" in place of the eight heads of
            the highest prefix scores, the losses of both copies, as from
            ``switched_off``; of each draw of eight others, "drawn zeros 8".
    """
    asked = {half: of_real_texts(half) for half in ("choose", "test")}
    top, mean = ranked(chosen().prefix)[:SWITCHED], means(asked["choose"])
    ids = asked["test"]
    found: many.Run = {"whole": list(map(rounded, losses(ids)))}
    for kind in ("zeros", "means"):
        instead = {one: 0.0 if kind == "zeros" else mean[one] for one in top}
        found[f"{kind} {SWITCHED}"] = list(map(rounded, losses(ids, instead)))
    draws = [
        losses(ids, dict.fromkeys(beside(top, seed), 0.0)) for seed in range(DRAWS)
    ]
    found[f"drawn zeros {SWITCHED}"] = [
        [round(float(one.mean()), 4) for one in draw] for draw in draws
    ]
    return found


def names() -> many.Run:
    """How well the second mention of a made-up name is finished, without some heads.

    Returns:
        found: for each condition, a dict of the "loss" and the "logit" (above the mean
            of all logits) of a name's tokens behind the first one, each a list, a
            number a sentence; "drawn zeros 8" has means over every second sentence, a
            number a draw. "another" has another name in the first mention. All are of
            the test half but those with "choose".
    """
    asked = {half: repeated_names(test=half == "test") for half in ("choose", "test")}
    order, mean = ranked(chosen().prefix), means(*padded(asked["choose"]))
    found: many.Run = {"templates": [one.template for one in asked["test"]]}
    for half, prefix in (("test", ""), ("choose", "choose, ")):
        for what in ("whole", "another"):
            found[prefix + what] = finished(asked[half], {}, what == "another")

    def lost(
        heads: Sequence[Head], kind: str, *, another: bool = False, step: int = 1
    ) -> dict[str, list[float]]:
        instead = {one: 0.0 if kind == "zeros" else mean[one] for one in heads}
        return finished(asked["test"][::step], instead, another)

    for kind, k in itertools.product(("zeros", "means"), (4, 8, 16, 32)):
        found[f"{kind} {k}"] = lost(order[:k], kind)
    for k in (8, 32):
        found[f"another, zeros {k}"] = lost(order[:k], "zeros", another=True)
    for kind in ("zeros", "means"):
        found[f"next {kind} 8"] = lost(order[8:16], kind)
    draws = [lost(beside(order[:8], seed), "zeros", step=2) for seed in range(DRAWS)]
    found["drawn zeros 8"] = {
        what: [round(sum(one[what]) / len(one[what]), 4) for one in draws]
        for what in ("loss", "logit")
    }
    return found


def one_head() -> many.Run:
    """What is lost without the first previous-token head alone.

    Returns:
        found: the "head", the one of the highest score before the induction heads; from
            "zeros", "means" and "names, zeros" and so on to what the test half loses
            without it, as in ``switched_off`` and ``names``; and from "others" and
            "names, others" to the mean losses without each other head of its layer
            (zeros): of both copies, and of every second sentence.
    """
    ids, mean = told_twice(TESTED, "test"), means(told_twice(TESTED, "choose"))
    asked = {half: repeated_names(test=half == "test") for half in ("choose", "test")}
    in_names = means(*padded(asked["choose"]))
    head = first_previous()
    found: many.Run = {"head": head_name(head)}
    for kind, instead in (("zeros", 0.0), ("means", mean[head])):
        found[kind] = list(map(rounded, losses(ids, {head: instead})))
    for kind, instead in (("zeros", 0.0), ("means", in_names[head])):
        found[f"names, {kind}"] = finished(asked["test"], {head: instead}, False)
    others = [(head[0], other) for other in range(HEADS) if other != head[1]]
    rows = [losses(ids, {one: 0.0}) for one in others]
    found["others"] = [[round(float(one.mean()), 4) for one in row] for row in rows]
    ends = [finished(asked["test"][::2], {one: 0.0}, False)["loss"] for one in others]
    found["names, others"] = [round(sum(one) / len(one), 4) for one in ends]
    return found
