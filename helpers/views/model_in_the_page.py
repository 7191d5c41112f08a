"""A trained language model that runs in the page, with its attention and its heads."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from helpers.views.page_model import model_state, next_characters, require_texts
from helpers.views.view import View


def model_in_the_page(
    config: Mapping[str, int],
    weights: Mapping[str, Tensor],
    alphabet: str,
    *,
    prompts: Mapping[str, str],
    questions: Sequence[tuple[str, Mapping[int, str]]] = (),
    expected: Tensor,
    only_writing: bool = False,
) -> View:
    """Write with a trained model, look into it, and switch heads off.

    The page itself computes what the model predicts: characters one at a time, with
    keys and values kept.

    Args:
        config: a dict of "contextLength", "width", "heads" and "layers".
        weights: a dict from the names of a TransformerLM's parameters to its 8-bit
            matrices, their scales and its float16 vectors, as ``to_eight_bits`` of
            ``helpers.models`` returns it; learned positions, LayerNorm, GELU, an untied
            head.
        alphabet: a string, the characters in the order of their ids.
        prompts: a dict from labels to texts that a reader may start from.
        questions: pairs of a text and a dict from an index in it to the kind of
            question that its character answers.
        expected: (vocab_size,), the probabilities after the first prompt.
        only_writing: show the text and the next characters, but neither temperature
            and top-k nor the heads and what they look at; the questions aren't asked.

    Returns:
        view: a View.

    Raises:
        ValueError: weights of another kind, a prompt with a character outside the
            alphabet, or probabilities that don't count the alphabet.

    Source: Vaswani et al. 2017, section 3. Chapters 7 and 9.
    """
    state = model_state(config, weights, alphabet)
    require_texts("prompt", prompts, alphabet)
    table = next_characters("After the first prompt", expected, alphabet)
    scales = (name for name in weights if name.endswith(".scales"))
    count = sum(one.numel() for one in weights.values())
    count -= sum(weights[name].numel() for name in scales)
    return View(
        "model_in_the_page",
        f"The model in the page: {count:,} numbers",
        {
            **state,
            "prompts": [[label, text] for label, text in prompts.items()],
            "questions": [
                [text, [[place, kind] for place, kind in sorted(marks.items())]]
                for text, marks in questions
            ],
            **({"onlyWriting": True} if only_writing else {}),
        },
        [table],
    )
