"""Exercise of chapter 18: direct logit attribution of one head."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.several_ways import several


def _columns(context, head):
    return slice(head * len(context), (head + 1) * len(context))


def attributed(context, out_proj, head, unembedding):
    """Right."""
    return unembedding @ (out_proj[:, _columns(context, head)] @ context)


def _by_rows(context, out_proj, head, unembedding):
    """The head's rows of a square matrix, or its columns turned."""
    return unembedding @ (out_proj.T[:, _columns(context, head)] @ context)


def _of_head(other):
    """The columns of another head, where there is one."""

    def found(context, out_proj, head, unembedding):
        heads = out_proj.shape[1] // len(context)
        return attributed(context, out_proj, other(head, heads), unembedding)

    return found


def _interleaved(context, out_proj, head, unembedding):
    heads = out_proj.shape[1] // len(context)
    return unembedding @ (out_proj[:, head::heads] @ context)


def _shared(context, out_proj, head, unembedding):
    heads = out_proj.shape[1] // len(context)
    return unembedding @ (out_proj @ context.repeat(heads))


def _normed(stream):
    return stream / stream.pow(2).mean().sqrt()


def _after_norm(context, out_proj, head, unembedding):
    return unembedding @ _normed(out_proj[:, _columns(context, head)] @ context)


MISTAKES = (
    *several(
        "another head's columns",
        [
            _of_head(lambda head, heads: 0),
            _of_head(lambda head, heads: max(head - 1, 0)),
            _of_head(lambda head, heads: min(head + 1, heads - 1)),
            _of_head(lambda head, heads: heads - 1),
            _of_head(lambda head, heads: heads - 1 - head),
        ],
        "Heads are counted from 0, so head h has the columns h D to (h + 1) D - 1.",
    ),
    Mistake(
        "every H-th column",
        _interleaved,
        "The heads lie side by side, D columns each; they don't alternate.",
    ),
    Mistake(
        "the context given to all heads",
        _shared,
        "This one head's context meets its own D columns; the others add nothing here.",
    ),
    Mistake(
        "rows of the output projection",
        _by_rows,
        "nn.Linear multiplies by weight.T, so an input is met by the weight's "
        "columns: (C, H D) has a column for each feature of the heads.",
    ),
    Mistake(
        "softmax of the logits",
        lambda *inputs: attributed(*inputs).softmax(-1),
        "Logits are asked for. They can be added up over heads; probabilities can't.",
    ),
    Mistake(
        "logits with their mean taken off",
        lambda *inputs: attributed(*inputs) - attributed(*inputs).mean(),
        "Nothing is to be taken off here.",
    ),
    Mistake(
        "the head's addition normed by itself",
        _after_norm,
        "The norm is left out. With a norm of its own, a head that adds little would "
        "say as much as one that adds a lot.",
    ),
    Mistake(
        "what the head adds to the stream",
        lambda context, out_proj, head, unembedding: (
            out_proj[:, _columns(context, head)] @ context
        ),
        "This is (C,), what the head adds to the residual stream. The unembedding "
        "turns it into logits.",
    ),
)


def _heads():
    generator = torch.Generator().manual_seed(21)

    def case(name, D, H, C, vocab_size, head):
        context, out_proj, unembedding = (
            torch.randn(*shape, generator=generator).round(decimals=1)
            for shape in ((D,), (C, H * D), (vocab_size, C))
        )
        inputs = {"context": context, "out_proj": out_proj, "head": head}
        return Case(name, {**inputs, "unembedding": unembedding})

    return [
        case("the second of two heads", 2, 2, 3, 4, 1),
        case("the first of three", 3, 3, 9, 5, 0),
        case("the last of three", 3, 3, 9, 7, 2),
        case("one in the middle", 4, 5, 6, 8, 2),
        case("a single head", 4, 1, 4, 3, 0),
        case("a wide stream", 2, 4, 16, 5, 3),
    ]


EXERCISE = Exercise(
    name="head_to_logits",
    stub="my_head_to_logits(context, out_proj, head, unembedding)",
    asks=(
        "a function of a head's context (D,), of the weight out_proj (C, H D) of the "
        "output projection, of which head it is, counted from 0, and of the "
        "unembedding (vocab_size, C). It returns what this head alone adds to the "
        "logits, (vocab_size,)."
    ),
    returns={"logits": "(vocab_size,)"},
    reference=attributed,
    cases=_heads,
    mistakes=MISTAKES,
)
