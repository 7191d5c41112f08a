"""A right attention layer, whose parts a bug overrides one at a time."""

import math

import torch
from torch import nn


class Attention(nn.Module):
    """Multi-head attention, of which attributes switch on what today's layers have.

    A subclass sets the attributes and overrides the one method in which its bug was.
    ``forward(x, real=None, cache=None)`` takes x (B, T, d_in) and gives the context
    (B, T, d_in), with a cache also the new cache; real (B, T so far) is True at tokens
    and False at padding.
    """

    d_in = 16
    num_heads = 4
    num_kv_heads = 4
    causal = True
    window: int | None = None  # position t attends to t - window + 1 to t
    rotary = False
    learned = False  # positions added to the tokens
    alibi = False
    dropout = 0.0
    divided = True  # queries · keys by √D
    bias = False
    normed = False  # queries and keys, head by head (QK-norm)
    longest = 64  # with which tables are made

    def __init__(self):
        super().__init__()
        width = self.d_in // self.num_heads
        self.head_width = width
        kept = self.num_kv_heads * width
        self.q_proj = nn.Linear(self.d_in, self.d_in, bias=self.bias)
        self.k_proj = nn.Linear(self.d_in, kept, bias=self.bias)
        self.v_proj = nn.Linear(self.d_in, kept, bias=self.bias)
        self.o_proj = nn.Linear(self.d_in, self.d_in, bias=self.bias)
        self.drop = nn.Dropout(self.dropout)
        if self.normed:
            self.q_norm, self.k_norm = nn.RMSNorm(width), nn.RMSNorm(width)
        if self.learned:
            self.places = nn.Embedding(self.longest, self.d_in)
        if self.rotary:
            speeds = 10_000.0 ** (-torch.arange(0, width, 2) / width)
            angles = torch.outer(torch.arange(self.longest), speeds)
            self.register_buffer("cos", angles.cos(), persistent=False)
            self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, x, real=None, cache=None):
        past = 0 if not cache else cache[0].shape[2]
        x = self.placed(x, past, real)
        q, k, v = self.projected(x)
        q, k = self.turned(q, past), self.turned(k, past)
        if cache is not None:
            k, v = cache = self.joined(cache, k, v)
        hidden = self.hidden(q.shape[2], k.shape[2], real, cache is not None)
        weights = self.weights(self.scores(q, self.shared(k)), hidden)
        context = self.o_proj(self.merged(self.mixed(weights, self.shared(v))))
        return context if cache is None else (context, cache)

    def placed(self, x, past, real):
        """Tokens (B, T, d_in) with their positions added, if these are learned."""
        if not self.learned:
            return x
        T = x.shape[1]
        at = torch.arange(past, past + T, device=x.device)
        if real is not None:  # positions count tokens, not padding
            at = (real.long().cumsum(1) - 1).clamp(min=0)[:, -T:]
        return x + self.places(at)

    def projected(self, x):
        """Queries (B, H, T, D), keys and values (B, G, T, D)."""
        q, k, v = map(self.split, (self.q_proj(x), self.k_proj(x), self.v_proj(x)))
        if self.normed:
            q, k = self.q_norm(q), self.k_norm(k)
        return q, k, v

    def split(self, x):
        """From features side by side (B, T, N·D) to heads (B, N, T, D)."""
        B, T, _ = x.shape
        return x.view(B, T, -1, self.head_width).transpose(1, 2)

    def turned(self, x, past):
        """Queries or keys (B, N, T, D), turned if positions are rotary."""
        if not self.rotary:
            return x
        at = slice(past, past + x.shape[2])
        cos, sin = self.cos[at].to(x.dtype), self.sin[at].to(x.dtype)
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

    def joined(self, cache, k, v):
        """The cache, which is () at first, with the new keys and values behind."""
        if not cache:
            return k, v
        return torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)

    def shared(self, x):
        """Keys or values (B, G, T, D) for all heads (B, H, T, D)."""
        return x.repeat_interleave(self.num_heads // self.num_kv_heads, dim=1)

    def scores(self, q, k):
        """Queries · keys (B, H, T, S)."""
        scores = q @ k.transpose(-2, -1)
        if self.divided:
            scores = scores / math.sqrt(self.head_width)
        if self.alibi:
            T, S = scores.shape[-2:]
            heads = torch.arange(1, self.num_heads + 1, device=q.device)
            slopes = 2.0 ** (-8 * heads / self.num_heads)
            at = torch.arange(S, device=q.device)
            distance = (at[S - T :, None] - at).abs()
            scores = scores - (slopes[:, None, None] * distance).to(q.dtype)
        return scores

    def hidden(self, T, S, real, cached):
        """Which of S keys the last T queries may not attend to, (B or 1, 1, T, S)."""
        query = torch.arange(S, device=self.q_proj.weight.device)[S - T :, None]
        key = torch.arange(S, device=query.device)
        hidden = (key > query) if self.causal else (key < 0).expand(T, S)
        if self.window is not None:
            hidden = hidden | (key <= query - self.window)
            if not self.causal:
                hidden = hidden | (key >= query + self.window)
        hidden = hidden[None, None]
        return hidden if real is None else hidden | ~real[:, None, None]

    def weights(self, scores, hidden):
        """Weights (B, H, T, S), dropped in training."""
        lowest = torch.finfo(scores.dtype).min
        weights = torch.softmax(scores.masked_fill(hidden, lowest), dim=-1)
        return self.drop(weights)

    def mixed(self, weights, v):
        """The values, weighted (B, H, T, D)."""
        return weights @ v

    def merged(self, context):
        """From heads (B, H, T, D) to features side by side (B, T, d_in)."""
        return context.transpose(1, 2).flatten(2)


SETTINGS = [
    "d_in",
    "num_heads",
    "num_kv_heads",
    "causal",
    "window",
    "rotary",
    "learned",
    "alibi",
    "dropout",
    "divided",
    "bias",
    "normed",
    "longest",
]


def padded(module, x, real):
    """Call a layer with a padding mask."""
    return module(x, real=real)


def step(module, x, cache, real=None):
    """Feed the next tokens: the context, and the new cache."""
    return module(x, real=real, cache=() if cache is None else cache)
