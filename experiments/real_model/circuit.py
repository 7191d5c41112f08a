"""From prompt to answer: who receives, where two names are told and one comes again.

"When Mary and John went to the store, John gave a drink to" wants "Mary". Which layers,
positions and heads carry that, by activation patching (from the prompt in which the
other name comes again, and back), path patching, direct logit attribution, and by
ablation of everything else. Heads are chosen on the first half of frames and names.

Source: Wang et al. 2022 (the task, the method and the circuit of GPT-2 small);
nostalgebraist 2020 (the logit lens).
"""

import contextlib
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from experiments import many
from experiments.real_model.prefixes import copied, read, streams
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.prompts import HALVES, Prompts, direct_effect, prompts
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, PathPatched, replaced, watched
from helpers.recorded.spread import mean_and_interval

Head = tuple[int, int]  # its layer and number, from 0
# What the scans of the first half chose: those that move the answer by this share.
THRESHOLD = 0.03
AT_AGAIN: tuple[Head, ...] = ((17, 4),)
AT_END: tuple[Head, ...] = (
    *((19, 2), (20, 0), (21, 5), (23, 0), (23, 1), (23, 2), (23, 3), (23, 7)),
    *((24, 4), (24, 5), (24, 7), (29, 0), (29, 1)),
)
MOVERS: tuple[Head, ...] = ((23, 0), (23, 1), (23, 2), (23, 7))
PREVIOUS: Head = (16, 0)  # looks one back from the token behind the first mention
PLAN: list[many.Settings] = [
    {"what": "behaviour", "start": False},
    {"what": "behaviour", "start": True},
    {"what": "streams"},
    {"what": "scan", "place": "end"},
    {"what": "scan", "place": "again"},
    {"what": "heads"},
    {"what": "paths"},
    {"what": "ablation"},
]
DRAWS = 20
DECIMALS = 4


def measure(settings: many.Settings) -> many.Run:
    """What one kind of measurement finds; each lists what it returns.

    Args:
        settings: a dict of "what", and of what else ``PLAN`` has beside it.
    """
    if settings["what"] == "behaviour":
        return {half: behaviour(half, start=settings["start"]) for half in HALVES}
    if settings["what"] == "scan":
        return scan(settings["place"])
    kinds: dict[str, Callable[[str], many.Run]] = {
        "streams": by_stream,
        "heads": by_head,
        "paths": by_path,
        "ablation": ablation,
    }
    return {half: kinds[settings["what"]](half) for half in HALVES}


def behaviour(half: str, *, start: bool, count: int = 24) -> many.Run:
    """How often the model is right, what it goes by, and what the logit lens shows.

    Returns:
        found: a dict of the mean and interval over frames of "right" (the share in
            which the answer's logit is above the subject's), "first" (the same where
            the answer is the first name) and "second", "top" (the answer is the
            likeliest token of all), "difference" (of logits); of logits above the mean
            over names: "answer" and "subject"; "two" (the mean of both) and "giver"
            where a third name gives; "one", "stranger" and "named last" where each name
            comes once; and of "lens", over the layers from the embeddings on, with
            lists of "difference", "rank" (the median, 0 is the likeliest) and "input"
            (the share in which the likeliest token is the one that is read).
    """
    model, _ = smollm2()
    rows: list[dict[str, float]] = []
    lens: list[dict[str, list[float]]] = []
    for frame in HALVES[half][0]:
        of = prompts(half, frame, count, start=start)
        with torch.no_grad():
            logits = {
                name: model(getattr(of, name))
                for name in ("clean", "third", "renamed")
            }
        rows.append(answers(of, **logits))
        lens.append(through_lens(model, of))
    return {
        **over_frames(rows),
        "lens": {
            name: [interval(column) for column in zip(*(one[name] for one in lens), strict=True)]
            for name in lens[0]
        },
    }


