"""A question with answers to choose from; each answer explains itself."""

import hashlib
from collections.abc import Iterable, Sequence

from helpers.views.view import Table, View

Answer = tuple[str, str]


def quiz(question: str, *, right: Answer, wrong: Sequence[Answer]) -> View:
    """Ask a question; whichever answer a reader chooses says why it is right or not.

    The order of the answers follows from the texts of the question and the answers: it
    is the same on every machine, and an explanation may change without changing it.

    Args:
        question: a text. In every text, what stands between backticks is code.
        right: the right answer, a pair of texts (answer, why).
        wrong: 2 to 4 wrong ones, a list of pairs of texts (answer, why not).

    Returns:
        view: a View.

    Raises:
        ValueError: what isn't a text or is empty, what isn't a pair, too few or too
            many wrong answers, or two answers that are equal.
    """
    if not _is_text(question):
        raise ValueError(f"question must be a text with words, got {question!r}")
    if not isinstance(wrong, (list, tuple)) or not 2 <= len(wrong) <= 4:
        raise ValueError(f"wrong must be a list of 2 to 4 pairs, got {wrong!r}")
    named = {"right": right} | {f"wrong[{i}]": pair for i, pair in enumerate(wrong)}
    for name, pair in named.items():
        _require_pair(name, pair)
    _require_differing([answer for answer, _ in named.values()])
    answers = [
        {"answer": answer, "right": name == "right", "why": why}
        for name, (answer, why) in named.items()
    ]
    answers.sort(key=lambda one: _place(question, one["answer"]))
    return View(
        "quiz",
        "Question",
        {"question": question, "answers": answers},
        [
            Table(
                _plain(question),
                [
                    [
                        _plain(one["answer"]),
                        "yes" if one["right"] else "no",
                        _plain(one["why"]),
                    ]
                    for one in answers
                ],
                columns=["answer", "right?", "why"],
                rows=range(1, len(answers) + 1),
            )
        ],
        summary="All answers, explained",
    )


def _plain(text: str) -> str:
    """A text without the marks around its code."""
    return text.replace("`", "")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _require_pair(name: str, pair: Answer) -> None:
    if not isinstance(pair, (list, tuple)) or [*map(_is_text, pair)] != [True, True]:
        raise ValueError(
            f"{name} must be a pair of texts with words, (answer, why), got {pair!r}"
        )


def _require_differing(answers: Iterable[str]) -> None:
    seen = set()
    for answer in map(str.strip, answers):
        if answer in seen:
            raise ValueError(
                f"right and wrong must hold answers that differ, got {answer!r} twice"
            )
        seen.add(answer)


def _place(question: str, answer: str) -> str:
    """What the answers are sorted by: nothing that a reader could guess."""
    return hashlib.sha256(f"{question}\0{answer}".encode()).hexdigest()
