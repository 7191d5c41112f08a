"""Further questions of checks that passed: inputs, lengths and parts of other kinds."""

import copy
import itertools

import torch
from torch import Tensor

from attention_audit.handling import one_token
from attention_audit.inside import inside_of, look_inside, traced
from attention_audit.naming import role_of
from attention_audit.reading import order_of_tokens, token_gradients
from attention_audit.report import FAILS
from attention_audit.sources import Source
from attention_audit.subject import (
    TOLERANCE,
    Subject,
    checked_context,
    context_of,
    largest_change,
    number,
)

FEW = 7  # tokens, for what is asked of several lengths
MORE_KEYS = 16  # that are no tokens, such as a learned memory
LONG = 40  # tokens: more than two blocks of 16
CUTS = (5, 12, 15, 16, 17, 20, 24, 31, 32, 33, 36, 39)
UNEXPLAINED = 1e-6
NOISE, NOISE_OF_DOUBLES = 1e-6, 1e-14  # of the largest gradient


# --- lengths --------------------------------------------------------------------------


def long_sequences(subject: Subject) -> str:
    """Whether later tokens show in a sequence of several blocks, where it takes one.

    Some layers work in blocks of 16, and go wrong from the second one on.
    """
    if not subject.causal or subject.T >= LONG:
        return ""
    module, x, other = subject.copy(), subject.x(LONG), subject.x(LONG, seed=1)
    before = context_of(module, x)  # an error says that it takes no such sequence
    for cut in CUTS:
        after = context_of(module, torch.cat([x[:, :cut], other[:, cut:]], dim=1))
        change, small = largest_change(before[:, :cut], after[:, :cut])
        if not small:
            return (
                f"of {LONG} tokens, those from {cut} on move an earlier position by "
                f"{number(change)}"
            )
    return ""


# --- tokens ---------------------------------------------------------------------------


def tokens_of_zeros(subject: Subject) -> str:
    """Whether a token of zeros, such as an empty frame, is taken for a hidden one."""
    if not subject.declared.softmax or subject.forward_only or subject.T < 3:
        return ""
    x = subject.x()
    x[:, 1::2] = 0.0
    module, may_see = subject.copy(), subject.may_see(subject.T)
    if not context_of(module, x).isfinite().all():
        return "with tokens of zeros among others, not all numbers are finite"
    usual = dict(token_gradients(subject))
    for t, gradients in token_gradients(subject, x=x):
        gone = may_see[t] & (gradients.cpu() == 0) & (usual[t].cpu() != 0)
        for s in gone.nonzero().flatten().tolist():
            if s % 2:
                return f"position {t} doesn't depend on token {s}, which is all zeros"
    return ""


def read_by_rounding(subject: Subject) -> str:
    """Whether what counts as read is rounding: in float64 it is far smaller, or gone.

    A sum of weights that is 1 whatever the tokens are has a gradient of 1e-9 by them.
    """
    if not subject.declared.softmax or subject.forward_only:
        return ""
    if subject.x().dtype != torch.float32:
        return ""
    may_see, doubted = subject.may_see(subject.T), []
    for t, gradients in token_gradients(subject):
        small = (gradients < NOISE * gradients.max()).cpu() & may_see[t]
        doubted += [(t, s) for s in small.nonzero().flatten().tolist()]
    if not doubted:
        return ""
    wide = copy.copy(subject)
    wide.module, wide.looked = subject.copy().double(), []
    exact = dict(token_gradients(wide))
    for t, s in doubted:
        if exact[t][s] < NOISE_OF_DOUBLES * exact[t].max():
            return (
                f"position {t} doesn't depend on token {s}: its gradient is rounding, "
                f"{number(exact[t][s].item())} in float64"
            )
    return ""


# --- equal tokens ---------------------------------------------------------------------


