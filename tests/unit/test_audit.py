"""The book's audit is the one of attention_audit, and passes the book's own layers."""

import pytest

import attention_audit
from helpers import attention, checks

D_IN, T = 4, 6
pytestmark = pytest.mark.usefixtures("one_thread")


def layers():
    """Layers of the book, with the options of their audit."""
    open_ = {"causal": False}
    return {
        "V1": (attention.SelfAttentionV1(D_IN, 3), open_),
        "V2": (attention.SelfAttentionV2(D_IN, 3), open_),
        "V2 with biases": (attention.SelfAttentionV2(D_IN, 3, True), open_),
        "causal": (attention.CausalAttention(D_IN, 3, T, 0.0), {}),
        "causal, dropout": (attention.CausalAttention(D_IN, 3, T, 0.5), {}),
        "wrapper": (attention.MultiHeadAttentionWrapper(D_IN, 3, T, 0.1, 2), {}),
        "many heads": (attention.MultiHeadAttention(D_IN, 6, T, 0.1, 3, True), {}),
        "fused": (attention.MultiHeadAttention(D_IN, 6, T, 0.1, 3, fused=True), {}),
    }


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", layers())
def test_a_layer_of_the_book_passes_every_line(name):
    layer, options = layers()[name]
    found = checks.audit(layer, D_IN, T, **options)
    assert isinstance(found, attention_audit.Audit)
    assert found.ok, found
    by_name = {row.check: row.result for row in found.rows}
    assert by_name["scale"] == by_name["heads"] == "passes"


def test_there_is_one_audit():
    assert checks.audit is attention_audit.audit
