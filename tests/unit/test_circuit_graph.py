"""helpers.notebook.circuit_graph: heads as arrows between tokens."""

import pytest

from helpers.notebook.circuit_graph import circuit_graph

TOKENS = ["When", " Mary", " met", " John"]
HEADS = {"12.0": (1, 3), "2.7": (0, 1), "12.4": (1, 3)}


def test_heads_of_a_layer_between_the_same_tokens_share_an_arrow():
    picture = circuit_graph(TOKENS, HEADS, title="A circuit", notes={"12.4": "copy"})
    assert picture.alt == (
        "A circuit. Heads, the lower layers first. 2.7: from token 0 (When) to token 1 "
        "(Mary); 12.0, 12.4 copy: from token 1 (Mary) to token 3 (John)"
    )


def test_each_arrow_leads_from_the_token_looked_at_to_the_one_that_asks():
    (axes,) = circuit_graph(TOKENS, HEADS, title="A circuit").axes
    arrows = [one for one in axes.texts if not one.get_text()]
    assert [(one.xyann[0], one.xy[0]) for one in arrows] == [(0, 1), (1, 3)]
    lower, upper = (one.xy[1] for one in arrows)
    assert lower < upper
    labels = [one.get_text() for one in axes.texts if one.get_text()]
    assert labels == ["2.7", "12.0, 12.4"]
    assert [one.get_text() for one in axes.get_xticklabels()] == [
        *("When", "Mary", "met", "John")
    ]


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(ValueError, match="heads must hold at least one head"):
        circuit_graph(TOKENS, {}, title="none")
    with pytest.raises(ValueError, match=r"from 0 to 3, got \(1, 4\) of 2.0"):
        circuit_graph(TOKENS, {"2.0": (1, 4)}, title="outside")
    with pytest.raises(ValueError, match=r"notes must be of heads .* got '3\.1'"):
        circuit_graph(TOKENS, HEADS, title="unknown", notes={"3.1": "?"})
