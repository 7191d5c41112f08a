"""Whether 23.3 looks at the name that comes last, or at the one that comes again.

"…, Helen met Robert and sent a letter to": both of these names are said before, or one
of them, or none.
"""

import random

import torch

from experiments import many
from experiments.real_model.circuit_switches import CROSSING
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.prompts import HALVES, as_ids
from experiments.real_model.two_prompts import over_frames

WHO = {  # what stands where a frame has the giver
    "gives": "{X} met {Y} and",
    "beside": "the clerk met {X} and {Y} and",
}
SAID = ("both", "the first", "the last", "neither")  # which of X and Y come again


def recency(half: str, *, count: int = 8) -> many.Run:
    """The weight of 23.3 on two names, of which either may have been said before.

    Returns:
        found: a dict of means and intervals over frames, by ``WHO`` and ``SAID``, such
            as "gives, the last": the weight from the end of the prompt "on X" and "on
            Y", the last name of all; and by ``WHO``, how much "more" a name gets where
            it comes "again" than where it comes once, and where it stands "last" than
            where it stands before, each over all else; and how much more X gets than Y
            where X alone comes again ("again beside last").
    """
    model, _ = smollm2()
    layer, head = CROSSING
    rows = []
    for frame in HALVES[half][0]:
        row: dict[str, float] = {}
        for who, said in ((who, said) for who in WHO for said in SAID):
            ids, places = _texts(half, frame, who, said, count)
            with torch.no_grad():
                _, weights = model(ids, return_weights=True)
            looks = weights[layer][:, head, -1].gather(1, places).mean(dim=0)
            for name, one in zip(("X", "Y"), looks.tolist(), strict=True):
                row[f"{who}, {said}: on {name}"] = one
        for who in WHO:
            x, y = (
                {said: row[f"{who}, {said}: on {name}"] for said in SAID}
                for name in ("X", "Y")
            )
            once = x["the last"] + x["neither"] + y["the first"] + y["neither"]
            again = x["both"] + x["the first"] + y["both"] + y["the last"]
            row[f"{who}, more again"] = (again - once) / 4
            row[f"{who}, more last"] = (sum(y.values()) - sum(x.values())) / 4
            row[f"{who}, again beside last"] = x["the first"] - y["the first"]
        rows.append(row)
    return over_frames(rows)


def _texts(
    half: str, frame: str, who: str, said: str, count: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Prompts (B, T), and where X and Y stand last, (B, 2); the names are the same."""
    _, tokenizer = smollm2()
    rng, texts, asked = random.Random(frame), [], []
    for row in range(count):
        a, b, c, d = rng.sample(HALVES[half][1], 4)
        begin = (b, a) if row % 2 else (a, b)
        x, y = {
            "both": (a, b),
            "the first": (a, d),
            "the last": (c, b),
            "neither": (c, d),
        }[said]
        second = WHO[who].format(X=x, Y=y)
        texts.append(frame.format(A=begin[0], B=begin[1], S=second))
        asked.append([tokenizer.encode(f" {name}")[0] for name in (x, y)])
    ids = as_ids(tokenizer, texts, start=False)
    tokens = torch.tensor(asked)
    T = ids.shape[1]
    same = ids[:, None] == tokens[:, :, None]  # (B, 2, T)
    places = (same * torch.arange(1, T + 1)).amax(dim=-1) - 1
    return ids, places
