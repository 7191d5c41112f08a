"""Checks on heads: which features each has, and who asks whom.

Where queries, keys and values come from is found inside a call by their numbers, not by
names (``inside``); names count only where a parameter's says plainly what it is for.
"""

import itertools

import torch
from torch import Tensor

from attention_audit.alibi import published_slopes
from attention_audit.inside import (
    Inside,
    inside_of,
    look_inside,
    unseen,
)
from attention_audit.naming import role_of
from attention_audit.sources import PARALLEL, Source, earliest
from attention_audit.subject import (
    Result,
    Subject,
    fails,
    number,
    passes,
    skip,
)

HEADS = ("num_heads", "n_heads", "n_head", "nhead", "heads", "num_attention_heads")
KV_HEADS = (
    *("num_kv_heads", "n_kv_heads", "n_kv_head", "kv_heads", "num_key_value_heads"),
    "n_query_groups",
)


def heads_apart(subject: Subject) -> Result:
    """Each head has features of its own, the same ones for all that it does.

    As many heads as declared; no query feature in two of them; keys and values of the
    head that asks, or of its group; and the results side by side in the same order.
    """
    inside = inside_of(subject)
    if inside is None:
        return skip(unseen(subject))
    H = inside.H
    said = _said(subject, HEADS)  # 1 may be said by each of several parts
    wanted = subject.declared.num_heads or (said if said != 1 else None)
    if wanted not in (None, H):
        if not subject.declared.softmax:  # some have several products a head
            return skip(f"softmax=False, and {H} products for {wanted} heads")
        return fails(f"{H} heads attend; num_heads is {wanted}")
    if subject.T < 3:
        return skip("too few tokens to compare")
    if not subject.declared.softmax and not _in_order_of_scores(inside):
        return skip("softmax=False, and weights are mixed from several scores")
    found = [
        inside.source(part) for part in (inside.queries, inside.keys, inside.values)
    ]
    if any(one is None for one in found):
        return skip("queries, keys or values are mixed from several earlier results")
    queries, keys, values = (one for one in found if one is not None)
    for source, name in ((queries, "query"), (keys, "key"), (values, "value")):
        if _split_across_tokens(inside, source):
            return fails(
                f"the {name} of one token has numbers of several tokens: heads are "
                "split without a transposition"
            )
    if reason := _overlap(queries, "queries"):
        return fails(reason)
    kv_heads = subject.declared.num_kv_heads or _said(subject, KV_HEADS) or H
    if H % kv_heads:
        return fails(f"{H} heads can't share {kv_heads} key and value heads evenly")
    for source, name in ((keys, "keys"), (values, "values")):
        if reason := _wrong_group(queries, source, name, kv_heads):
            return fails(reason)
    if reason := _merged(inside, queries):
        return fails(reason)
    heads = f"{H} heads, each" if H > 1 else "one head,"
    return passes(f"{heads} {inside.D} features wide")


def _in_order_of_scores(inside: Inside) -> bool:
    """Whether larger scores have larger weights, row by row."""
    weights, raw = inside.weights, inside.raw
    larger = raw[..., :, None] > raw[..., None, :] + 1e-6
    known = (weights != 0)[..., :, None] & (weights != 0)[..., None, :]
    lower = weights[..., :, None] < weights[..., None, :] - 1e-9
    return not bool((larger & known & lower).any())


def _said(subject: Subject, names: tuple[str, ...]) -> int | None:
    """A number that the module or its parts have under one of these names."""
    for part in subject.module.modules():
        for name in names:
            value = getattr(part, name, None)
            if type(value) is int:
                return value
    return None


def _overlap(source: Source, name: str) -> str:
    """What two heads share, where they share some features."""
    heads = source.heads
    for h, one in enumerate(heads):
        if len(set(one)) < len(one):
            return f"head {h} has one feature of its {name} twice"
        for other in range(h):
            if common := len(set(one) & set(heads[other])):
                return f"heads {other} and {h} share {common} features of their {name}"
    return ""


def _wrong_group(queries: Source, source: Source, name: str, kv_heads: int) -> str:
    """Where keys or values of a head aren't those of its own place."""
    heads, H = source.heads, len(source.heads)
    # A part may be one for all heads, as what is rotated in latent attention.
    shared = set(heads[0]).intersection(*heads)
    if 0 < len(shared) < len(heads[0]):
        heads = [tuple(i for i in head if i not in shared) for head in heads]
    distinct = sorted(set(heads))
    if len(distinct) != kv_heads:
        if kv_heads == H:
            return (
                f"{H} heads of queries share {len(distinct)} of {name}; if they "
                f"shall, declare num_kv_heads={len(distinct)}"
            )
        return f"{H} heads have {len(distinct)} of {name}; num_kv_heads is {kv_heads}"
    for h, one in enumerate(distinct):
        if any(set(one) & set(other) for other in distinct[:h]):
            return f"two heads share some features of their {name}"
    order = sorted(range(H), key=lambda h: queries.heads[h])
    for rank, h in enumerate(order):
        expected = rank // (H // kv_heads)
        got = distinct.index(heads[h])
        if got != expected:
            return f"query head {h} has {name} {got}; those of its group are {expected}"
    return ""


