"""What choosing a head costs, and what other frames cost: two ways to lose a finding.

The best of many heads on some sentences, tried on other sentences of the same frames,
and on sentences of other frames with other words.

Source: Clark et al. 2019, section 4.2 (heads tried on relations between words).
"""

from typing import Any

import torch

from experiments import many
from experiments.real_model.head_claims import EACH, TURNED, on_words
from experiments.real_model.heads import head_name
from experiments.real_model.intervals import over
from experiments.real_model.pretrained_models import minilm, smollm2
from helpers.text.relations import RELATIONS, Pair, sentences

PLAN: list[many.Settings] = [
    {"model": "minilm", "relation": "subject to verb"},
    {"model": "minilm", "relation": "noun to determiner"},
]


def measure(settings: many.Settings, *, each: int = EACH) -> many.Run:
    """How often the head that is best on some sentences is right on others.

    Args:
        settings: one of ``PLAN``.
        each: sentences of a template to choose on, and as many to try; the former are
            those of ``head_claims``.

    Returns:
        found: the "head", and how often its largest weight lies on the target, with
            intervals over frames: in the sentences that it was "chosen on", in others
            of the "same frames", and in those of "other frames".
    """
    is_causal = settings["model"] == "smollm2"
    reader = (*(smollm2() if is_causal else minilm()), is_causal)
    name = settings["relation"]
    of = RELATIONS[str(TURNED.get(name, name))]
    twice = sentences(of, 0, 2 * each)
    asked = {
        "chosen on": [one for i, one in enumerate(twice) if i // each % 2 == 0],
        "same frames": [one for i, one in enumerate(twice) if i // each % 2 == 1],
        "other frames": sentences(of, 1, each),
    }
    if name in TURNED:
        asked = {key: [one.turned() for one in some] for key, some in asked.items()}
    hits = {key: right(reader, some) for key, some in asked.items()}
    best = int(hits["chosen on"].mean(dim=0).argmax())
    found: many.Run = {"head": head_name(divmod(best, reader[0].config.num_heads))}
    for key, some in asked.items():
        found[key] = over([one.template for one in some], hits[key][:, best])
    return found


def right(reader: tuple[Any, Any, bool], some: list[Pair]) -> torch.Tensor:
    """Whether the largest weight lies on the target (N, heads), 1 or 0."""
    rows = zip(some, on_words(*reader, some), strict=True)
    return torch.stack([(row.argmax(dim=1) == one.target).float() for one, row in rows])
