"""Induction heads of SmolLM2: who copies what came next the last time, and how.

Scores of all heads on random tokens told twice ("scores"), and on the weights alone
("matrices"); the loss of the second copy without the heads of the highest scores,
beside the next ones and others of the same layers ("switched off"), for other lengths
and tokens ("other texts"), and for made-up names that sentences say twice ("names");
and whether the induction heads' weights need the previous-token heads ("composition"),
of which one alone is switched off, too ("one head").

Heads are chosen on the first half of the texts, and switched off on the other half.

Source: Elhage et al. 2021, "Induction Heads"; Olsson et al. 2022, sections 2 and 4;
Wang et al. 2022, section 3 (path patching).
"""

import functools
import itertools
import random
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from experiments import many
from experiments.real_model.attending import Masked, masked
from experiments.real_model.pretrained_models import smollm2
from helpers.attention import causal_mask
from helpers.models.induction import after_the_same
from helpers.models.patching import Part, PathPatched, replaced, watched
from helpers.text.repeated_names import Repeated, repeated_names

Head = tuple[int, int]  # its layer and number, from 0
LAYERS, HEADS, SHARED = 30, 9, 3  # heads; three of them share keys and values
COPY = 25  # tokens of a copy
SCORED, TESTED = 100, 12  # texts in each half; of the test half, without some heads
FEW, DRAWS = (1, 2, 4, 8, 16, 32), 20
DRAWN = (8, 16)  # of FEW, beside as many heads drawn at random
SWITCHED = 8  # heads, where one number must do
START = 0  # <|endoftext|>, with which a document began in training
RANGES = {"all": (17, 49152), "frequent": (300, 3000), "rare": (40000, 49152)}
OTHERS = (
    *(("all", 10, True), ("all", 25, True), ("all", 100, True)),
    *(("frequent", 25, True), ("rare", 25, True), ("all", 25, False)),
)
PLAN: list[many.Settings] = [
    {"part": part}
    for part in (
        *("scores", "names", "switched off", "composition", "matrices"),
        "one head",
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
    }
    return parts[settings["part"]]()


def told_twice(
    count: int, half: str, *, length: int = COPY, tokens: str = "all"
) -> Tensor:
    """Random tokens, each once in a copy, told twice behind a start token.

    Args:
        count: how many texts.
        half: "choose" or "test", which gives other texts.
        length: n, tokens of a copy.
        tokens: which ones, of ``RANGES``.

    Returns:
        ids: (count, 1 + 2n)
    """
    rng = random.Random(f"{half} {length} {tokens}")
    copies = [rng.sample(range(*RANGES[tokens]), length) for _ in range(count)]
    return torch.tensor([[START, *copy, *copy] for copy in copies])


class Scores(NamedTuple):
    """What each head does on texts told twice, each (L, H, B).

    Attributes:
        prefix: weight right behind the earlier place of the present token, in the
            second copy.
        previous: weight on the token before, in both copies.
        copied: what the head adds directly to the logit of the token that comes next,
            above the mean of the copy's tokens, in the second copy.
    """

    prefix: Tensor
    previous: Tensor
    copied: Tensor


def scores(ids: Tensor) -> Scores:
    """Score all heads.

    Args:
        ids: (B, 1 + 2n)

    Returns:
        scores: a ``Scores``.
    """
    batches = [_scores(batch) for batch in ids.split(20)]
    return Scores(*(torch.cat(one, dim=-1) for one in zip(*batches, strict=True)))


def _scores(ids: Tensor) -> Scores:
    model, _ = smollm2()
    n = (ids.shape[1] - 1) // 2
    parts = [Part("context", layer) for layer in range(LAYERS)]
    last: list[Tensor] = []
    hook = model.final_norm.register_forward_pre_hook(
        lambda _, inputs: last.append(inputs[0])
    )
    try:
        with watched(model, parts) as given, torch.no_grad():
            _, found = model(ids, return_weights=True)
    finally:
        hook.remove()
    weights = torch.stack(found)  # (L, B, H, T, T)
    second = slice(n + 1, 2 * n)  # those that see what comes next
    marked = after_the_same(ids)[:, None]
    prefix = (weights * marked)[..., second, :].sum(dim=-1).mean(dim=-1)
    previous = weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=-1)
    size = last[0].square().mean(dim=-1, keepdim=True).sqrt()
    output, gain = model.token_embedding.weight, _weight(model.final_norm)
    aim = output[ids[:, n + 2 :]] - output[ids[:, 1 : n + 1]].mean(dim=1, keepdim=True)
    aim = aim * gain / size[:, second]  # (B, n - 1, C)
    copied = [
        (given[part][:, second] * (aim @ _output(part.layer)))
        .unflatten(-1, (HEADS, -1))
        .sum(dim=-1)
        .mean(dim=1)
        for part in parts
    ]
    return Scores(
        *(one.transpose(1, 2) for one in (prefix, previous, torch.stack(copied)))
    )