def answers(
    of: Prompts, clean: Tensor, third: Tensor, renamed: Tensor
) -> dict[str, float]:
    """What ``behaviour`` says of one frame."""
    difference = of.difference(clean)
    right = (difference > 0).double()
    above: dict[str, Tensor] = {}
    for names, logits in (
        ({"answer": of.answer, "subject": of.subject}, clean),
        ({"two": of.answer, "two'": of.subject, "giver": of.stranger}, third),
        (
            {"one": of.answer, "stranger": of.stranger, "named last": of.subject},
            renamed,
        ),
    ):
        for name, token in names.items():
            above[name] = of.above_others(logits[:, -1], token)
    above["two"] = (above["two"] + above.pop("two'")) / 2
    found = {
        "right": right,
        "first": right[1::2],
        "second": right[::2],
        "top": (clean[:, -1].argmax(dim=-1) == of.answer).double(),
        "difference": difference,
        **above,
    }
    return {name: float(one.mean()) for name, one in found.items()}


def through_lens(model: TransformerLM, of: Prompts) -> dict[str, list[float]]:
    """The final norm and the unembedding applied to each layer's stream at the end."""
    rows = streams(model, of.clean, -1)  # (B, num_layers + 1, C)
    with torch.no_grad():
        logits = model.final_norm(rows) @ model.token_embedding.weight.T
    found: dict[str, list[float]] = {"difference": [], "rank": [], "input": []}
    for layer in logits.unbind(dim=1):
        own = layer.gather(1, of.answer[:, None])
        found["difference"].append(float(of.difference(layer[:, None]).mean()))
        found["rank"].append(float((layer > own).sum(dim=1).double().median()))
        read_token = layer.argmax(dim=-1) == of.clean[:, -1]
        found["input"].append(float(read_token.double().mean()))
    return found


def by_stream(half: str, *, count: int = 6, every: int = 2) -> many.Run:
    """The share of the difference that a layer's stream carries, by position.

    Returns:
        found: a dict of "layers", and by direction, "into swapped" (the clean stream is
            put into the swapped prompt) and "into clean", of dicts from positions
            ("again", "between", "end") to lists of mean and interval over frames.
    """
    model, _ = smollm2()
    layers = range(0, model.config.num_layers, every)
    rows: dict[str, dict[str, list[list[float]]]] = {}
    for frame in HALVES[half][0]:
        for way, one in directions(model, prompts(half, frame, count)).items():
            last = one.target.shape[1] - 1
            places = {"again": [0], "between": list(range(1, last)), "end": [last]}
            for name, place in places.items():
                shares = [
                    one.share({Part("stream", layer): None}, place) for layer in layers
                ]
                rows.setdefault(way, {}).setdefault(name, []).append(shares)
    return {
        "layers": list(layers),
        **{
            way: {
                name: [interval(column) for column in zip(*several, strict=True)]
                for name, several in of.items()
            }
            for way, of in rows.items()
        },
    }


class Direction:
    """One prompt's parts put into its counterpart; both begin with the same tokens.

    Args:
        model: the model.
        of: the prompts.
        source: (B, T), where parts are taken from.
        target: (B, T), where they are put.
    """

    def __init__(
        self, model: TransformerLM, of: Prompts, source: Tensor, target: Tensor
    ) -> None:
        self.model, self.of = model, of
        self.cache = read(model, target[:, : of.again])
        self.source, self.target = source[:, of.again :], target[:, of.again :]
        layers = range(model.config.num_layers)
        parts = [Part(kind, layer) for kind in ("stream", "context") for layer in layers]
        with torch.no_grad():
            with watched(model, parts) as given:
                there = model(self.source, cache=copied(self.cache))
            self.given = dict(given)
            with watched(model, parts) as given:
                here = model(self.target, cache=copied(self.cache))
            self.own = dict(given)
        self.before = of.difference(here).mean()
        self.whole = of.difference(there).mean() - self.before

    def share(self, parts: dict[Part, None], place: Sequence[int]) -> float:
        """How much of the way to the source's answer some parts bring, at a place."""
        instead = {}
        for part in parts:
            features = slice(None)
            if part.head is not None:
                D = self.model.config.d_model // self.model.config.num_heads
                features = slice(part.head * D, (part.head + 1) * D)
            whole = Part(part.kind, part.layer)
            instead[part] = self.given[whole][:, place, features]
        return self._from(min(place), place, instead)

    def _from(
        self, first: int, place: Sequence[int], instead: dict[Part, Tensor]
    ) -> float:
        """Go on to the place as it is, over it with the parts, then on as it is."""
        cache, behind = copied(self.cache), max(place) + 1
        with torch.no_grad():
            if first:
                self.model(self.target[:, :first], cache=cache)
            with replaced(self.model, instead):
                logits = self.model(self.target[:, first:behind], cache=cache)
            if behind < self.target.shape[1]:
                logits = self.model(self.target[:, behind:], cache=cache)
        after = self.of.difference(logits).mean()
        return float((after - self.before) / self.whole)


