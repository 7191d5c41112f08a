"""The quiz, answered by keyboard: each answer explains itself."""

import re
from html import escape

import pytest

from helpers.views import quiz
from tests.browser.conftest import THEMES
from tests.browser.test_accessibility import violations
from tests.samples.views import SAMPLES

QUESTION = "Your layer divides by `sqrt(D)` after softmax. What breaks?"
RIGHT = ("The rows of `weights` sum to less than 1.", "A row sums to `1 / sqrt(D)`.")
WRONG = [
    ("Nothing: dividing before or after is the same.", "softmax isn't linear."),
    ("The mask: each word sees the `future`.", "A weight of 0 stays `0`."),
    ("The shapes don't fit any more.", "A number divides every entry."),
]
WHY = dict([RIGHT, *WRONG])
HEADING = "page-has-heading-one"  # a view alone on its page has no heading


def ask(**changes):
    return quiz(**{"question": QUESTION, "right": RIGHT, "wrong": WRONG} | changes)


def order(view):
    return [one["answer"] for one in view.state["answers"]]


def plain(text):
    return text.replace("`", "")


def test_each_answer_explains_itself(show_views):
    shown = show_views(ask())
    answers = order(ask())
    assert shown.value("verdict") == "Choose an answer."
    assert shown.page.locator(".live :checked").count() == 0
    marks = [""] * 4
    assert [shown.value(f"mark {i}") for i in range(4)] == marks
    for i, answer in enumerate(answers):
        shown.press(f"answer-{i}", "Space")
        verdict = "✓ Right." if answer == RIGHT[0] else "✗ Not this one."
        assert shown.value("verdict") == f"{verdict} {plain(WHY[answer])}"
        assert shown.control(f"answer-{i}").is_checked()
        marks[i] = "✓ right" if answer == RIGHT[0] else "✗ no"
        assert [shown.value(f"mark {j}") for j in range(4)] == marks
        label = shown.page.locator(f'label:has([data-control="answer-{i}"])')
        assert label.inner_text() == f"{plain(answer)}{marks[i]}"
    assert sorted(marks) == ["✓ right", "✗ no", "✗ no", "✗ no"]
    assert shown.moved == shown.controls()


def test_arrow_keys_move_among_the_answers(show_views):
    shown = show_views(ask())
    answers = order(ask())
    shown.page.keyboard.press("Tab")
    for i in (1, 2, 3, 0):
        shown.page.keyboard.press("ArrowDown")
        assert shown.value("verdict").endswith(plain(WHY[answers[i]]))


def test_backticks_mark_code(show_views):
    shown = show_views(ask())
    code = shown.page.locator(".live code")
    assert sorted(code.all_inner_texts()) == ["future", "sqrt(D)", "weights"]
    shown.press(f"answer-{order(ask()).index(RIGHT[0])}", "Space")
    verdict = shown.page.locator('[data-value="verdict"] code')
    assert verdict.all_inner_texts() == ["1 / sqrt(D)"]


def test_two_questions_are_answered_apart(show_views):
    shown = show_views(ask(), ask())
    first = shown.page.locator('[data-control="answer-1"]').first
    first.check()
    verdicts = shown.page.locator('[data-value="verdict"]').all_inner_texts()
    assert plain(WHY[order(ask())[1]]) in verdicts[0]
    assert verdicts[1] == "Choose an answer."
    shown.page.locator('[data-control="answer-2"]').last.check()
    assert first.is_checked()


def test_the_order_follows_from_the_texts_alone():
    assert order(ask()) == order(ask(wrong=WRONG[::-1]))
    assert order(ask()) == order(ask(right=(RIGHT[0], "Another reason.")))
    assert sorted(order(ask())) == sorted(WHY)
    assert order(ask()) == [RIGHT[0], WRONG[1][0], WRONG[0][0], WRONG[2][0]]


def test_the_right_answer_stands_anywhere():
    views = [ask(question=f"Question {i}?") for i in range(200)]
    places = [order(view).index(RIGHT[0]) for view in views]
    for place in range(4):
        assert 30 <= places.count(place) <= 70


def test_without_a_script_all_answers_are_explained():
    html = ask()._repr_html_()
    assert "<details open><summary>All answers, explained</summary>" in html
    assert re.search(r"<caption>Your layer divides by sqrt\(D\)", html)
    for i, answer in enumerate(order(ask()), start=1):
        right = "yes" if answer == RIGHT[0] else "no"
        cells = [plain(answer), right, plain(WHY[answer])]
        row = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        assert f'<tr><th scope="row">{i}</th>{row}' in html


@pytest.mark.one_in(4)
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("view", [ask, SAMPLES["quiz"]], ids=["plain", "hostile"])
def test_a_quiz_is_accessible_and_fits_a_phone(show_views, view, theme):
    shown = show_views(view(), theme=theme)
    shown.page.set_viewport_size({"width": 375, "height": 800})
    shown.page.locator("summary").click()  # the answers as a table
    for i in range(len(view().state["answers"])):
        shown.press(f"answer-{i}", "Space")
        found = [one for one in violations(shown.page) if one[0] != HEADING]
        assert found == []
    wide = shown.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    for label in shown.page.locator(".live label, summary").all():
        assert label.bounding_box()["height"] >= 24


PAIR = r"must be a pair of texts with words, \(answer, why\), got"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question": " "}, r"question must be a text with words, got ' '"),
        ({"question": None}, r"question must be a text with words, got None"),
        ({"right": "yes"}, rf"right {PAIR} 'yes'"),
        ({"right": "ab"}, rf"right {PAIR} 'ab'"),
        ({"right": ("yes",)}, rf"right {PAIR} \('yes',\)"),
        ({"right": ("yes", "")}, rf"right {PAIR} \('yes', ''\)"),
        ({"right": ("", "why")}, rf"right {PAIR} \('', 'why'\)"),
        ({"right": (1, "why")}, rf"right {PAIR} \(1, 'why'\)"),
        ({"wrong": [WRONG[0], (" ", "why")]}, rf"wrong\[1\] {PAIR} \(' ', 'why'\)"),
        ({"wrong": WRONG[0]}, rf"wrong\[0\] {PAIR} 'Nothing"),
        ({"wrong": []}, r"wrong must be a list of 2 to 4 pairs, got \[\]"),
        ({"wrong": WRONG[:1]}, r"wrong must be a list of 2 to 4 pairs, got \[\("),
        ({"wrong": WRONG + WRONG}, r"wrong must be a list of 2 to 4 pairs, got \[\("),
        ({"wrong": dict(WRONG)}, r"wrong must be a list of 2 to 4 pairs, got \{"),
        ({"wrong": WRONG[:1] * 2}, r"answers that differ, got 'Nothing.*' twice"),
        (
            {"wrong": [WRONG[0], (f" {RIGHT[0]}", "why")]},
            r"right and wrong must hold answers that differ, got 'The rows.*' twice",
        ),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        ask(**change)