def _split_across_tokens(inside: Inside, source: Source) -> bool:
    """Whether heads are an earlier result whose tokens were mixed on the way."""
    if "" not in source.parameters:
        return False
    first, heads, seen = int(source.place.min()), torch.unique(source.before, dim=0), 0
    trace, places = inside.trace, set(source.place.flatten().tolist())
    earlier = []
    for r, result in enumerate(trace.results[: inside.known]):
        columns = range(seen, seen + result.shape[1])
        seen = columns.stop
        if r in trace.ambiguous:
            if places & set(columns):  # its rows may be no tokens
                return False
        elif columns.start < first:
            earlier.append(result)
    return any(_tokens_mixed(heads, one) for one in earlier)


def _tokens_mixed(heads: Tensor, rows: Tensor) -> bool:
    """Whether rows (T, H D) have the numbers of heads (H, T, D), some in other rows.

    Whole rows may have changed places.
    """
    mine = heads.transpose(0, 1).flatten(1)
    if mine.shape != rows.shape or not torch.allclose(
        mine.flatten().sort().values, rows.flatten().sort().values, rtol=1e-9
    ):
        return False
    near = torch.cdist(mine.sort(dim=1).values, rows.sort(dim=1).values)
    return bool((near.amin(dim=1) > 1e-6 * mine.norm(dim=1)).any())


def _merged(inside: Inside, queries: Source) -> str:
    """Whether results lie side by side in the order of the queries' features."""
    H, T, D = inside.contexts.shape
    if H > 1:
        trace = inside.trace
        behind = [
            trace.results[r]
            for r in range(inside.known, len(trace.results))
            if r not in trace.ambiguous
        ]
        inputs = [
            one.left.transpose(0, 1).flatten(1)
            for one in inside.trace.products
            if one.known > inside.known and one.left.shape[1] == T
        ]
        if any(_tokens_mixed(inside.contexts, one) for one in [*behind, *inputs]):
            return (
                "what heads give several tokens lies in one row: they are put side by "
                "side without a transposition"
            )
    if H == 1 or queries.place.shape[1] != D:
        return ""
    wanted = inside.contexts.transpose(1, 2).reshape(H * D, T)
    behind = [one for one in inside.trace.products if one.known > inside.known]
    places = [one.left.transpose(0, 1).flatten(1) for one in behind if one.parameter]
    for rows in [*places[:1], inside.trace.output]:
        if rows.shape[0] != T:
            continue
        unit = rows / rows.norm(dim=0).clamp_min(1e-30)
        cosines = (wanted / wanted.norm(dim=1, keepdim=True)) @ unit
        best, at = cosines.nan_to_num(0.0).max(dim=1)
        if (best > 1 - PARALLEL).all():
            if not torch.equal(at.argsort(), queries.place.flatten().argsort()):
                return "results are put side by side in another order than heads"
            return ""
    return ""


# --- roles ----------------------------------------------------------------------------


def roles(subject: Subject) -> Result:
    """Rows ask with queries, keys answer, values are averaged: three projections."""
    inside = inside_of(subject)
    if inside is None:
        return skip(unseen(subject))
    if subject.T < 3:
        return skip("too few tokens to compare")
    parts = {"queries": inside.queries, "keys": inside.keys, "values": inside.values}
    found = {name: inside.source(part) for name, part in parts.items()}
    sources = {name: one for name, one in found.items() if one is not None}
    absorbed = False
    for name, source in sources.items():
        for parameter in source.parameters:
            role = role_of(parameter)
            if role in ("", name):
                continue
            if name == "queries" and _reads_queries(inside, parameter):
                absorbed = True  # queries meet what keys are made of
                continue
            return fails(f"{parameter} makes the {name}")
    for bias, makers in inside.trace.biased.items():
        if len(makers) > 1:
            return fails(f"{bias} is added to what {' and '.join(sorted(makers))} make")
    if reason := _reads(subject, inside, sources):
        return fails(reason)
    projected = {name: one for name, one in sources.items() if not _is_x(subject, one)}
    if projected and len(projected) < len(sources):
        name = next(name for name in sources if name not in projected)
        return fails(f"{name} are the tokens themselves, without a projection")
    for one, other in (("queries", "keys"), ("keys", "values"), ("queries", "values")):
        if one in projected and other in projected and not absorbed:
            mine, theirs = set(sources[one].heads), set(sources[other].heads)
            if mine & theirs:
                return fails(f"{one} and {other} are the same numbers")
    if len(sources) < 3:
        return skip("queries, keys or values are mixed from several earlier results")
    if len(projected) < 3:
        return passes("three different parts of the tokens themselves")
    if absorbed:
        return passes("queries are turned into what keys and values are made of")
    if any("" in source.parameters for source in sources.values()):
        return passes("three different results; no product with a parameter made one")
    return passes("three different projections")