def directions(model: TransformerLM, of: Prompts) -> dict[str, Direction]:
    """Both ways between a prompt and the one in which the other name comes again."""
    return {
        "into swapped": Direction(model, of, of.clean, of.swapped),
        "into clean": Direction(model, of, of.swapped, of.clean),
    }


def scan(place: str, *, half: str = "choosing") -> many.Run:
    """The share of the difference that each head brings at one position, by itself.

    Returns:
        shares: (num_layers, H) as nested lists, the mean over frames; "low" and "high",
            the least and the most of a frame.
    """
    model, _ = smollm2()
    count, heads = (6, 24) if place == "again" else (8, model.config.num_layers)
    H = model.config.num_heads
    several = []
    for frame in HALVES[half][0]:
        of = prompts(half, frame, count)
        way = Direction(model, of, of.clean, of.swapped)
        at = [0] if place == "again" else [way.target.shape[1] - 1]
        rows = torch.zeros(model.config.num_layers, H)
        for layer, head in itertools.product(range(heads), range(H)):
            rows[layer, head] = way.share({Part("context", layer, head): None}, at)
        several.append(rows)
    all_rows = torch.stack(several)
    return {
        name: [rounded(row) for row in rows.tolist()]
        for name, rows in (
            ("shares", all_rows.mean(dim=0)),
            ("low", all_rows.amin(dim=0)),
            ("high", all_rows.amax(dim=0)),
        )
    }


def by_head(half: str, *, count: int = 16) -> many.Run:
    """What each head of the circuit looks at, adds and carries, beside its layer's.

    Returns:
        found: a dict from heads, such as "23.3", to mean and interval over frames of
            the weight, from the position at which it works, on the "answer"'s first
            mention, on the "subject"'s, on the token "behind" that, on the mention
            "again" (0 for a head that works there), on the text's "start" and on its
            "own" position; what it adds to the logits of the "answer" and of the
            "subject" above all names by itself, and "direct", their difference; the
            shares that it carries "into swapped" and "into clean", and "rest", the
            first of these for the mean of the other heads of its layer.
    """
    model, _ = smollm2()
    rows: dict[str, list[dict[str, float]]] = {}
    for frame in HALVES[half][0]:
        of = prompts(half, frame, count)
        ways = directions(model, of)
        with torch.no_grad():
            _, weights = model(of.clean, return_weights=True)
        end = streams(model, of.clean, -1)[:, -1]
        last = of.clean.shape[1] - of.again - 1
        for head, place in [(one, 0) for one in AT_AGAIN] + [(one, last) for one in AT_END]:
            found = {
                **looks(of, weights[head[0]][:, head[1]], of.again + place),
                **{
                    way: one.share({Part("context", *head): None}, [place])
                    for way, one in ways.items()
                },
            }
            if place:
                found |= adds(model, of, ways["into swapped"], head, end)
            found["rest"] = rest(ways["into swapped"], head, place)
            rows.setdefault(name(head), []).append(found)
    return {one: over_frames(several) for one, several in rows.items()}


