"""Which noun do two heads prefer from "it", another word in its place, and the verb?

The control of a head that seems to know what "it" means: if its preference is the same
from a word that stands for nothing, the preference isn't the pronoun's.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from experiments import many
from experiments.real_model import pronoun_weights
from experiments.real_model.heads import Head, head_name
from experiments.real_model.intervals import over
from experiments.real_model.pretrained_models import smollm2
from helpers.text import coreference
from helpers.text.coreference import Sentence

INSTEAD = ("it", "something", "him")
# The head that one sentence showed, and the one that is best on half 0.
HEADS: tuple[Head, ...] = ((13, 8), (15, 6))
MASS = 0.1  # of its weight a head must give the two nouns together, to be chosen


def words(pairs: int) -> many.Run:
    """What the heads do on half 1, from "it" and from words in its place.

    Args:
        pairs: of nouns a scene.

    Returns:
        found: a dict from the words, and from "the verb" before "it", and heads to
            intervals over scenes: in how many sentences a head gives more weight to the
            noun "meant"; in how many pairs, which differ in their verb alone, it does
            so in "both"; the mean weights "on meant" and "on other", and by how much
            weight the verb that means a noun "shifts" to it, compared with the other
            verb.
    """
    model, tokenizer = smollm2()
    found: many.Run = {}
    for word in INSTEAD:
        some = coreference.sentences(1, pairs, instead=word)
        weights = pronoun_weights.on_nouns(model, tokenizer, some, start=True)
        places = {word: "it"} | ({"the verb": "verb"} if word == "it" else {})
        for name, place in places.items():
            here = weights[:, :, pronoun_weights.PLACES.index(place)]
            found[name] = {
                head_name(head): _of_head(some, here[:, head[0] * 9 + head[1]])
                for head in HEADS
            }
    return found


def _of_head(some: Sequence[Sentence], weights: Tensor) -> dict[str, list[float]]:
    """What ``words`` says of one head's weights on the two nouns (N, 2)."""
    meant = torch.tensor([one.meant for one in some])[:, None]
    on_meant = weights.gather(1, meant)[:, 0]
    on_other = weights.gather(1, 1 - meant)[:, 0]
    right = on_meant > on_other
    both = right.view(-1, 2).all(dim=1)  # pairs stand side by side
    scenes = [one.scene for one in some]
    return {
        "meant": over(scenes, right.float()),
        "both": over(scenes[::2], both.float()),
        "on meant": over(scenes, on_meant),
        "on other": over(scenes, on_other),
        # In a pair, each noun is the one meant once: the nouns' own weights cancel.
        "shifts": over(scenes, on_meant - on_other),
    }
