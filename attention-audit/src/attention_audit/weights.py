"""Checks on the weights: whom they reach, their sum, scale and dropout.

They look at the weights that averaged the values, found inside a call (``inside``),
and at those that the layer returns.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from attention_audit.inside import (
    EXPLAINED,
    Inside,
    inside_of,
    look_inside,
    slopes_of,
    unseen,
)
from attention_audit.sources import Source, met_at_home
from attention_audit.subject import (
    TOLERANCE,
    Result,
    Subject,
    fails,
    number,
    passes,
    skip,
    weights_of,
)

SEEDS = range(8)
FEWEST_KEYS = 3
MORE_SEQUENCES = 16  # than there are unknowns
MOST_FEATURES = 32
LOUDER = 3  # times as large as usual: where scores are near 0, any function is straight
SAME_FACTOR = 0.02  # how far apart, as a share, factors of one head may be
NO_SOFTMAX = "softmax=False"
UNEXPLAINED = 0.05  # what softmax of a multiple of the scores may leave unexplained


def no_weight_on_what_is_hidden(subject: Subject) -> Result:
    """What a position may not attend to has weight 0: exactly, not nearly."""
    if subject.T == 1 or (not subject.causal and subject.window is None):
        return skip("causal=False" if not subject.causal else "one token sees itself")
    asked = 0
    for name, weights in _all_weights(subject):
        heads = weights.shape[-3] if weights.dim() > 2 else 1
        hidden = ~subject.may_see(weights.shape[-1], heads).to(weights.device)
        largest = weights[hidden.expand_as(weights)].abs()
        if not (largest == 0).all():
            worst = number(largest.nan_to_num(math.nan).max().item())
            which = "a token that a position may not attend to"
            return fails(f"{name}: {which} has weight {worst}")
        asked += 1
    if not asked:
        return skip(unseen(subject))
    return passes("tokens that a position may not attend to have weight 0")


def rows_sum_to_one(subject: Subject) -> Result:
    """Weights are a distribution, row by row; a sink may take a share of every row."""
    if not subject.declared.softmax:
        return skip(NO_SOFTMAX)
    inside, shown = inside_of(subject), ""
    for name, weights in _all_weights(subject):
        if weights.min() < 0:
            return fails(f"{name}: one is {number(-weights.min().item())} below 0")
        sums = weights.sum(dim=-1)
        worst = sums.flatten()[(sums - 1).abs().nan_to_num(math.inf).argmax()].item()
        shown = shown or number(worst)
        # In a layer that computes in half precision, they sum to 1 in two digits.
        half = subject.half is not None or (
            inside is not None and _in_half(weights) and _in_half(inside.queries)
        )
        if abs(worst - 1) < (1e-2 if half else 1e-4):
            continue
        if inside is not None and _gated(subject, inside):
            shown = f"1 times a gate, {number(worst)} at worst"
            continue
        if inside is None or not _sink(inside):
            return fails(f"{name}: a row sums to {number(worst)}")
        shown = f"less than 1, {shown} at worst: a sink takes the rest"
    if not shown:
        return skip(unseen(subject))
    return passes(f"every row sums to {shown}")


def _in_half(values: Tensor) -> bool:
    """Whether numbers have no more digits than bfloat16 holds."""
    return torch.equal(values, values.bfloat16().to(values))


def _sink(inside: Inside) -> bool:
    """Whether what is missing in a row is the weight of one more score.

    That score is the same for all rows of a head. A constant in the denominator of a
    softmax that takes off the largest score is none: there it changes with the row.
    """
    weights = inside.weights
    missing = 1 - weights.sum(dim=-1)  # (H, T)
    slopes, rest = slopes_of(inside.raw, weights)
    if rest > UNEXPLAINED or not (missing > 1e-6).all():
        return False
    # log of the missing weight, in the units of the scores
    best = weights.argmax(dim=-1, keepdim=True)
    scores = slopes[:, None] * inside.raw.gather(-1, best)[..., 0]
    sink = missing.log() - weights.gather(-1, best)[..., 0].log() + scores
    spread = sink[slopes.isfinite()].std(dim=-1)
    return bool((spread < 1e-3).all())


def _gated(subject: Subject, inside: Inside) -> bool:
    """Whether a row sums to what its own token alone decides: a gate, meant for it."""
    T, x = inside.x.shape[1], inside.x.to(subject.x())
    sums = inside.weights.sum(dim=-1)  # (H, T)
    if inside.turned or not (sums > 0).all():
        return False
    for t in {1, T // 2, T - 1}:
        for own in (False, True):
            other = subject.x(T, seed=12)[:1]
            changed = x.clone() if own else other
            changed[:, t] = other[:, t] if own else x[:, t]
            after = look_inside(subject, x=changed)
            if after is None or after.weights.shape != inside.weights.shape:
                return False
            moved = (after.weights.sum(dim=-1) - sums)[:, t].abs()
            if own and not (moved > 1e-4).all():
                return False
            if not own and not (moved < 1e-6).all():
                return False
    return True


def _all_weights(subject: Subject) -> Iterator[tuple[str, Tensor]]:
    """Weights, each with a name: those used, and those returned."""
    inside = inside_of(subject)
    if inside is not None:
        yield "weights used", inside.ordered_weights
    returned = weights_of(subject.copy(), subject.x())
    if returned is not None:
        yield "weights returned", returned.detach()


def weights_shown_are_used(subject: Subject) -> Result:
    """Weights that are returned are those that averaged the values, or their mean."""
    inside = inside_of(subject)
    if inside is None:
        return skip(unseen(subject))
    shown = weights_of(subject.copy(), inside.x.to(subject.x()))
    if shown is None:
        return skip("no weights are returned")
    shown, used = shown.detach().cpu().double(), inside.weights
    shown = shown.reshape(-1, *shown.shape[-2:])
    if len(shown) == 1 != inside.H:
        used = used.mean(dim=0, keepdim=True)
    if shown.shape != used.shape:
        return fails(f"{len(shown)} heads are shown, {inside.H} were used")
    change = (shown - used).abs().max().item()
    if not change < 1e-3:
        return fails(f"weights returned differ from those used by {number(change)}")
    return passes("weights returned are those that averaged the values")


# --- scale ----------------------------------------------------------------------------


def scale(subject: Subject) -> Result:
    """Scores are queries · keys divided by the square root of the width of one head.

    Softmax tells what scores are multiplied by: the logarithms of weights grow with
    them. Two sequences are compared, so that a bias for positions drops out. A factor
    may also have gone into queries and keys before they meet; that is read off from
    what they come from.
    """
    if not subject.declared.softmax:
        return skip(NO_SOFTMAX)
    inside = inside_of(subject)
    if inside is None:
        return skip(unseen(subject))
    if subject.T < 3:
        return skip("too few tokens to compare")
    slopes, rest = _slopes(subject, inside)
    some = subject.declared.positions is True and rest > EXPLAINED
    if some and (reason := _factor_by_key(subject, inside)):
        return fails(reason)
    if rest > UNEXPLAINED:
        if subject.declared.positions:
            if _no_softmax(subject, inside):
                return fails(
                    "weights are no softmax of queries · keys times a number and what "
                    "positions add"
                )
            beside = _beside_distances(subject, inside)
            if beside is None:
                return skip("scores are more than queries · keys and a bias")
            slopes, rest = beside
        else:
            return fails("weights are no softmax of queries · keys times a number")
    queries, keys = inside.source(inside.queries), inside.source(inside.keys)
    if queries is None or keys is None:
        return skip("queries or keys are mixed from several earlier results")
    factor = _factor(queries) * _factor(keys)
    if subject.declared.positions and not (_traced(queries) and _traced(keys)):
        # Some multiply queries by what grows with the position, and keys by its
        # inverse, as xPos does: seen from a token's own key, that is nothing.
        met = inside.raw.diagonal(dim1=1, dim2=2)
        home = met_at_home(inside.trace, inside.known, met, inside.D)
        if home is None:
            return skip("what positions do to queries and keys can't be followed")
        factor = home
    factors = factor * slopes
    D, wanted = inside.D, subject.declared.scale
    right = 1 / math.sqrt(D) if wanted is None else wanted
    known = factors[factors.isfinite()]
    if not len(known):
        return skip("no head has two weights to compare")
    worst = known[(known / right).log().abs().nan_to_num(math.inf).argmax()].item()
    # What was computed in half precision is known to two digits.
    tolerance = 0.01 if rest < 1e-4 else 0.05
    if not abs(worst - right) <= tolerance * right:
        if wanted is not None:
            return fails(f"multiplies by {number(worst)}; {number(right)} is declared")
        divisor = 1 / worst if worst else math.inf
        return fails(f"divides by {divisor:.2f}; √D is {math.sqrt(D):.2f}, D = {D}")
    if wanted is not None:
        return passes(f"multiplies by {number(worst)}, as declared")
    return passes(f"divides by {1 / worst:.2f} = √D, D = {D}")


def _factor_by_key(subject: Subject, inside: Inside) -> str:
    """Where scores are queries · keys times a number that changes with the key; or "".

    Positions may turn queries and keys, and may add to scores. Over several sequences,
    the last row tells what each of its keys is multiplied by and what is added.
    """
    T, shape = inside.x.shape[1], inside.weights.shape
    looks = [look_inside(subject, x=subject.x(T, seed=20 + seed)[:1]) for seed in SEEDS]
    found = [one for one in looks if one is not None and one.weights.shape == shape]
    if len(found) < len(SEEDS):
        return ""
    raw = torch.stack([one.raw[:, -1] for one in found])  # (sequences, H, T)
    weights = torch.stack([one.weights[:, -1] for one in found])
    for h in range(inside.H):
        known = (weights[:, h] > 1e-30).all(dim=0).nonzero().flatten()
        if len(known) < FEWEST_KEYS:
            continue
        scores, logits = raw[:, h, known], weights[:, h, known].log()
        factors, rest = _factors(scores, logits)
        low, high = int(factors.argmin()), int(factors.argmax())
        spread = (factors[high] - factors[low]) / factors.abs().mean()
        if rest < EXPLAINED and spread > SAME_FACTOR:
            named = [
                f"{factors[one]:.2f} for token {int(known[one])}" for one in (low, high)
            ]
            return (
                f"head {h} multiplies queries · keys by {' and by '.join(named)}: "
                "positions may add to scores, and one factor serves all keys"
            )
    return ""


def _beside_distances(subject: Subject, inside: Inside) -> tuple[Tensor, float] | None:
    """``_slopes`` where queries, or keys, also meet what stands for distances.

    Of the last token, the quotient of two weights is told by what both scores differ
    by, times the slope, and by a number for each feature of its query and both keys.
    """
    T, D = inside.x.shape[1], inside.D
    if subject.declared.positions != "relative":  # others may scale row by row
        return None
    if D > MOST_FEATURES or T < 3 or inside.turned:
        return None
    scores, logits, features = [], [], []
    for seed in range(3 * D + 2 + MORE_SEQUENCES):
        found = look_inside(subject, x=subject.x(T, seed=60 + seed)[:1])
        if found is None or found.weights.shape != inside.weights.shape:
            return None
        scores.append(found.raw[:, -1, -2] - found.raw[:, -1, -1])
        logits.append(found.weights[:, -1, -2].log() - found.weights[:, -1, -1].log())
        parts = found.queries[:, -1], found.keys[:, -2], found.keys[:, -1]
        features.append(torch.cat(parts, dim=-1))
    slopes = []
    for h in range(inside.H):
        wanted = torch.stack([one[h] for one in logits])[:, None]
        ones = torch.ones_like(wanted)
        columns = [torch.stack([one[h] for one in scores])[:, None], ones]
        columns.append(torch.stack([one[h] for one in features]))
        known = torch.cat(columns, dim=1).to(wanted)
        if not wanted.isfinite().all() or not known.isfinite().all():
            return None
        share = torch.linalg.lstsq(known, wanted, driver="gelsd").solution
        if not (known @ share - wanted).std() < EXPLAINED * wanted.std():
            return None
        slopes.append(share[0, 0])
    return torch.stack(slopes), EXPLAINED


def _no_softmax(subject: Subject, inside: Inside) -> bool:
    """Whether one key moves the logarithm of its weight otherwise than in proportion.

    Only its token changes. Seen from another token, what that adds to a score is a
    number for each feature of the key, whatever positions have to do with it; and of
    two weights of a softmax, the quotient depends on no other.
    """
    T, D = inside.x.shape[1], inside.D
    if D > MOST_FEATURES or T < 3 or inside.turned:
        return False
    x, own, at = LOUDER * inside.x.to(subject.x()), T - 1, T - 2
    keys, logits, fixed = [], [], []
    for seed in range(3 * D + 9):
        other = x.clone()
        other[:, at] = LOUDER * subject.x(T, seed=30 + seed)[:1, at]
        found = look_inside(subject, x=other)
        if found is None or found.weights.shape != inside.weights.shape:
            return False
        keys.append(found.keys[:, at])
        logits.append(found.weights[:, own, [at, own]].log())
        fixed.append(torch.cat([found.queries[:, own], found.keys[:, own]], dim=-1))
    moved = (torch.stack(fixed) - fixed[0]).abs().max()
    if not moved <= TOLERANCE * fixed[0].abs().max():  # tokens were mixed before
        return False
    if not (torch.stack(keys).std(dim=0) > TOLERANCE).all():  # what met were no keys
        return False
    for h in range(inside.H):
        wanted = torch.stack([one[h, 0] - one[h, 1] for one in logits])[:, None]
        if not wanted.isfinite().all() or wanted.std() < TOLERANCE:
            continue
        columns = torch.stack([one[h] for one in keys])
        columns = torch.cat([columns, torch.ones(len(keys), 1).to(columns)], dim=1)
        share = torch.linalg.lstsq(columns, wanted, driver="gelsd").solution
        if (columns @ share - wanted).std() > UNEXPLAINED * wanted.std():
            return True
    return False


def _factors(scores: Tensor, logits: Tensor) -> tuple[Tensor, float]:
    """For keys (N, S) of one row, the factors (S,), and what they leave unexplained.

    The logarithms of weights are factor times score plus a bias, key by key, less what
    all keys of a sequence share: the last key is taken off.
    """
    N, S = scores.shape
    rows = []
    for s in range(S - 1):
        row = torch.zeros(N, 2 * S - 1, dtype=scores.dtype)
        row[:, s], row[:, S - 1], row[:, S + s] = scores[:, s], -scores[:, -1], 1.0
        rows.append(row)
    wanted = (logits[:, :-1] - logits[:, -1:]).T.reshape(-1, 1)
    columns = torch.cat(rows)
    share = torch.linalg.lstsq(columns, wanted, driver="gelsd").solution
    rest = (columns @ share - wanted).norm() / wanted.norm().clamp_min(1e-30)
    return share[:S, 0], rest.item()


def _traced(source: Source) -> bool:
    """Whether it is seen which projection made them, or how they were turned."""
    return source.rotated or source.parameters != ("",)


def _slopes(subject: Subject, inside: Inside) -> tuple[Tensor, float]:
    """What scores are multiplied by, head by head, and what that leaves unexplained."""
    slopes, rest = slopes_of(inside.raw, inside.weights)
    x = subject.x(inside.x.shape[1], seed=10)[:1]
    other = look_inside(subject, x=x) if rest > 1e-9 else None
    if other is not None and other.weights.shape == inside.weights.shape:
        beside = slopes_of(inside.raw, inside.weights, (other.raw, other.weights))
        if beside[1] < rest:
            return beside
    return slopes, rest


def _factor(source: Source) -> Tensor:
    """What each head was multiplied by, (H,)."""
    return source.factor.mean(dim=1)


# --- dropout --------------------------------------------------------------------------


def dropped_weights(subject: Subject) -> Result:
    """In train mode each weight is dropped for itself, and the others make up for it.

    Kept weights are divided by 1 - p, after softmax; no two heads, rows or batch
    elements share what they drop.
    """
    if not subject.declared.softmax:
        return skip(NO_SOFTMAX)
    inside = inside_of(subject)
    if inside is None:
        return skip(unseen(subject))
    if subject.T < 3:
        return skip("too few tokens to compare")
    ratios = [_ratio(subject, inside, seed) for seed in SEEDS]
    known = [one for one in ratios if one is not None]
    if len(known) < len(ratios):
        return skip("no products in train mode to compare with those in eval mode")
    ratio = torch.stack(known)  # (seeds, H, T, T), NaN where it may not attend
    asked = ratio.isfinite()
    dropped = ratio.abs() < 1e-6
    wanted = subject.declared.dropout
    if ((ratio - 1).abs() < 1e-3)[asked].all():
        if wanted:
            return fails(f"no weight is dropped; dropout = {wanted:g} is declared")
        return skip("no weight is dropped")
    kept = ratio[asked & ~dropped]
    low, high = kept.min().item(), kept.max().item()
    if not dropped.any() or high - low > 1e-2 * abs(high):
        return fails(
            f"kept weights are multiplied by {low:.2f} to {high:.2f}: dropped before "
            "softmax, or divided by something else than 1 - p"
        )
    share, count = dropped[asked].double().mean().item(), int(asked.sum())
    p = share if wanted is None else wanted
    spread = 5 * math.sqrt(max(p * (1 - p), 0.01) / count)
    if abs(share - p) > 3 * spread:
        return fails(f"{share:.0%} of the weights are dropped; {p:.0%} are declared")
    low_p, high_p = max(p - 3 * spread, 0.0), min(p + 3 * spread, 0.999)
    within = 1 / (1 - low_p) * 0.99 <= high <= 1 / (1 - high_p) * 1.01
    if not within or (wanted is not None and abs(high * (1 - p) - 1) > 0.01):
        right = f"1 / (1 - {p:.2f}) = {1 / (1 - p):.2f}"
        return fails(f"kept weights are multiplied by {high:.2f}, not by {right}")
    if reason := _shared(dropped, asked):
        return fails(reason)
    twice = torch.cat([inside.x, inside.x]).to(subject.x())
    both = [look_inside(subject, training=True, x=twice, seed=s) for s in SEEDS]
    if all(one is not None and one.H == 2 * inside.H for one in both):
        zeros = torch.stack([one.weights == 0 for one in both if one is not None])
        if _alike(zeros, torch.ones_like(zeros)):
            return fails("two batch elements drop the same weights")
    return passes(f"{share:.0%} dropped, the others multiplied by {high:.2f}")


def _ratio(subject: Subject, inside: Inside, seed: int) -> Tensor | None:
    """Weights in train mode as multiples of what they are without dropout.

    Queries and keys may be dropped themselves, so the weights that belong to them are
    computed: those of eval mode, moved by what the scores moved.
    """
    x = inside.x.to(subject.x())
    train = look_inside(subject, training=True, x=x, seed=seed)
    if train is None or train.weights.shape != inside.weights.shape:
        return None
    expected = inside.weights
    if not torch.allclose(train.raw, inside.raw, rtol=1e-4, atol=1e-6):
        slopes, rest = _slopes(subject, inside)
        if rest > UNEXPLAINED:
            return None
        moved = slopes.nan_to_num(0.0)[:, None, None] * (train.raw - inside.raw)
        expected = (expected.log() + moved).softmax(dim=-1)
    seen = subject.may_see(len(expected[0]), len(expected)) & (expected > 1e-20)
    return (train.weights / expected).masked_fill(~seen, math.nan)


def _shared(dropped: Tensor, asked: Tensor) -> str:
    """What is dropped together, in a sentence; or nothing."""
    if _alike(dropped, asked):
        return "two heads drop the same weights"
    # Row by row, and key by key: whole lines alone are dropped or kept.
    for axis, name in ((-1, "row"), (-2, "key")):
        count = asked.sum(axis)
        lines = (dropped & asked).sum(axis)
        several = count > 2
        if several.any() and ((lines == 0) | (lines == count))[several].all():
            return f"a {name} is dropped as a whole, or not at all"
    return ""


def _alike(dropped: Tensor, asked: Tensor) -> bool:
    """Whether two heads drop the same, in all calls; (calls, H, T, T)."""
    H = dropped.shape[1]
    for h in range(H):
        for other in range(h + 1, H):
            both = asked[:, h] & asked[:, other]
            one, two = dropped[:, h][both], dropped[:, other][both]
            if one.any() and torch.equal(one, two):
                return True
    return False