def looks(of: Prompts, weights: Tensor, place: int) -> dict[str, float]:
    """A head's weights (B, T, T) from a position on those that count."""
    B = torch.arange(len(weights))
    subject, answer = of.place(of.subject), of.place(of.answer)
    places = {
        "on answer": answer,
        "on subject": subject,
        "behind subject": subject + 1,
        "on again": torch.full_like(subject, of.again),
        "on start": torch.zeros_like(subject),
        "on itself": torch.full_like(subject, place),
    }
    return {one: float(weights[B, place, at].mean()) for one, at in places.items()}


def adds(
    model: TransformerLM, of: Prompts, way: Direction, head: Head, end: Tensor
) -> dict[str, float]:
    """Direct logit attribution of a head at the end of the clean prompts."""
    D = model.config.d_model // model.config.num_heads
    features = slice(head[1] * D, (head[1] + 1) * D)
    context = way.given[Part("context", head[0])][:, -1, features]
    with torch.no_grad():
        added = direct_effect(model, context, head, end)
    both = [float(of.above_others(added, one).mean()) for one in (of.answer, of.subject)]
    return {
        "to answer": both[0],
        "to subject": both[1],
        "direct": both[0] - both[1],
    }


def rest(way: Direction, head: Head, place: int) -> float:
    """The mean share of a layer's heads outside of the circuit."""
    layer = head[0]
    chosen = AT_END if place else AT_AGAIN
    heads = [one for one in range(way.model.config.num_heads) if (layer, one) not in chosen]
    shares = [way.share({Part("context", layer, one): None}, [place]) for one in heads]
    return sum(shares) / len(shares)


def by_path(half: str, *, count: int = 4) -> many.Run:
    """What reaches one head through another, by path patching, MLPs included.

    In the clean prompt, the sender gives at its position what it gives in the swapped
    one; the receivers alone see it.

    Returns:
        found: a dict from paths to mean and interval over frames of the share of the
            difference that is lost.
    """
    model, _ = smollm2()
    rows: list[dict[str, float]] = []
    for frame in HALVES[half][0]:
        of = prompts(half, frame, count)
        way = Direction(model, of, of.swapped, of.clean)
        rows.append(
            {
                path: lost_by_path(model, of, way, senders, receivers, at)
                for path, (senders, receivers, at) in PATHS.items()
            }
        )
    return over_frames(rows)


def queries(*heads: Head) -> list[Part]:
    """The queries of some heads."""
    return [Part("queries", *head) for head in heads]


