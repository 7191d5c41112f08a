"""A story breaks off, and a trained model looks back for the word that comes next."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from helpers import validation
from helpers.views.page_model import model_state, next_characters, require_texts
from helpers.views.view import Table, View


def unfinished_story(
    config: Mapping[str, int],
    weights: Mapping[str, Tensor],
    alphabet: str,
    *,
    stories: Mapping[str, str],
    head: Sequence[int],
    looks: Tensor,
    expected: Tensor,
) -> View:
    """See where a head looks back to, let the model write on, switch the head off.

    For the book's model and its head that fetches colours, what the view shows is no
    single case: ``helpers.recorded.story_model`` says how often its largest weight lies
    on the right word, and what is lost without it and without others.

    Args:
        config: as for ``model_in_the_page``, and so are the next two.
        weights: 8-bit matrices, their scales, float16 vectors.
        alphabet: a string, the characters in the order of their ids.
        stories: a dict from labels to beginnings of stories; none may be empty.
        head: layer and head, from 0: the one that is shown first.
        looks: (T,), the weights that this head's last position gives in the first
            story, the start character included.
        expected: (vocab_size,), the probabilities after the first story.

    Returns:
        view: a View.

    Raises:
        ValueError: weights of another kind, no story, a story with a character outside
            the alphabet or too long for the model, a head that the model doesn't have,
            looks or probabilities that don't count the characters.

    Source: Vaswani et al. 2017, section 3. Chapters 1 and 9.
    """
    state = model_state(config, weights, alphabet)
    require_texts("story", stories, alphabet)
    if not stories:
        raise ValueError("stories must hold a text, got none")
    for label, text in stories.items():
        if not 0 < len(text) < config["contextLength"]:
            raise ValueError(
                f"story {label!r} must have 1 to {config['contextLength'] - 1} "
                f"characters, got {len(text)}"
            )
    sizes = (config["layers"], config["heads"])
    if len(head) != 2 or not all(0 <= i < n for i, n in zip(head, sizes, strict=True)):
        raise ValueError(
            f"head must be a layer below {sizes[0]} and a head below {sizes[1]}, "
            f"got {tuple(head)}"
        )
    story = "\n" + next(iter(stories.values()))
    if validation.shape_of(looks) != (len(story),):
        raise ValueError(
            f"looks must have shape ({len(story)},), one weight for each character, "
            f"got {validation.shape_of(looks)}"
        )
    best = looks.topk(min(3, len(story)))
    rows = [
        ["start" if i == 0 else story[i], int(i), float(weight)]
        for weight, i in zip(best.values, best.indices, strict=True)
    ]
    name = f"head {head[1]} of layer {head[0]}"
    return View(
        "unfinished_story",
        "A story breaks off: what comes next, and where does the model look?",
        {
            **state,
            "stories": [[label, text] for label, text in stories.items()],
            "head": list(head),
        },
        [
            next_characters(f"After “{story[1:]}”", expected, alphabet),
            Table(
                f"Where {name} looks from there",
                rows,
                columns=["character", "place", "weight"],
                decimals=2,
            ),
        ],
    )
