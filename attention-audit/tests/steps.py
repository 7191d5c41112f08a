"""An attention layer in many steps, each of which a test can get wrong."""

import math

import torch
import torch.nn.functional as F
from torch import nn

D_IN, T, H, D = 12, 9, 4, 5


class Steps(nn.Module):
    """Right: causal attention of H heads. What a test derives changes one step."""

    shared_keys = H
    p = 0.0

    def __init__(self):
        super().__init__()
        self.to_q = nn.Linear(D_IN, H * D, bias=False)
        self.to_k = nn.Linear(D_IN, self.shared_keys * D, bias=False)
        self.to_v = nn.Linear(D_IN, self.shared_keys * D, bias=False)
        self.out = nn.Linear(H * D, 10)

    def queries(self, x):
        return self.to_q(x)

    def keys(self, x):
        return self.to_k(x)

    def values(self, x):
        return self.to_v(x)

    def split(self, x, name):
        heads = x.unflatten(-1, (-1, D)).transpose(1, 2)
        return self.shared(heads) if name != "queries" else heads

    def shared(self, heads):
        return heads.repeat_interleave(H // self.shared_keys, dim=1)

    def placed(self, heads, name):
        return heads

    def scores(self, queries, keys):
        return queries @ keys.mT / math.sqrt(D)

    def bias(self, T, device):
        return torch.zeros(T, T, device=device)

    def seen(self, T, device):
        return torch.ones(T, T, dtype=torch.bool, device=device).tril()

    def softmax(self, scores):
        return scores.softmax(dim=-1)

    def drop(self, weights):
        return F.dropout(weights, self.p, self.training)

    def average(self, weights, values):
        return weights @ values

    def merge(self, contexts):
        return contexts.transpose(1, 2).flatten(2)

    def forward(self, x):
        T, device = x.shape[1], x.device
        parts = {
            name: self.placed(self.split(make(x), name), name)
            for name, make in (
                ("queries", self.queries),
                ("keys", self.keys),
                ("values", self.values),
            )
        }
        scores = self.scores(parts["queries"], parts["keys"])
        scores = scores + self.bias(T, device).to(scores)
        scores = scores.masked_fill(~self.seen(T, device), -math.inf)
        weights = self.drop(self.softmax(scores))
        return self.out(self.merge(self.average(weights, parts["values"])))


def rotated(heads, *, first=0, halves=True, base=10_000.0):
    """Turn pairs of features by the position of their token; D may be odd."""
    *_, T, D = heads.shape
    even = D - D % 2
    steps = torch.arange(first, first + T, device=heads.device).to(heads)
    speeds = base ** -(torch.arange(0, even, 2, device=heads.device).to(heads) / even)
    angles = steps[:, None] * speeds
    cos, sin = angles.cos(), angles.sin()
    if halves:
        one, two = heads[..., :even].chunk(2, dim=-1)
        turned = torch.cat([one * cos - two * sin, two * cos + one * sin], dim=-1)
    else:
        one, two = heads[..., :even:2], heads[..., 1:even:2]
        turned = torch.stack([one * cos - two * sin, two * cos + one * sin], dim=-1)
        turned = turned.flatten(-2)
    return torch.cat([turned, heads[..., even:]], dim=-1)