def values(*heads: Head) -> list[Part]:
    """The values of some heads, of which three share one."""
    return sorted({Part("values", layer, head // 3) for layer, head in heads})


LOOKING: tuple[Head, ...] = ((19, 2), (20, 0))
OTHERS: tuple[tuple[Head, ...], ...] = (((19, 4), (20, 3)), ((19, 7), (20, 6)))
PATHS: dict[str, tuple[tuple[Head, ...], list[Part], int]] = {
    "19.2 and 20.0 to queries of name movers": (LOOKING, queries(*MOVERS), -1),
    "19.2 and 20.0 to queries of 23.3": (LOOKING, queries((23, 3)), -1),
    "19.2 and 20.0 to queries of 24.4": (LOOKING, queries((24, 4)), -1),
    "19.2 to queries of 20.0": (((19, 2),), queries((20, 0)), -1),
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
    D = model.config.d_model // model.config.num_heads
    place = of.again if at == 0 else of.clean.shape[1] - 1
    parts = [Part("context", *head) for head in senders]
    with torch.no_grad():
        with watched(model, parts) as given:
            whole = of.difference(model(of.clean)).mean()
        sent: dict[Part, Any] = {}
        for part in parts:
            one = given[part].clone()
            features = slice((part.head or 0) * D, ((part.head or 0) + 1) * D)
            swapped = way.given[Part("context", part.layer)][:, place - of.again]
            one[:, place] = swapped[:, features]
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


def ablation(half: str, *, count: int = 12, draws: int = DRAWS) -> many.Run:
    """What the circuit does alone, and what is left without it, beside other heads.

    From the second mention on, heads give their mean over prompts in which a third name
    gives; what stands before it is read as it is.

    Returns:
        found: a dict of mean and interval over frames of shares of the whole
            difference: "none" (all heads ablated), "circuit alone", "without circuit",
            "without raising" (without the heads of the circuit that bring the answer
            up); "random alone" and "without random", with as many heads at the same
            positions from layers 17 to 29 outside of the circuit, as mean and interval
            over draws, and "most random alone", "least without random" of a draw.
    """
    model, _ = smollm2()
    rows: list[dict[str, float]] = []
    drawn: dict[str, list[list[float]]] = {"random alone": [], "without random": []}
    for frame in HALVES[half][0]:
        of = prompts(half, frame, count)
        left = keeping(model, of)
        T = of.clean.shape[1] - of.again
        none = mask_of(model, T, (), ())
        whole = mask_of(model, T, AT_AGAIN, AT_END)
        raising = mask_of(model, T, AT_AGAIN, [one for one in AT_END if one not in LOWERING])
        rows.append(
            {
                "none": left(none),
                "circuit alone": left(whole),
                "without circuit": left(~whole),
                "without raising": left(~raising),
            }
        )
        rng = random.Random(0)  # the same heads for each frame
        masks = [mask_of(model, T, *random_heads(model, rng)) for _ in range(draws)]
        drawn["random alone"].append([left(one) for one in masks])
        drawn["without random"].append([left(~one) for one in masks])
    found: many.Run = over_frames(rows)
    for kind, of_frames in drawn.items():
        means = torch.tensor(of_frames).mean(dim=0).tolist()
        found[kind] = interval(means)
        found[f"range of {kind}"] = rounded([min(means), max(means)])
    return found


LOWERING: tuple[Head, ...] = ((21, 5), (24, 4), (24, 5), (24, 7), (29, 0))


def keeping(model: TransformerLM, of: Prompts) -> Callable[[Tensor], float]:
    """From a mask of kept heads to the share of the difference that is left."""
    cache = read(model, of.clean[:, : of.again])
    behind = of.clean[:, of.again :]
    parts = [Part("context", layer) for layer in range(model.config.num_layers)]
    with torch.no_grad():
        with watched(model, parts) as given:
            model(of.third)
        means = [given[part][:, of.again :].mean(dim=0) for part in parts]
        whole = of.difference(model(behind, cache=copied(cache))).mean()

    def left(kept: Tensor) -> float:
        with torch.no_grad(), ablated(model, means, kept):
            logits = model(behind, cache=copied(cache))
        return float(of.difference(logits).mean() / whole)

    return left


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


def random_heads(
    model: TransformerLM, rng: random.Random
) -> tuple[list[Head], list[Head]]:
    """As many heads as the circuit has at each position, from elsewhere."""
    layers = range(17, model.config.num_layers)
    heads = list(itertools.product(layers, range(model.config.num_heads)))
    others = [one for one in heads if one not in {*AT_AGAIN, *AT_END}]
    return rng.sample(others, len(AT_AGAIN)), rng.sample(others, len(AT_END))


def name(head: Head) -> str:
    """A head's layer and number, both from 0."""
    return f"{head[0]}.{head[1]}"


def over_frames(rows: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Mean and interval of each number."""
    return {one: interval([row[one] for row in rows]) for one in rows[0]}


def interval(numbers: Sequence[float]) -> list[float]:
    """Mean, and the ends of its interval."""
    return rounded(mean_and_interval(list(numbers)))


def rounded(numbers: Sequence[float]) -> list[float]:
    """To four places."""
    return [round(one, DECIMALS) for one in numbers]