def _read(inside: Inside, parameter: str) -> Tensor | None:
    """What the product with a parameter read, as columns (features, T)."""
    T = inside.trace.T
    for one in inside.trace.products:
        if one.parameter == parameter and one.known <= inside.known:
            for side in (one.left, one.right.mT):
                if side.shape[1] == T:
                    return side.transpose(1, 2).flatten(0, 1)
    return None


def _reads_queries(inside: Inside, parameter: str) -> bool:
    """Whether a product with this parameter reads what is made for queries."""
    read = _read(inside, parameter)
    found = None if read is None else earliest(inside.trace, read, inside.known)
    if found is None:
        return False
    makers = {inside.trace.makers.get(r, "") for r in found[0]}
    return all(role_of(one) == "queries" for one in makers)


def _reads(subject: Subject, inside: Inside, sources: dict[str, Source]) -> str:
    """What a projection reads in place of what the others do; or ""."""
    reads = {
        name: read
        for name, source in sources.items()
        if len(source.parameters) == 1
        and source.parameters[0]
        and (read := _read(inside, source.parameters[0])) is not None
    }
    offsets = [0, *itertools.accumulate(one.shape[1] for one in inside.trace.results)]
    raw, normed = [], []
    for name, read in reads.items():
        found = earliest(inside.trace, read, inside.known)
        if found is None:
            continue
        place = {
            offsets[r] + i for r, i in zip(found[0], found[1].tolist(), strict=True)
        }
        for other, source in sources.items():
            theirs = set(source.place.flatten().tolist())
            if other != name and not _is_x(subject, source) and place == theirs:
                return f"{name} are projected from the {other}, not from the tokens"
        if max(place) < subject.d_in:
            raw.append(name)
        elif _is_norm_of(read, inside.trace.results[0]):
            normed.append(name)
    if raw and normed:
        return (
            f"{' and '.join(raw)} are projected from the tokens as they are, "
            f"{' and '.join(normed)} from their norm"
        )
    return ""


def _is_norm_of(read: Tensor, x: Tensor) -> bool:
    """Whether read (features, T) is x (T, features) made equally long, with a gain."""
    if read.shape != x.T.shape:
        return False
    centred = x - x.mean(dim=1, keepdim=True)
    for one in (centred, x):
        unit = one / one.norm(dim=1, keepdim=True).clamp_min(1e-30)
        # Column by column, a gain and a bias must explain it.
        mine, theirs = (y - y.mean(dim=1, keepdim=True) for y in (read, unit.T))
        sizes = (theirs * theirs).sum(dim=1, keepdim=True).clamp_min(1e-30)
        rest = mine - (mine * theirs).sum(dim=1, keepdim=True) / sizes * theirs
        if (rest.norm(dim=1) <= 1e-3 * mine.norm(dim=1).clamp_min(1e-30)).all():
            return True
    return False


def _is_x(subject: Subject, source: Source) -> bool:
    """Whether the numbers are those of x: the first result is a copy of it."""
    return int(source.place.max()) < subject.d_in


# --- distances ------------------------------------------------------------------------


