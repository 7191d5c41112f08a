"""What the audit says of layers by others is what is expected."""

import pytest

import corpus


@pytest.mark.slow
@pytest.mark.parametrize("hand", corpus.HANDS)
def test_audits_of_layers_are_the_expected_ones(hand):
    members = [one for one in corpus.LAYERS if one.hand == hand]
    assert sum(one.right for one in members) >= 20
    assert sum(not one.right for one in members) >= 50
    expected, differing = corpus.expected(), []
    now = corpus.fingerprint(
        corpus.sources(hand), [expected[str(member)] for member in members]
    )
    if corpus.judged(corpus.FOLDER).get(hand) == now:  # all agreed on these sources
        some = corpus.one_of_each(corpus.LAYERS, expected)
        members = [member for member in members if member in some]
    for member in members:
        before, now = expected[str(member)], member.verdict()
        if now != {name: before[name] for name in now}:
            differing.append(f"{member}: {member.says}\n- {before}\n+ {now}")
    assert not differing, "\n".join(differing)


def test_every_layer_has_an_expectation():
    assert [*corpus.expected()] == [str(one) for one in corpus.LAYERS]
