"""Whether SmolLM2 knows who receives, what it goes by, and what the logit lens shows.

Source: Wang et al. 2022, section 2 (the task); nostalgebraist 2020 (the logit lens).
"""

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.intervals import interval
from experiments.real_model.prefixes import streams
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.prompts import HALVES, Prompts, prompts
from experiments.real_model.two_prompts import over_frames
from helpers.models.language_model import TransformerLM


def behaviour(half: str, *, start: bool, count: int = 12) -> many.Run:
    """How often the model is right, what it goes by, and what the logit lens shows.

    Returns:
        found: a dict of the mean and interval over frames of "right" (the share in
            which the answer's logit is above the subject's), "first" (the same where
            the answer is the first name) and "second", "top" (the answer is the
            likeliest token of all), "difference" (of logits); of logits above the mean
            over names: "answer" and "subject"; "two" (the mean of both) and "giver"
            where a third name gives; "one", "stranger" and "named last" where each name
            comes once; and of "lens", over the layers from the embeddings on, with
            lists of "difference" (half of what the swap changes), "rank" (the median, 0
            is the likeliest) and "input" (the share in which the likeliest token is the
            one that is read).
    """
    model, _ = smollm2()
    rows: list[dict[str, float]] = []
    lens: list[dict[str, list[float]]] = []
    for frame in HALVES[half][0]:
        of = prompts(half, frame, count, start=start)
        with torch.no_grad():
            logits = {
                name: model(getattr(of, name)) for name in ("clean", "third", "renamed")
            }
        rows.append(answers(of, **logits))
        lens.append(through_lens(model, of))
    return {
        **over_frames(rows),
        "lens": {
            name: [
                interval(column)
                for column in zip(*(one[name] for one in lens), strict=True)
            ]
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
    # Half of what the swap changes: the names' own logits drop out.
    clean, swapped = (
        unembedded(model, streams(model, ids, -1)) for ids in (of.clean, of.swapped)
    )
    found: dict[str, list[float]] = {"difference": [], "rank": [], "input": []}
    for layer, other in zip(clean.unbind(dim=1), swapped.unbind(dim=1), strict=True):
        own = layer.gather(1, of.answer[:, None])
        change = of.difference(layer[:, None]) - of.difference(other[:, None])
        found["difference"].append(float(change.mean() / 2))
        found["rank"].append(float((layer > own).sum(dim=1).double().median()))
        read_token = layer.argmax(dim=-1) == of.clean[:, -1]
        found["input"].append(float(read_token.double().mean()))
    return found


def unembedded(model: TransformerLM, rows: Tensor) -> Tensor:
    """The logits of residual streams (..., C) as if no layer followed."""
    with torch.no_grad():
        logits: Tensor = model.final_norm(rows) @ model.token_embedding.weight.T
    return logits
