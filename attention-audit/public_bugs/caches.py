"""Caches that lose, mix up or wrongly count what they keep."""

from public_bugs.layer import Attention
from public_bugs.log import bug


@bug("harvard-edge/cs249r_book#1953", 2026, "cache")
class NewTokenLeftOut(Attention):
    """A cached step attends to what was there before, and not to the new token."""

    def hidden(self, T, S, real, cached):
        hidden = super().hidden(T, S, real, cached)
        if cached and S > T:
            hidden = hidden.clone()
            hidden[..., S - T :] = True
        return hidden


class KeptRowsCounted(Attention):
    window = 4
    rotary = True

    def joined(self, cache, k, v):
        kept = self.window - 1 + k.shape[2]
        return tuple(x[:, :, -kept:] for x in super().joined(cache, k, v))


@bug("rajveer43/VeloxQuant-MLX#195", 2026, "cache")
class OffsetOfKeptRows(KeptRowsCounted):
    """Once tokens are evicted, the cache's offset is the number of rows it keeps, not
    the position: what comes is rotated too little, in MLX."""


@bug("rajveer43/VeloxQuant-MLX#196", 2026, "cache")
class OffsetStaysAtTheBudget(KeptRowsCounted):
    """Another evicting cache sets its offset to the rows kept, so that rotary positions
    no longer advance once its budget is full, in MLX."""


@bug("ml-explore/mlx-lm#1396", 2026, "cache")
class OffsetReadTooLate(Attention):
    """Queries are turned by the cache's offset after the new keys were counted, as many
    positions too far as there are new tokens, in MLX."""

    rotary = True

    def forward(self, x, real=None, cache=None):
        self.late = cache is not None
        return super().forward(x, real, cache)

    def projected(self, x):
        self.queries = True
        return super().projected(x)

    def turned(self, x, past):
        late = self.late and self.queries
        self.queries = False
        return super().turned(x, past + x.shape[2] if late else past)
