"""helpers.notebook.circuit_graph: which head tells which, at which token."""

import pytest

from helpers.notebook.circuit_graph import Arrow, circuit_graph

TOKENS = ["When", " Mary", " and", " John", " met", ",", " John", " said"]
HEADS = {"2.7": ("2", 6), "12.0 12.4": ("12", 7), "13.1": ("13", 7)}
ARROWS = [
    Arrow(1, "2.7", "looks", "0.5"),
    Arrow("2.7", "12.0 12.4", "values", "0.25"),
    Arrow("13.1", "answer", "lowers", "-1.5"),
    Arrow("12.0 12.4", "answer", "raises", "+2.0"),
]


def drawn(**changed):
    given = {"heads": HEADS, "arrows": ARROWS} | changed
    return circuit_graph(TOKENS, **given, title="A circuit", answer="her lead")


def test_the_words_tell_each_arrow():
    assert drawn().alt == (
        "A circuit. 2.7, at token 6 (John), looks at token 1 (Mary), 0.5; "
        "2.7 tells the values of 12.0 12.4, 0.25; 13.1 lowers her lead, -1.5; "
        "12.0 12.4 raises her lead, +2.0"
    )


def test_a_look_without_a_number_is_told_without_one():
    assert drawn(arrows=[Arrow(1, "2.7", "looks", "")]).alt == (
        "A circuit. 2.7, at token 6 (John), looks at token 1 (Mary)"
    )


def test_layers_go_to_the_right_and_a_head_stands_on_the_row_of_its_token():
    (axes,) = drawn().axes
    at = {one.get_text(): one.get_position() for one in axes.texts if one.get_text()}
    across = [at[one][0] for one in ("2.7", "12.0\n12.4", "13.1")]
    assert across == sorted(set(across))
    assert at["2.7"][1] == at["John"][1]
    assert at["13.1"][1] == at["12.0\n12.4"][1] == at["said"][1]
    down = [at[one][1] for one in ("Mary", "John", "said", "her lead")]
    assert down == sorted(set(down))
    assert "and John met," in at  # one row for what no arrow begins at
    assert [one.get_text() for one in axes.get_xticklabels()] == ["2", "12", "13"]


def test_what_a_head_looks_at_leads_straight_down_to_it():
    (axes,) = drawn().axes
    look = next(one for one in axes.texts if not one.get_text())
    assert look.xyann[0] == look.xy[0]


def test_an_arrow_is_as_thick_as_its_share_and_dashed_where_it_is_not_sure():
    arrows = [
        Arrow("13.1", "answer", "raises", "+1.0", 0.2),
        Arrow("12.0 12.4", "answer", "raises", "+2.0", 0.4, sure=False),
    ]
    picture = drawn(arrows=arrows)
    thin, thick = (
        one.arrow_patch for one in picture.axes[0].texts if not one.get_text()
    )
    assert thick.get_linewidth() - thin.get_linewidth() == pytest.approx(1.4)
    assert (thin.get_linestyle(), thick.get_linestyle()) == ("-", "--")
    assert picture.alt.endswith("raises her lead, +2.0 (dashed: its interval holds 0)")


def test_each_arrow_leads_from_what_tells_to_what_is_told():
    (axes,) = drawn().axes
    at = {one.get_text(): one.get_position() for one in axes.texts if one.get_text()}
    ends = [one.xy for one in axes.texts if not one.get_text()]
    assert ends == [at[one] for one in ("2.7", "12.0\n12.4", "her lead", "her lead")]
    starts = [one.xyann for one in axes.texts if not one.get_text()]
    assert starts[0][1] == at["Mary"][1]
    assert starts[1:] == [at[one] for one in ("2.7", "13.1", "12.0\n12.4")]


def test_no_effect_stands_between_two_arrows_to_the_answer():
    arrows = [
        Arrow(name, "answer", "raises", effect)
        for name, effect in (("2.7", "+1"), ("12.0 12.4", "+2"), ("13.1", "+3"))
    ]
    heads = HEADS | {"14.2": ("14", 7)}  # so that 13.1 stands above the answer
    (axes,) = drawn(heads=heads, arrows=arrows).axes
    sides = {one.get_text(): one.get_ha() for one in axes.texts}
    assert (sides["+1"], sides["+2"], sides["+3"]) == ("right", "left", "left")


def test_a_long_effect_grows_away_from_the_arrows():
    arrows = [
        Arrow("2.7", "12.0 12.4", "values", "0.2 (off 0.1)"),
        *(Arrow(one, "answer", "raises", f"{one} off") for one in ("13.1", "14.2")),
    ]
    heads = HEADS | {"14.2": ("14", 7)}  # 13.1 stands above the answer
    (axes,) = drawn(heads=heads, arrows=arrows).axes
    sides = {one.get_text(): one.get_ha() for one in axes.texts}
    assert sides["13.1 off"] == sides["0.2 (off 0.1)"] == "right"
    assert sides["14.2 off"] == "left"


def test_the_legend_names_each_kind_once_and_no_other():
    (axes,) = drawn().axes
    told = [one.get_text() for one in axes.get_legend().get_texts()]
    assert told == ["looks at", "into values", "to the answer"]
    assert [one.get_linestyle() for one in axes.get_legend().get_lines()] == [
        *(":", "-", "-")
    ]


def test_an_arrow_without_a_number_has_none_in_words():
    picture = drawn(arrows=[Arrow("13.1", "answer", "raises", "")])
    assert picture.alt == "A circuit. 13.1 raises her lead"


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(ValueError, match="heads must hold at least one head"):
        drawn(heads={}, arrows=[])
    with pytest.raises(ValueError, match=r"from 0 to 7, got 8 of 2\.0"):
        drawn(heads={"2.0": ("2", 8)}, arrows=[])
    with pytest.raises(ValueError, match=r"from 0 to 7, got -1 of an arrow to 13\.1"):
        drawn(arrows=[Arrow(-1, "13.1", "looks", "0.1")])
    with pytest.raises(ValueError, match=r"kind must be one of .* got 'asks'"):
        drawn(arrows=[Arrow(1, "13.1", "asks", "0.1")])
    with pytest.raises(ValueError, match=r"share must be from 0 to 1, got 1\.5"):
        drawn(arrows=[Arrow(1, "13.1", "looks", "0.1", 1.5)])
    with pytest.raises(ValueError, match=r"heads that are drawn.* got '3\.1'"):
        drawn(arrows=[Arrow("3.1", "answer", "raises", "0.1")])
