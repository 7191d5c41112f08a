"""What follows a character, by counts that fall back."""

import torch


def by_where(pairs):
    once = pairs.sum(0)
    kinds = (once > 0).sum()
    alone = (once + kinds / len(once)) / (once.sum() + kinds)
    seen, kinds = pairs.sum(1, keepdim=True), (pairs > 0).sum(1, keepdim=True)
    return torch.where(seen == 0, alone, (pairs + kinds * alone) / (seen + kinds))


def by_function(pairs):
    def mix(counts, shorter):
        seen, kinds = counts.sum(), counts.count_nonzero()
        return shorter if seen == 0 else (counts + kinds * shorter) / (seen + kinds)

    size = len(pairs)
    alone = mix(pairs.sum(dim=0), torch.full((size,), 1 / size))
    return torch.stack([mix(row, alone) for row in pairs])


def by_loops(pairs):
    size = len(pairs)
    table = pairs.tolist()

    def mix(counts, shorter):
        seen, kinds = sum(counts), sum(count > 0 for count in counts)
        if not seen:
            return shorter
        both = zip(counts, shorter, strict=True)
        return [(count + kinds * p) / (seen + kinds) for count, p in both]

    columns = [sum(row[j] for row in table) for j in range(size)]
    alone = mix(columns, [1 / size] * size)
    return torch.tensor([mix(row, alone) for row in table], dtype=torch.float64)


def by_shares(pairs):
    """The counts' share of the row, and the rest for the shorter context."""

    def rows(counts, shorter):
        counts = counts.double()
        seen = counts.sum(-1, keepdim=True)
        kinds = (counts > 0).double().sum(-1, keepdim=True)
        rest = torch.where(seen > 0, kinds / (seen + kinds).clamp(min=1), 1.0)
        return (1 - rest) * counts / seen.clamp(min=1) + rest * shorter

    return rows(pairs, rows(pairs.sum(0), 1 / pairs.shape[0]))


def divides_by_nothing(pairs):
    once = pairs.sum(0)
    alone = (once + (once > 0).sum() / len(once)) / (once.sum() + (once > 0).sum())
    seen, kinds = pairs.sum(1, keepdim=True), (pairs > 0).sum(1, keepdim=True)
    return (pairs + kinds * alone) / (seen + kinds)


def one_step_only(pairs):
    seen, kinds = pairs.sum(1, keepdim=True), (pairs > 0).sum(1, keepdim=True)
    mixed = (pairs + kinds / len(pairs)) / (seen + kinds)
    return torch.where(seen == 0, 1 / len(pairs), mixed)


def add_one(pairs):
    return (pairs + 1) / (pairs.sum(1, keepdim=True) + len(pairs))


def shares(pairs):
    return pairs / pairs.sum(1, keepdim=True)


def flat_sums(pairs):
    once = pairs.sum(0)
    alone = (once + (once > 0).sum() / len(once)) / (once.sum() + (once > 0).sum())
    seen, kinds = pairs.sum(1), (pairs > 0).sum(1)
    return (pairs + kinds * alone) / (seen + kinds)


RIGHT = [by_where, by_function, by_loops, by_shares]
WRONG = [
    (divides_by_nothing, "nan after a character that nothing followed"),
    (one_step_only, "an even guess in place of the shorter context"),
    (add_one, "one added to every count"),
    (shares, "shares of the counts alone"),
    (flat_sums, "sums without keepdim"),
]