def equal_tokens(subject: Subject) -> str:
    """Whether the same token again and again gives what it gives alone.

    An average of equal values is that value, whatever the weights are, as long as they
    sum to 1; with relative positions, too, of which values know nothing. No weights
    need to be seen for that.
    """
    if subject.declared.positions not in (False, "rotary", "alibi"):
        return ""
    if subject.T < 3 or not _all_weight_on_tokens(subject):
        return ""
    # Positions that weren't declared, the future and chance show elsewhere.
    if FAILS in (order_of_tokens(subject)[0], one_token(subject)[0]):
        return ""
    module, x = subject.copy(), subject.x()[:, :1]
    alone = context_of(module, x)
    together = context_of(module, x.expand(-1, subject.T, -1).contiguous())
    slack = max(10, subject.slack())
    change, small = largest_change(together, alone.expand_as(together), slack=slack)
    if small:
        return ""
    if T := _shrinking_padding(subject):
        return (
            f"{subject.T} equal tokens give something else than one alone, by "
            f"{number(change)}: weights go to keys that are no tokens, to fewer with "
            f"{T + 1} tokens than with {T}; is padding to a multiple hidden?"
        )
    return (
        f"{subject.T} equal tokens give something else than one alone, by "
        f"{number(change)}: weights don't sum to 1, or heads and tokens are mixed"
    )


def one_token_alone(subject: Subject) -> str:
    """Whether queries and keys matter to a token alone: its only weight is 1."""
    if subject.forward_only or not _all_weight_on_tokens(subject):
        return ""
    module, x = subject.copy(), subject.x()[:, :1]
    context = context_of(module, x)
    generator = torch.Generator().manual_seed(1)
    direction = torch.randn(context.shape, generator=generator).to(context)
    (context * direction).sum().backward()
    largest = {
        role: (name, parameter.grad.abs().max().item())
        for name, parameter in module.named_parameters()
        if (role := role_of(name)) and parameter.grad is not None
    }
    _, most = largest.get("values", ("", 0.0))
    for role in ("queries", "keys"):
        name, gradient = largest.get(role, ("", 0.0))
        if gradient > 1e-2 * most > 0:
            return (
                f"{name} moves what one token alone gives, gradient "
                f"{number(gradient)}: its only weight isn't 1"
            )
    return ""


def _all_weight_on_tokens(subject: Subject) -> bool:
    """Whether rows sum to 1 over tokens, as far as is seen: no sink, no memory."""
    if not subject.declared.softmax:
        return False
    inside = inside_of(subject)
    if inside is not None:
        return bool(((inside.weights.sum(dim=-1) - 1).abs() < 1e-2).all())
    if any("sink" in name for name, _ in subject.module.named_parameters()):
        return False
    beyond = _keys_beyond(subject, min(subject.T, FEW))
    if beyond is None:
        return False
    if not beyond:
        return True
    # In a window fewer tokens have weight, and as many other keys.
    none_or_its_own = max(beyond) == 0 or _shrinking_padding(subject) > 0
    return subject.declared.window is None and none_or_its_own


def _keys_beyond(subject: Subject, T: int) -> list[int] | None:
    """How many keys more than T tokens have weight, in products that have more.

    None where nothing is seen.
    """
    trace = traced(subject, subject.x(T)[:1])
    if trace is None:
        return None
    # Keys that are no tokens make rows longer; a sink is a number for each head.
    longer = [
        one.left
        for one in trace.products
        if T < one.left.shape[-1] <= T + MORE_KEYS
        and (one.left >= 0).all()
        and ((one.left.sum(-1) - 1).abs() < 1e-4).all()
    ]
    return [int((one > 0).sum(-1).max()) - T for one in longer]


def _shrinking_padding(subject: Subject) -> int:
    """With how many tokens fewer keys that are none are seen if one is added; or 0.

    A learned memory is as long for all. Zeros up to a multiple of a block become fewer,
    and must be hidden. In a window each token hides another.
    """
    if subject.declared.window is not None:
        return 0
    lengths = range(2, min(subject.T, FEW) + 1)
    some = [max(_keys_beyond(subject, T) or [0]) for T in lengths]
    for T, (one, other) in enumerate(itertools.pairwise(some), start=2):
        if one > 0 and other < one:
            return T
    return 0


def equal_tokens_unseen(subject: Subject) -> str:
    """``equal_tokens`` where no weights are seen: their sums are in doubt."""
    return equal_tokens(subject) if inside_of(subject) is None else ""


def equal_tokens_seen(subject: Subject) -> str:
    """``equal_tokens`` where weights are seen: what follows them is in doubt."""
    return equal_tokens(subject) if inside_of(subject) is not None else ""


