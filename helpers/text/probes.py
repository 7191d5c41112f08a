"""What a model of little-world gets right, by the kind of character.

At some characters of a story the right one follows from what was told before, and there
a model can be asked a question with one answer. ``LittleWorld`` lists those kinds.
"""

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn

from helpers import validation
from helpers.modes import eval_mode
from helpers.text.encoding import encode_for_model, require_start_character
from helpers.text.little_world import LittleWorld, whole_world
from helpers.text.ngram import NGramModel
from helpers.text.tokenizer import CharTokenizer

KINDS = (
    "agreement",
    "attractor-same",
    "attractor-other",
    "pronoun",
    "colour",
    "thing",
    "name",
    "quote",
)
AGREEMENT = KINDS[:3]
# "She" and "he" differ from here on; either may begin a sentence.
PRONOUNS = ("sS", "hH")
STORIES_AT_A_TIME = 100
Predict = Callable[[str, list[int]], Tensor]


def answers(
    story: str, kind: str, place: int, probabilities: Tensor, alphabet: str
) -> bool:
    """Whether a prediction answers the question of one character rightly.

    - agreement, with an attractor or without: does "s" get more than one half where it
      comes, and less where it doesn't? What else may come is not asked.
    - pronoun: does the letter of the right pronoun get more than that of the other? A
      pronoun need not come, which is not asked either.
    - colour, thing, name, quote: does the one possible character get the most?

    Args:
        story: a string.
        kind: one of ``KINDS``.
        place: the index of the character in the story.
        probabilities: (vocab_size,), what a model expects at ``place``.
        alphabet: the characters that they belong to, in order.

    Returns:
        right: a bool.
    """
    found = story[place]
    row = dict(zip(alphabet, probabilities.tolist(), strict=True))
    if kind in AGREEMENT:
        return (row["s"] > 0.5) == (found == "s")
    if kind == "pronoun":
        right, wrong = PRONOUNS if found in PRONOUNS[0] else PRONOUNS[::-1]
        return sum(row[one] for one in right) > sum(row[one] for one in wrong)
    return max(row, key=row.__getitem__) == found


def accuracy(
    stories: Iterable[str], predict: Predict, *, world: LittleWorld | None = None
) -> dict[str, tuple[float, int]]:
    """The share of right answers at each kind of character.

    Args:
        stories: strings that ``world`` can tell.
        predict: a function of a story and of some indices of its characters; it returns
            the probabilities (len(indices), vocab_size) of what stands there, each
            predicted from the characters before it.
        world: a LittleWorld; the whole one where left out.

    Returns:
        shares: a dict from each kind that occurs, in the order of ``KINDS``, to a pair
            of the share in [0, 1] and the number of questions.

    Raises:
        ValueError: a story that the world can't tell, or predictions of another shape.
    """
    world = world or whole_world()
    asked: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    for story in stories:
        _, marks = world.read(story)
        places = sorted(marks)
        rows = predict(story, places)
        validation.require_tensor("what predict returns", rows)
        expected = (len(places), len(world.alphabet))
        if tuple(rows.shape) != expected:
            raise ValueError(
                f"predict must return probabilities of shape {expected}, one row for "
                f"each index, got {tuple(rows.shape)}"
            )
        for place, row in zip(places, rows, strict=True):
            kind = marks[place]
            asked[kind].append(answers(story, kind, place, row, world.alphabet))
    return {
        kind: (sum(found) / len(found), len(found))
        for kind, found in asked.items()
        if found
    }


def log_probabilities(
    model: nn.Module, tokenizer: CharTokenizer, stories: Sequence[str]
) -> list[Tensor]:
    """What a language model expects at each character of some stories, in eval mode.

    Args:
        model: maps ids (B, T) to logits (B, T, vocab_size). A position's logits must
            not depend on what comes after it.
        tokenizer: the model's, with a ``start_character``, which stands before a story.
        stories: strings, none of them empty.

    Returns:
        log_probabilities: a list, for each story (T, vocab_size) float64 on the CPU:
            the natural logarithm of what is expected at each of its characters, given
            those before it.

    Raises:
        ValueError: a tokenizer without a start character.
    """
    require_start_character(tokenizer)
    device = next(model.parameters()).device
    rows: dict[int, Tensor] = {}
    by_length = sorted(range(len(stories)), key=lambda i: len(stories[i]))
    for begin in range(0, len(stories), STORIES_AT_A_TIME):
        some = by_length[begin : begin + STORIES_AT_A_TIME]
        ids = encode_for_model([stories[i][:-1] for i in some], tokenizer)
        with eval_mode(model), torch.no_grad():
            found = model(ids.to(device)).cpu().double().log_softmax(dim=-1)
        rows |= {i: one[: len(stories[i])] for i, one in zip(some, found, strict=True)}
    return [rows[i] for i in range(len(stories))]


def model_predictions(
    model: nn.Module, tokenizer: CharTokenizer, stories: Sequence[str] = ()
) -> Predict:
    """What ``accuracy`` asks for, of a language model.

    Args:
        model: as for ``log_probabilities``.
        tokenizer: the model's, with a ``start_character``, which stands before a story.
        stories: what will be asked for, which is computed right now and many at a time.
            Others are computed one by one when they are asked for.

    Returns:
        predict: a function of a story and indices.

    Raises:
        ValueError: a tokenizer without a start character.
    """
    rows = log_probabilities(model, tokenizer, stories)
    known = dict(zip(stories, rows, strict=True))

    def predict(story: str, places: list[int]) -> Tensor:
        if story in known:
            return known[story][places].exp().float()
        return log_probabilities(model, tokenizer, [story])[0][places].exp().float()

    return predict


def ngram_predictions(ngram: NGramModel) -> Predict:
    """What ``accuracy`` asks for, of an ``NGramModel``."""

    def predict(story: str, places: list[int]) -> Tensor:
        rows = [ngram.next_probabilities(story[:place]) for place in places]
        return torch.tensor([list(row.values()) for row in rows])

    return predict