def _weight(layer: nn.Module) -> Tensor:
    weight = layer.weight
    assert isinstance(weight, Tensor)  # noqa: S101 for mypy
    return weight


def _output(layer: int) -> Tensor:
    """A layer's output projection (C, H · D)."""
    model, _ = smollm2()
    return _weight(model.blocks[layer].get_submodule("attention.out_proj"))


@functools.cache
def chosen() -> Scores:
    """The scores of the first half, on which heads are chosen."""
    return scores(told_twice(SCORED, "choose"))


def ranked(of: Tensor) -> list[Head]:
    """All heads by their scores (L, H, B), the highest first."""
    order = of.mean(dim=-1).flatten().argsort(descending=True).tolist()
    return [divmod(one, HEADS) for one in order]


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
        half: {name: _rounded(one.mean(dim=-1)) for name, one in of._asdict().items()}
        for half, of in halves.items()
    }
    prefix = halves["test"].prefix
    found["errors"] = _rounded(prefix.std(dim=-1) / prefix.shape[-1] ** 0.5)
    found["losses"] = [_rounded(one) for one in losses(tested)]
    return found


def losses(ids: Tensor, instead: Mapping[Head, float | Tensor] = {}) -> list[Tensor]:
    """The loss of each text on its first and its second copy, without some heads.

    Args:
        ids: (B, 1 + 2n) or (B, 2n).
        instead: from heads to what stands in place of their contexts.

    Returns:
        first, second: (B,) each: nats per token, over the tokens of a copy but its
            first one.
    """
    model, _ = smollm2()
    n = ids.shape[1] // 2
    rows = []
    with _without(instead), torch.no_grad():
        for batch in ids.split(max(1, 1000 // ids.shape[1])):
            logits = model(batch)[:, :-1].transpose(1, 2)
            rows.append(F.cross_entropy(logits, batch[:, 1:], reduction="none"))
    nats = torch.cat(rows)
    return [nats[:, -2 * n + 1 : -n].mean(dim=1), nats[:, -n + 1 :].mean(dim=1)]


def _without(instead: Mapping[Head, float | Tensor]) -> Any:
    model, _ = smollm2()
    return replaced(
        model, {Part("context", *head): other for head, other in instead.items()}
    )


def means(ids: Tensor, real: Tensor | None = None) -> dict[Head, Tensor]:
    """The mean context (D,) of each head over the places of some texts."""
    model, _ = smollm2()
    parts = [Part("context", layer) for layer in range(LAYERS)]
    with watched(model, parts) as given, torch.no_grad():
        model(ids)
    kept = torch.ones_like(ids, dtype=torch.bool) if real is None else real
    of_layers = [
        given[part][kept].mean(dim=0).unflatten(0, (HEADS, -1)) for part in parts
    ]
    places = itertools.product(range(LAYERS), range(HEADS))
    return {(layer, head): of_layers[layer][head] for layer, head in places}


def drawn(
    heads: Sequence[Head], seed: int, *, taken: Sequence[Head] | None = None
) -> list[Head]:
    """As many other heads, at random from the same layers.

    Args:
        heads: which ones they stand beside.
        seed: of the draw.
        taken: the heads that aren't drawn; ``heads`` where left out.

    Returns:
        others: a list as long, unless a layer has too few others.
    """
    rng = random.Random(seed)
    others: list[Head] = []
    for layer in sorted({layer for layer, _ in heads}):
        free = [(layer, head) for head in range(HEADS)]
        free = [one for one in free if one not in (heads if taken is None else taken)]
        count = sum(one[0] == layer for one in heads)
        others += rng.sample(free, min(count, len(free)))
    return others


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
    found: many.Run = {"heads": [name(one) for one in order[: FEW[-1]]]}

    def lost(heads: Sequence[Head], kind: str) -> list[Tensor]:
        return losses(
            ids, {one: 0.0 if kind == "zeros" else mean[one] for one in heads}
        )

    found["whole"] = list(map(_rounded, losses(ids)))
    for kind, k in itertools.product(("zeros", "means"), FEW):
        found[f"{kind} {k}"] = list(map(_rounded, lost(order[:k], kind)))
    for kind, k in itertools.product(("zeros", "means"), (4, *DRAWN)):
        found[f"next {kind} {k}"] = list(map(_rounded, lost(order[k : 2 * k], kind)))
    for kind, k in [*(("zeros", k) for k in DRAWN), ("means", SWITCHED)]:
        found[f"drawn {kind} {k}"] = [
            [round(float(one.mean()), 4) for one in lost(drawn(order[:k], seed), kind)]
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
        "whole": list(map(_rounded, losses(ids))),
        "top": list(map(_rounded, losses(ids, dict.fromkeys(top, 0.0)))),
    }
    draws = [losses(ids, dict.fromkeys(drawn(top, seed), 0.0)) for seed in range(3)]
    found["drawn"] = [[round(float(one.mean()), 4) for one in draw] for draw in draws]
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
    order, mean = ranked(chosen().prefix), means(*_padded(asked["choose"]))
    found: many.Run = {"templates": [one.template for one in asked["test"]]}
    for half, prefix in (("test", ""), ("choose", "choose, ")):
        for what in ("whole", "another"):
            found[prefix + what] = _finished(asked[half], {}, what == "another")

    def lost(
        heads: Sequence[Head], kind: str, *, another: bool = False, step: int = 1
    ) -> dict[str, list[float]]:
        instead = {one: 0.0 if kind == "zeros" else mean[one] for one in heads}
        return _finished(asked["test"][::step], instead, another)

    for kind, k in itertools.product(("zeros", "means"), (4, 8, 16, 32)):
        found[f"{kind} {k}"] = lost(order[:k], kind)
    for k in (8, 32):
        found[f"another, zeros {k}"] = lost(order[:k], "zeros", another=True)
    for kind in ("zeros", "means"):
        found[f"next {kind} 8"] = lost(order[8:16], kind)
    draws = [lost(drawn(order[:8], seed), "zeros", step=2) for seed in range(DRAWS)]
    found["drawn zeros 8"] = {
        what: [round(sum(one[what]) / len(one[what]), 4) for one in draws]
        for what in ("loss", "logit")
    }
    return found


def _padded(asked: Sequence[Repeated], another: bool = False) -> tuple[Tensor, Tensor]:
    """The sentences' ids (B, T), and which of them are real; nothing looks ahead."""
    _, tokenizer = smollm2()
    rows = [
        [START, *tokenizer.encode(one.other if another else one.text)] for one in asked
    ]
    most = max(map(len, rows))
    ids = torch.tensor([[*row, *[START] * (most - len(row))] for row in rows])
    real = torch.arange(most) < torch.tensor([len(row) for row in rows])[:, None]
    return ids, real


def _finished(
    asked: Sequence[Repeated], instead: Mapping[Head, float | Tensor], another: bool
) -> dict[str, list[float]]:
    model, tokenizer = smollm2()
    found: dict[str, list[float]] = {"loss": [], "logit": []}
    ids, real = _padded(asked, another)
    with _without(instead), torch.no_grad():
        logits = torch.cat([model(batch) for batch in ids.split(16)])
    for one, row, kept, given in zip(asked, ids, real, logits, strict=True):
        length, said = int(kept.sum()), tokenizer.encode(one.name)
        if row[length - len(said) : length].tolist() != said:
            raise ValueError(f"{one.text!r} must end with the tokens of its name")
        later = slice(length - len(said) + 1, length)
        before = given[later.start - 1 : later.stop - 1]  # (T, V)
        right = before.gather(1, row[later, None])
        nats = F.cross_entropy(before, row[later])
        found["loss"].append(round(float(nats), 4))
        above = (right - before.mean(dim=1, keepdim=True)).mean()
        found["logit"].append(round(float(above), 4))
    return found


def composition() -> many.Run:
    """What the induction heads' weights lose with the previous-token heads.

    Returns:
        found: the "induction" heads, and the "previous" ones, the eight of the highest
            scores that stand in layers before; the mean prefix score of the former on
            each text, "whole", without the latter ("zeros", "means") and without the
            next eight ("next zeros"), the mean of each "drawn" eight of the same
            layers; and where the latter are replaced by their means for the "keys",
            the "queries" or the "values" of the former alone, by the direct path or
            with the MLPs between them ("keys, MLPs"); and the means where each of
            them alone ("each, keys"), or each drawn eight ("drawn, keys"), are so
            replaced for the keys by the direct path.
    """
    ids = told_twice(TESTED, "test")
    induction = ranked(chosen().prefix)[:SWITCHED]
    earliest = min(layer for layer, _ in induction)
    before = [one for one in ranked(chosen().previous) if one[0] < earliest]
    previous, mean = before[:SWITCHED], means(told_twice(TESTED, "choose"))
    found: many.Run = {
        "induction": list(map(name, induction)),
        "previous": list(map(name, previous)),
    }

    def scored(heads: Sequence[Head], kind: str = "zeros") -> list[float]:
        instead = {one: 0.0 if kind == "zeros" else mean[one] for one in heads}
        model, _ = smollm2()
        with _without(instead):
            return _prefix_of(model, ids, induction)

    found["whole"] = scored([])
    for kind in ("zeros", "means"):
        found[kind] = scored(previous, kind)
    found["next zeros"] = scored(before[SWITCHED : 2 * SWITCHED])
    draws = [scored(drawn(previous, seed)) for seed in range(DRAWS)]
    found["drawn"] = [round(sum(one) / len(one), 4) for one in draws]
    for kind, mlps in itertools.product(("keys", "queries", "values"), (False, True)):
        key = f"{kind}, MLPs" if mlps else kind
        path = _path(previous, mean, induction, kind, mlps)
        found[key] = _prefix_of(path, ids, induction)
    others = [drawn(previous, seed) for seed in range(DRAWS)]
    for key, senders in (("each", [[one] for one in previous]), ("drawn", others)):
        paths = [_path(of, mean, induction, "keys", False) for of in senders]
        rows = [_prefix_of(path, ids, induction) for path in paths]
        found[f"{key}, keys"] = [round(sum(row) / len(row), 4) for row in rows]
    return found


def _path(
    senders: Sequence[Head],
    mean: Mapping[Head, Tensor],
    receivers: Sequence[Head],
    kind: str,
    mlps: bool,
) -> PathPatched:
    model, _ = smollm2()
    shares = 1 if kind == "queries" else HEADS // SHARED
    read = sorted({Part(kind, layer, head // shares) for layer, head in receivers})
    sent = {Part("context", *one): mean[one] for one in senders}
    return PathPatched(model, sent, read, through_mlps=mlps)


def _prefix_of(through: nn.Module, ids: Tensor, heads: Sequence[Head]) -> list[float]:
    """The mean prefix score of some heads on each text, in the last run of a model."""
    model, _ = smollm2()
    n = (ids.shape[1] - 1) // 2
    marked = after_the_same(ids)
    mask = causal_mask(ids.shape[1])
    cores = {layer: Masked(mask) for layer in {layer for layer, _ in heads}}
    with masked(model, cores), torch.no_grad():
        through(ids)
    each = [
        (cores[layer].weights[:, head] * marked)[:, n + 1 : 2 * n]
        .sum(dim=-1)
        .mean(dim=-1)
        for layer, head in heads
    ]
    return _rounded(torch.stack(each).mean(dim=0))


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
    in_names = means(*_padded(asked["choose"]))
    earliest = min(layer for layer, _ in ranked(chosen().prefix)[:SWITCHED])
    head = next(one for one in ranked(chosen().previous) if one[0] < earliest)
    found: many.Run = {"head": name(head)}
    for kind, instead in (("zeros", 0.0), ("means", mean[head])):
        found[kind] = list(map(_rounded, losses(ids, {head: instead})))
    for kind, instead in (("zeros", 0.0), ("means", in_names[head])):
        found[f"names, {kind}"] = _finished(asked["test"], {head: instead}, False)
    others = [(head[0], other) for other in range(HEADS) if other != head[1]]
    rows = [losses(ids, {one: 0.0}) for one in others]
    found["others"] = [[round(float(one.mean()), 4) for one in row] for row in rows]
    ends = [_finished(asked["test"][::2], {one: 0.0}, False)["loss"] for one in others]
    found["names, others"] = [round(sum(one) / len(one), 4) for one in ends]
    return found


def matrices() -> many.Run:
    """Whether attending to a token raises its own logit, by each head's matrices alone.

    W_E W_V W_O W_U, with the layer's norm before it and the final norm's gain behind.

    Returns:
        found: by layer and head "positive", the sum of its eigenvalues over the sum of
            their sizes; and "own rank", the share of other tokens that get less than
            the token itself, over 200 tokens (as in ``helpers.models.induction``, of
            which this is a sample).
    """
    model, _ = smollm2()
    embedding = model.token_embedding.weight
    gain = _weight(model.final_norm)
    centred = (embedding - embedding.mean(dim=0)) * gain
    rows = torch.tensor(random.Random(0).sample(range(17, len(embedding)), 200))
    positive, ranks = [], []
    for layer in range(LAYERS):
        with torch.no_grad():
            read = model.blocks[layer].get_submodule("attention_norm")(embedding)
            gram = centred.T @ read  # (C, C)
            values = _weight(model.blocks[layer].get_submodule("attention.W_value"))
            for head, out in enumerate(_output(layer).split(64, dim=1)):
                value = values.split(64)[head // (HEADS // SHARED)]  # (D, C)
                small = out.T @ gram @ value.T  # (D, D): the eigenvalues that aren't 0
                found = torch.linalg.eigvals(small.double())
                positive.append(float(found.sum().real / found.abs().sum()))
                added = read[rows] @ value.T @ out.T @ centred.T  # (200, V)
                own = added.gather(1, rows[:, None])
                below = (added < own).double().sum(dim=1) / (len(embedding) - 1)
                ranks.append(float(below.mean()))
    return {
        "positive": _rounded(torch.tensor(positive).view(LAYERS, HEADS)),
        "own rank": _rounded(torch.tensor(ranks).view(LAYERS, HEADS)),
    }


def name(head: Head) -> str:
    """A head's layer and number, both from 0."""
    return f"{head[0]}.{head[1]}"


def _rounded(numbers: Tensor) -> list[Any]:
    return numbers.double().mul(1e4).round().div(1e4).tolist()