def distances(subject: Subject) -> Result:
    """Relative positions: among equal tokens, only how far apart they are counts.

    A sequence of one token again and again has scores that differ by position alone.
    Behind rotations they are constant along each diagonal; a token meets itself as if
    nothing had been turned; and values aren't turned. ALiBi's are straight lines with
    the published slopes.
    """
    kind = subject.declared.positions
    if not isinstance(kind, str):
        return skip('pass positions="rotary", "alibi" or "relative" to ask')
    if not subject.declared.softmax:
        return skip("softmax=False")
    if subject.T < 3:
        return skip("too few tokens to compare")
    inside = inside_of(subject)
    if inside is None:
        return skip(unseen(subject))
    T = inside.x.shape[1]
    equal = inside.x[:, :1].expand(-1, T, -1).contiguous().to(subject.x())
    same = look_inside(subject, x=equal)
    if same is None or same.H != inside.H:
        return skip(unseen(subject))
    if not _one_row(same.values):
        return fails("values change with the position of their token")
    known = subject.may_see(T, same.H) & (same.weights > 1e-30)
    logits = same.weights.clamp_min(1e-300).log()
    logits = logits - logits.diagonal(dim1=1, dim2=2)[..., None]  # 0 at distance 0
    if reason := _uneven(logits, known):
        return fails(reason)
    if not subject.causal and (reason := _by_length(subject, equal, logits, known)):
        return fails(reason)
    moved = logits[known].abs().max().item()
    if moved < 1e-4:
        return fails("equal tokens have equal weights, wherever they stand")
    if kind == "alibi":
        return _slopes_of_alibi(logits)
    if kind == "rotary" and (reason := _turned_at_home(inside)):
        return fails(reason)
    return passes("among equal tokens, the distance alone counts")


def _one_row(values: Tensor) -> bool:
    """Whether all tokens have the same values, (H, T, D_v)."""
    change = (values - values[:, :1]).abs().max()
    return bool(change <= 1e-5 * values.abs().max())


def _uneven(logits: Tensor, known: Tensor) -> str:
    """Where scores (H, T, T) aren't the same along a diagonal."""
    T = logits.shape[-1]
    for distance in range(1 - T, T):
        at = known.diagonal(distance, 1, 2)
        line = logits.diagonal(distance, 1, 2)
        for h, (one, which) in enumerate(zip(line, at, strict=True)):
            if which.sum() > 1:
                spread = (one[which].max() - one[which].min()).item()
                if spread > 1e-3:
                    return (
                        f"head {h}: equal tokens at distance {-distance} score "
                        f"differently, by {number(spread)}"
                    )
    return ""


def _by_length(subject: Subject, equal: Tensor, logits: Tensor, known: Tensor) -> str:
    """Where what a distance means depends on how many tokens there are.

    ``short sequences`` asks that of causal layers.
    """
    T = len(logits[0]) - 1
    fewer = look_inside(subject, x=equal[:, :T])
    if fewer is None or len(logits) != fewer.H:
        return ""
    known = known[:, :T, :T] & (fewer.weights > 1e-30)
    now = fewer.weights.clamp_min(1e-300).log()
    now = now - now.diagonal(dim1=1, dim2=2)[..., None]
    change = (now - logits[:, :T, :T]).abs() * known
    if change.max() <= 1e-3:
        return ""
    h, t, s = (change == change.max()).nonzero()[0].tolist()
    return (
        f"head {h}: with {T} tokens, not {T + 1}, an equal token at distance {t - s} "
        f"scores differently, by {number(change.max().item())}"
    )


def _slopes_of_alibi(logits: Tensor) -> Result:
    """The published slopes, of Press et al. 2022 and the code with it."""
    H = len(logits)
    found = -logits[:, 1:].diagonal(0, 1, 2).mean(dim=1)  # one token back
    right = torch.tensor(published_slopes(H)).to(found)
    worst = int((found / right - 1).abs().argmax())
    if abs(found[worst] / right[worst] - 1) > 0.01:
        turned = bool(((found / right + 1).abs() <= 0.01).all())
        sign = ": all have the other sign" if turned else ""
        return fails(
            f"head {worst} loses {found[worst]:.4f} a token; {right[worst]:.4f} is "
            f"published for {H} heads{sign}"
        )
    later = logits.diagonal(1, 1, 2).mean(dim=1)  # one token ahead, where it may look
    if later.isfinite().all() and later.abs().max() < 100:
        head = int((later / -right - 1).abs().argmax())
        if abs(later[head] / -right[head] - 1) > 0.01:
            return fails(f"head {head} gives the next token {later[head]:+.4f}")
    return passes(f"the published slopes, {right.max():.4f} to {right.min():.4f}")


def _turned_at_home(inside: Inside) -> str:
    """Whether a token's query meets its own key as before both were turned."""
    queries, keys = inside.source(inside.queries), inside.source(inside.keys)
    if queries is None or keys is None or not (queries.rotated and keys.rotated):
        return ""
    factor = (queries.factor.mean(1) * keys.factor.mean(1))[:, None]
    home = (queries.before * keys.before).sum(-1) * factor  # (H, T)
    now = inside.raw.diagonal(dim1=1, dim2=2)
    change = (home - now).abs().max().item()
    if change > 1e-3 * now.abs().max().item():
        return f"a token meets itself turned: its score moves by {number(change)}"
    return ""