# --- heads ----------------------------------------------------------------------------


def heads_normed_together(subject: Subject) -> str:
    """Whether a norm over heads couples them before their product.

    Then squares of a feature in all heads sum to one number, with a gain and a bias.
    """
    inside = inside_of(subject)
    if inside is None or inside.H < 2:
        return ""
    for name in ("queries", "keys"):
        source = inside.source(getattr(inside, name))
        if source is not None and _coupled(source):
            return f"heads share a norm over all heads, feature by feature, of {name}"
    return ""


def _coupled(source: Source) -> bool:
    heads = torch.unique(source.before, dim=0)
    H, T, D = heads.shape
    if H < 2 or T * D < 4 * H:
        return False
    rows = heads.flatten(1).T  # (T D, H)
    columns = torch.cat([rows * rows, rows], dim=1)
    columns = columns / columns.norm(dim=0).clamp_min(1e-30)
    ones = torch.ones(len(rows), 1, dtype=rows.dtype)
    share = torch.linalg.lstsq(columns, ones, driver="gelsd").solution
    rest = (columns @ share - ones).norm() / ones.norm()
    return bool(rest < UNEXPLAINED)


def token_alone_counts(subject: Subject) -> str:
    """Whether a token alone gives something else than another one."""
    module = subject.copy()
    one, other = (context_of(module, subject.x(seed=seed)[:, :1]) for seed in (0, 7))
    same = torch.equal(one, other)
    return "alone, any two tokens give the same: nothing of them comes through" * same


def features_read_by_heads(subject: Subject) -> str:
    """Whether a head's queries, keys or values read fewer features than another's."""
    inside = inside_of(subject)
    if inside is None or inside.H < 2:
        return ""
    read: dict[str, list[Tensor]] = {"queries": [], "keys": [], "values": []}
    probed = subject.places(0, subject.d_in - 1)
    for j in probed:
        x = inside.x.clone()
        x[..., j] += 1.0
        after = look_inside(subject, x=x.to(subject.x()))
        if after is None:
            return ""
        for name, moved in read.items():
            before, now = getattr(inside, name), getattr(after, name)
            if before.shape != now.shape:
                return ""
            changed = (now - before).abs().amax(dim=(1, 2))
            moved.append(changed > TOLERANCE * before.abs().max())
    for name, moved in read.items():
        heads = torch.stack(moved, dim=1)  # (H, features)
        some = heads.any(dim=0)
        for h, mine in enumerate(heads):
            if not mine[some].all():
                count, of = int(mine.sum()), int(some.sum())
                return (
                    f"the {name} of head {h} read {count} of {of} features that were "
                    "tried, all heads together all of them"
                )
    return ""


# --- documents ------------------------------------------------------------------------


def documents_apart(subject: Subject) -> str:
    """Whether documents in one sequence give what each gives alone."""
    packed = subject.declared.documents
    if packed is None or subject.T < 4:
        return ""
    module, x = subject.copy(), subject.x()
    first = subject.T // 2
    ids = torch.zeros(x.shape[:2], dtype=torch.int64, device=x.device)
    ids[:, first:] = 1
    ids[1:, 1:] += 1  # other borders in other sequences
    slack = max(10, subject.slack())

    def run(x: Tensor) -> Tensor:
        return checked_context(packed(module, x.clone(), ids.clone()), x)

    whole = run(x)
    if not whole.isfinite().all():
        return "with several documents in a sequence, not all numbers are finite"
    for b in range(subject.B):
        for one in ids[b].unique().tolist():
            mine = ids[b] == one
            other = x.clone()
            other[b, ~mine] = subject.x(seed=6)[b, ~mine]
            change, small = largest_change(run(other)[b, mine], whole[b, mine])
            if not small:
                return f"another document's tokens move a position by {number(change)}"
            if subject.declared.positions is True:
                continue  # they may count from the first place of the sequence
            alone = context_of(module, x[b : b + 1, mine])[0]
            change, small = largest_change(whole[b, mine], alone, slack=slack)
            if not small:
                return f"a document alone gives something else, by {number(change)}"
    return ""
