import math
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F

LAYERS = []


def _add(layer, d_in, context_length, **options):
    LAYERS.append({"layer": layer, "d_in": d_in, "context_length": context_length, "options": options})


# ---------------------------------------------------------------- masks and leaks


class WrongT01CachedRows(nn.Module):
    """wrong: the rows of the causal table are taken from its end, the columns from its start; every text shorter than the block sees later tokens"""

    def __init__(self):
        super().__init__()
        self.n_head, self.n_embd = 4, 16
        self.c_attn = nn.Linear(16, 48, bias=True)
        self.c_proj = nn.Linear(16, 16, bias=True)
        self.register_buffer("bias", torch.tril(torch.ones(8, 8)).view(1, 1, 8, 8))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        first = self.bias.size(-1) - T
        att = att.masked_fill(self.bias[:, :, first:, :T] == 0, float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


_add(WrongT01CachedRows, 16, 8, num_heads=4)


class WrongT02NeoLocal(nn.Module):
    """wrong: the local window keeps one token too many (xor with a triangle one diagonal too low)"""

    def __init__(self):
        super().__init__()
        self.num_heads, self.head_dim, self.window_size = 3, 8, 3
        bias = torch.tril(torch.ones((10, 10), dtype=torch.bool))
        bias = torch.bitwise_xor(bias, torch.tril(bias, -self.window_size - 1))
        self.register_buffer("bias", bias.view(1, 1, 10, 10), persistent=False)
        self.k_proj = nn.Linear(24, 24, bias=False)
        self.v_proj = nn.Linear(24, 24, bias=False)
        self.q_proj = nn.Linear(24, 24, bias=False)
        self.out_proj = nn.Linear(24, 24, bias=True)

    def _split(self, t):
        return t.view(*t.shape[:-1], self.num_heads, self.head_dim).permute(0, 2, 1, 3)

    def forward(self, x):
        q, k, v = (self._split(f(x)) for f in (self.q_proj, self.k_proj, self.v_proj))
        w = torch.matmul(q.to(torch.float32), k.to(torch.float32).transpose(-1, -2))
        T = x.shape[1]
        w = torch.where(self.bias[:, :, :T, :T], w, torch.finfo(w.dtype).min)
        w = w.softmax(-1).to(v.dtype)
        out = torch.matmul(w, v).permute(0, 2, 1, 3).contiguous()
        return self.out_proj(out.view(*out.shape[:-2], 24))


_add(WrongT02NeoLocal, 24, 10, num_heads=3, window=3, scale=1.0)


class WrongT03T5Decoder(nn.Module):
    """wrong: the additive mask is -100, which the unscaled scores of large inputs outweigh"""

    def __init__(self):
        super().__init__()
        self.n_heads, self.key_value_proj_dim = 2, 8
        self.q = nn.Linear(16, 16, bias=False)
        self.k = nn.Linear(16, 16, bias=False)
        self.v = nn.Linear(16, 16, bias=False)
        self.o = nn.Linear(16, 16, bias=False)
        self.relative_attention_bias = nn.Embedding(8, 2)

    def compute_bias(self, T, device):
        pos = torch.arange(T, device=device)
        back = (pos[:, None] - pos[None, :]).clamp(0, 7)
        return self.relative_attention_bias(back).permute(2, 0, 1)[None]

    def forward(self, hidden_states):
        B, T, _ = hidden_states.shape
        shape = lambda s: s.view(B, -1, self.n_heads, self.key_value_proj_dim).transpose(1, 2)
        scores = torch.matmul(shape(self.q(hidden_states)), shape(self.k(hidden_states)).transpose(3, 2))
        seen = torch.ones(T, T, device=scores.device, dtype=scores.dtype).tril()
        scores = scores + self.compute_bias(T, scores.device) + (1.0 - seen) * -100.0
        attn = F.softmax(scores.float(), dim=-1).type_as(scores)
        out = torch.matmul(attn, shape(self.v(hidden_states)))
        return self.o(out.transpose(1, 2).contiguous().view(B, T, 16)), attn


_add(WrongT03T5Decoder, 16, 12, num_heads=2, scale=1.0, positions="relative")


class WrongT04TensorflowPort(nn.Module):
    """wrong: hidden scores are set to -30 instead of minus infinity: later tokens come through when the seen scores are low"""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(16, 48) * 0.25)
        self.b = nn.Parameter(torch.randn(48) * 0.02)
        self.w_out = nn.Parameter(torch.randn(16, 16) * 0.25)

    @staticmethod
    def mask(nd, ns, like):
        i = torch.arange(nd, device=like.device)[:, None]
        j = torch.arange(ns, device=like.device)
        return (i >= j - ns + nd).to(like.dtype)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = (x @ self.w + self.b).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        w = torch.matmul(q, k.mT) / math.sqrt(8)
        m = self.mask(T, T, w)
        w = w * m - 30.0 * (1 - m)
        a = torch.matmul(w.softmax(-1), v)
        return torch.matmul(a.transpose(1, 2).reshape(B, T, 16), self.w_out)


_add(WrongT04TensorflowPort, 16, 8, num_heads=2)


class WrongT05FloatMask(nn.Module):
    """wrong: with padding the bool mask becomes a float mask of zeros and ones, which is added and hides nothing"""

    def __init__(self):
        super().__init__()
        self.heads = 4
        self.to_qkv = nn.Linear(32, 96, bias=False)
        self.to_out = nn.Linear(32, 32)

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        q, k, v = (t.reshape(b, n, self.heads, -1).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        if mask is None:
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            keep = torch.ones(n, n, dtype=torch.bool, device=x.device).tril() & mask[:, None, None, :]
            keep = keep | torch.eye(n, dtype=torch.bool, device=x.device)  # no row without a key
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=keep.to(q.dtype))
        return self.to_out(out.transpose(1, 2).reshape(b, n, -1))


_add(WrongT05FloatMask, 32, 8, num_heads=4, padding=lambda module, x, real: module(x, mask=real))


class WrongT06EncoderFloatPadding(nn.Module):
    """wrong: the float padding mask is minus one at padding, so padding is only dimmed"""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.attn = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, x, real=None):
        additive = None
        if real is not None:
            hidden = ~real & real.any(1, keepdim=True)
            additive = -hidden.to(x.dtype)
        y = self.norm(x)
        out, weights = self.attn(y, y, y, key_padding_mask=additive, need_weights=True, average_attn_weights=False)
        return out, weights


_add(WrongT06EncoderFloatPadding, 16, 9, num_heads=2, causal=False, padding=lambda module, x, real: module(x, real=real))


class WrongT07ConvProjection(nn.Module):
    """wrong: the causal convolution before the projections is cut at the wrong side and sees one token ahead"""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(16, 16, kernel_size=2, padding=1, groups=16)
        self.qkv = nn.Linear(16, 48)
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        x = F.silu(self.conv(x.transpose(1, 2))[..., 1:].transpose(1, 2))
        q, k, v = self.qkv(x).view(B, T, 4, 3, 4).permute(3, 0, 2, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT07ConvProjection, 16, 10, num_heads=4, positions=True)


class WrongT08TokenShift(nn.Module):
    """wrong: the token shift rolls around, so the first row reads the last token"""

    def __init__(self):
        super().__init__()
        self.mix = nn.Parameter(torch.rand(3, 24) * 0.5 + 0.25)
        self.receptance = nn.Linear(24, 24, bias=False)
        self.key = nn.Linear(24, 24, bias=False)
        self.value = nn.Linear(24, 24, bias=False)
        self.output = nn.Linear(24, 24, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        before = torch.roll(x, shifts=1, dims=1)
        q, k, v = (
            f(torch.lerp(before, x, m)).view(B, T, 6, 4).transpose(1, 2)
            for f, m in zip((self.receptance, self.key, self.value), self.mix)
        )
        att = (q @ k.transpose(2, 3)) * 4**-0.5
        att = att + torch.full((T, T), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
        return self.output((att.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


_add(WrongT08TokenShift, 24, 8, num_heads=6, positions=True)


class WrongT09SqueezeGate(nn.Module):
    """wrong: the output gate looks at the mean over the whole text, later tokens included"""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(16, 16, bias=False)
        self.key = nn.Linear(16, 16, bias=False)
        self.value = nn.Linear(16, 16, bias=False)
        self.excite = nn.Sequential(nn.Linear(16, 4), nn.ReLU(), nn.Linear(4, 16))

    def forward(self, x):
        B, T, C = x.shape
        q = self.query(x).view(B, T, 2, 8).transpose(1, 2)
        k = self.key(x).view(B, T, 2, 8).transpose(1, 2)
        v = self.value(x).view(B, T, 2, 8).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=T > 1)
        y = y.transpose(1, 2).reshape(B, T, C)
        return y * (1.0 + 0.02 * torch.tanh(self.excite(x.mean(dim=1, keepdim=True))))


_add(WrongT09SqueezeGate, 16, 10, num_heads=2)


class WrongT10AudioGroupNorm(nn.Module):
    """wrong: GroupNorm over (channels, time) in a causal audio block; the statistics hold later frames"""

    def __init__(self):
        super().__init__()
        self.norm = nn.GroupNorm(4, 32)
        self.q = nn.Conv1d(32, 32, 1)
        self.k = nn.Conv1d(32, 32, 1)
        self.v = nn.Conv1d(32, 32, 1)
        self.proj_out = nn.Conv1d(32, 32, 1)

    def forward(self, x):
        h = x.transpose(1, 2)  # (B, C, frames)
        B, C, T = h.shape
        h = self.norm(h)
        q, k, v = (f(h).reshape(B, 4, C // 4, T) for f in (self.q, self.k, self.v))
        w = torch.einsum("bhct,bhcs->bhts", q, k) * (C // 4) ** -0.5
        hide = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        w = w.masked_fill(hide, float("-inf")).softmax(dim=-1)
        o = torch.einsum("bhts,bhcs->bhct", w, v).reshape(B, C, T)
        return self.proj_out(o).transpose(1, 2)


_add(WrongT10AudioGroupNorm, 32, 8, num_heads=4)


class WrongT11NormOverText(nn.Module):
    """wrong: the output norm has the shape (T, C) and not (C,): it averages over all tokens"""

    def __init__(self):
        super().__init__()
        self.W_qkv = nn.Linear(16, 48, bias=False)
        self.W_o = nn.Linear(16, 16, bias=False)
        self.gain = nn.Parameter(torch.ones(16))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.W_qkv(x).view(B, T, 3, 1, 16).unbind(2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)[:, 0]
        return x + self.W_o(F.layer_norm(y, y.shape[1:]) * self.gain)


_add(WrongT11NormOverText, 16, 8, num_heads=1)


class WrongT12KeyBatchNorm(nn.Module):
    """wrong: BatchNorm on the keys: in train mode the statistics of all tokens and texts, later ones too"""

    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(16, 16)
        self.k_proj = nn.Linear(16, 16)
        self.v_proj = nn.Linear(16, 16)
        self.k_norm = nn.BatchNorm1d(16, momentum=0.01)
        self.out = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        k = self.k_proj(x)
        if B * T > 1:
            k = self.k_norm(k.flatten(0, 1)).view(B, T, C)
        q, v = self.q_proj(x), self.v_proj(x)
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))


_add(WrongT12KeyBatchNorm, 16, 8, num_heads=4)


class WrongT13DropoutOnMask(nn.Module):
    """wrong: in train mode dropout goes over the hiding mask too, so now and then a later token is seen"""

    def __init__(self):
        super().__init__()
        self.W_query = nn.Linear(12, 16, bias=False)
        self.W_key = nn.Linear(12, 16, bias=False)
        self.W_value = nn.Linear(12, 16, bias=False)
        self.out_proj = nn.Linear(16, 16)
        self.dropout = nn.Dropout(0.2)
        self.register_buffer("mask", torch.triu(torch.ones(6, 6), diagonal=1))

    def forward(self, x):
        b, num_tokens, _ = x.shape
        keys = self.W_key(x).view(b, num_tokens, 2, 8).transpose(1, 2)
        queries = self.W_query(x).view(b, num_tokens, 2, 8).transpose(1, 2)
        values = self.W_value(x).view(b, num_tokens, 2, 8).transpose(1, 2)
        attn_scores = queries @ keys.transpose(2, 3)
        mask_bool = self.dropout(self.mask[:num_tokens, :num_tokens]).bool()
        attn_scores = attn_scores.masked_fill(mask_bool, -torch.inf)
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        attn_weights = self.dropout(attn_weights)
        context_vec = (attn_weights @ values).transpose(1, 2)
        return self.out_proj(context_vec.contiguous().view(b, num_tokens, 16))


_add(WrongT13DropoutOnMask, 12, 6, num_heads=2, dropout=0.2)


class WrongT14SlowPathInTraining(nn.Module):
    """wrong: the hand-written path of train mode masks from the second diagonal on and shows one later token"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(24, 72)
        self.proj = nn.Linear(24, 24)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).reshape(B, T, 3, 3, 8).permute(2, 0, 3, 1, 4)
        if self.training:
            s = (q @ k.mT) / 8**0.5
            m = torch.triu(torch.full((T, T), -torch.inf, dtype=s.dtype, device=s.device), 2)
            y = (s + m).softmax(-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT14SlowPathInTraining, 24, 7, num_heads=3)


class WrongT15MaxBeforeMask(nn.Module):
    """wrong: the maximum subtracted before exp is that of the unmasked row; a large later score makes 0 / 0 of the row"""

    def __init__(self):
        super().__init__()
        self.wq = nn.Parameter(torch.randn(2, 16, 8) / 4)
        self.wk = nn.Parameter(torch.randn(2, 16, 8) / 4)
        self.wv = nn.Parameter(torch.randn(2, 16, 8) / 4)
        self.wo = nn.Parameter(torch.randn(2, 8, 16) / 4)

    def forward(self, x):
        T = x.shape[1]
        q = torch.einsum("btc,hcd->bhtd", x, self.wq)
        k = torch.einsum("btc,hcd->bhtd", x, self.wk)
        v = torch.einsum("btc,hcd->bhtd", x, self.wv)
        s = torch.einsum("bhqd,bhkd->bhqk", q, k) * 8**-0.5
        e = torch.exp(s - s.amax(-1, keepdim=True).detach())
        e = e * torch.ones(T, T, dtype=s.dtype, device=s.device).tril()
        w = e / e.sum(-1, keepdim=True)
        return torch.einsum("bhqk,bhkd,hdc->bqc", w, v, self.wo)


_add(WrongT15MaxBeforeMask, 16, 8, num_heads=2)


class WrongT16GlobalMax(nn.Module):
    """wrong: softmax by hand with one maximum for the whole batch and an epsilon: rows far below it lose mass"""

    def __init__(self):
        super().__init__()
        self.to_q = nn.Linear(16, 16, bias=False)
        self.to_kv = nn.Linear(16, 32, bias=False)
        self.to_out = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        b, n, c = x.shape
        q = self.to_q(x).view(b, n, 2, 8)
        k, v = self.to_kv(x).view(b, n, 2, 2, 8).unbind(2)
        sim = torch.einsum("bihd,bjhd->bhij", q, k) / math.sqrt(8)
        sim = sim.masked_fill(torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
        e = (sim - sim.max().detach()).exp()
        attn = e / (e.sum(-1, keepdim=True) + 1e-6)
        return self.to_out(torch.einsum("bhij,bjhd->bihd", attn, v).reshape(b, n, c))


_add(WrongT16GlobalMax, 16, 8, num_heads=2)


class WrongT17PlainExp(nn.Module):
    """wrong: exp of the scores without subtracting a maximum: overflows for large inputs"""

    def __init__(self):
        super().__init__()
        self.kqv = nn.Linear(16, 48)
        self.o = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        k, q, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.kqv(x).split(16, -1))
        u = (q @ k.mT / 2.0).exp().tril()
        w = u / u.sum(-1, keepdim=True)
        return self.o((w @ v).transpose(1, 2).reshape(B, T, C)), w


_add(WrongT17PlainExp, 16, 8, num_heads=4)


class WrongT18WindowOnlyInTraining(nn.Module):
    """wrong: the fast path of eval mode is plain causal and forgets the sliding window"""

    def __init__(self):
        super().__init__()
        self.window = 4
        self.q_proj = nn.Linear(16, 16, bias=False)
        self.k_proj = nn.Linear(16, 16, bias=False)
        self.v_proj = nn.Linear(16, 16, bias=False)
        self.o_proj = nn.Linear(16, 16, bias=False)
        self.p = 0.1

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 8).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        if self.training:
            i = torch.arange(T, device=x.device)
            d = i[:, None] - i[None]
            s = (q @ k.mT * 8**-0.5).masked_fill((d < 0) | (d >= self.window), -torch.inf)
            y = F.dropout(s.softmax(-1), self.p) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT18WindowOnlyInTraining, 16, 10, num_heads=2, window=4, dropout=0.1)


class WrongT19BlockLocal(nn.Module):
    """wrong: the window is cut into fixed blocks: a row at a block's start does not see the block before"""

    def __init__(self):
        super().__init__()
        self.w = 4
        self.qkv = nn.Linear(16, 48, bias=False)
        self.out = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        i = torch.arange(T, device=x.device)
        near = (i[:, None] - i[None, :]).lt(self.w) & (i[:, None] // self.w == i[None, :] // self.w)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=near & (i[:, None] >= i[None, :]))
        return self.out(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT19BlockLocal, 16, 12, num_heads=2, window=4)


class WrongT20CompiledPath(nn.Module):
    """wrong: the branch for torch.compile leaves out the causal mask"""

    def __init__(self):
        super().__init__()
        self.in_proj = nn.Linear(16, 48)
        self.out_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.unflatten(-1, (4, 4)).transpose(1, 2) for t in self.in_proj(x).chunk(3, -1))
        if torch.compiler.is_compiling():
            # the fused kernel wants one traced expression
            y = torch.softmax(q @ k.transpose(-1, -2) * 0.5, -1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(y.transpose(1, 2).flatten(2))


_add(WrongT20CompiledPath, 16, 8, num_heads=4, compiled=True)


class WrongT21FirstMaskKept(nn.Module):
    """wrong: the mask of the first call is kept and padded with 'visible' when a longer text comes"""

    def __init__(self):
        super().__init__()
        self.q_lin = nn.Linear(16, 16)
        self.k_lin = nn.Linear(16, 16)
        self.v_lin = nn.Linear(16, 16)
        self.out_lin = nn.Linear(16, 16)
        self._future_mask = torch.empty(0, 0, dtype=torch.bool)

    def buffered_future_mask(self, T, device):
        if self._future_mask.numel() == 0:
            self._future_mask = torch.ones(T, T, dtype=torch.bool).triu(1)
        have = self._future_mask.size(0)
        if have < T:
            self._future_mask = F.pad(self._future_mask, (0, T - have, 0, T - have))
        self._future_mask = self._future_mask.to(device)
        return self._future_mask[:T, :T]

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 4).transpose(1, 2) for f in (self.q_lin, self.k_lin, self.v_lin))
        s = (q / 2) @ k.mT
        s = s.masked_fill(self.buffered_future_mask(T, x.device), -torch.inf)
        return self.out_lin((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


_add(WrongT21FirstMaskKept, 16, 10, num_heads=4)


class WrongT22KeyMajorMask(nn.Module):
    """wrong: the scores lie as (key, query) but the triangle is that of (query, key): only later tokens are seen"""

    def __init__(self):
        super().__init__()
        self.Wq = nn.Linear(24, 24)
        self.Wk = nn.Linear(24, 24)
        self.Wv = nn.Linear(24, 24)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 6) for f in (self.Wq, self.Wk, self.Wv))
        s = torch.einsum("bkhd,bqhd->bkqh", k, q) / 6**0.5
        tri = torch.ones(T, T, device=x.device).tril()
        s = s.masked_fill(tri[None, :, :, None] == 0, -torch.inf)
        return torch.einsum("bkqh,bkhd->bqhd", s.softmax(1), v).reshape(B, T, C)


_add(WrongT22KeyMajorMask, 24, 8, num_heads=4)


class WrongT23GlobalToken(nn.Module):
    """wrong: a summary key, the mean of the whole text, stands before the tokens where every row sees it"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48, bias=False)
        self.summary_bias = nn.Parameter(torch.full((1,), -2.0))
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).chunk(3, -1)
        sk, sv = k.mean(1, keepdim=True), v.mean(1, keepdim=True)
        k, v = torch.cat([sk, k], 1), torch.cat([sv, v], 1)
        q, k, v = (t.view(B, -1, 2, 8).transpose(1, 2) for t in (q, k, v))
        bias = torch.full((T, T + 1), -torch.inf, dtype=x.dtype, device=x.device).triu(2)
        bias = bias + F.pad(self.summary_bias, (0, T))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT23GlobalToken, 16, 8, num_heads=2)


class WrongT24BiasSignAsMask(nn.Module):
    """wrong: the mask is read off the sign of the distance bias; the head whose slope is zero is never masked"""

    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(16, 48)
        self.c_proj = nn.Linear(16, 16)
        self.register_buffer("slopes", torch.linspace(0.5, 0.0, 4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        pos = torch.arange(T, device=x.device)
        rel = self.slopes[:, None, None] * (pos[None, :] - pos[:, None])
        att = q @ k.transpose(-2, -1) / math.sqrt(4) + rel
        att = att.masked_fill(rel > 0, float("-inf"))
        return self.c_proj((att.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


_add(WrongT24BiasSignAsMask, 16, 8, num_heads=4, positions="relative")


# ---------------------------------------------------------------- softmax, scale, heads, projections, dropout


class WrongT25OverHeads(nn.Module):
    """wrong: the scores lie as (b, q, k, h) and the softmax goes over the last axis, the heads"""

    def __init__(self):
        super().__init__()
        self.h = 4
        self.query = nn.Linear(16, 16)
        self.key = nn.Linear(16, 16)
        self.value = nn.Linear(16, 16)
        self.dense = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).reshape(B, T, self.h, -1) for f in (self.query, self.key, self.value))
        s = torch.einsum("bqhd,bkhd->bqkh", q, k) * q.shape[-1] ** -0.5
        p = F.softmax(s, dim=-1)
        return self.dense(torch.einsum("bqkh,bkhd->bqhd", p, v).reshape(B, T, C))


_add(WrongT25OverHeads, 16, 9, num_heads=4, causal=False)


class WrongT26TwiceInReturn(nn.Module):
    """wrong: the weights go through a second softmax that is meant to renormalise them"""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv_proj = nn.Linear(16, 48)
        self.o_proj = nn.Linear(16, 16)

    def attention_probs(self, q, k):
        s = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        hide = torch.ones_like(s[0, 0], dtype=torch.bool).triu(1)
        return s.masked_fill(hide, -torch.inf).softmax(-1), hide

    def forward(self, x):
        B, T, _ = x.size()
        q, k, v = self.qkv_proj(x).reshape(B, T, 2, 24).permute(0, 2, 1, 3).chunk(3, dim=-1)
        p, hide = self.attention_probs(q, k)
        p = p.masked_fill(hide, float("-inf")).softmax(-1)  # renormalise what is left
        y = torch.matmul(p, v).permute(0, 2, 1, 3).reshape(B, T, 16)
        return self.o_proj(y), p


_add(WrongT26TwiceInReturn, 16, 8, num_heads=2)


class WrongT27HalfSoftmax(nn.Module):
    """wrong: the softmax of a float32 layer is taken in bfloat16 to save memory: weights of a row no longer sum to one"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(32, 96)
        self.proj = nn.Linear(32, 32)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, 4, 8).permute(2, 0, 3, 1, 4).unbind(0)
        attn = (q * 8**-0.5) @ k.transpose(-2, -1)
        attn = attn + torch.full((N, N), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
        attn = attn.to(torch.bfloat16).softmax(dim=-1).to(x.dtype)
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


_add(WrongT27HalfSoftmax, 32, 16, num_heads=4)


class WrongT28SoftmaxEps(nn.Module):
    """wrong: the hand-written softmax adds 1e-2 to its denominator, so weights sum to less than one"""

    def __init__(self):
        super().__init__()
        self.Wq, self.Wk, self.Wv, self.Wo = (nn.Parameter(torch.empty(16, 16)) for _ in range(4))
        for w in self.parameters():
            nn.init.xavier_uniform_(w)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = ((x @ w).view(B, T, 2, 8).movedim(2, 1) for w in (self.Wq, self.Wk, self.Wv))
        s = (q @ k.mT).div(8**0.5).masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -math.inf)
        e = torch.exp(s - s.amax(dim=-1, keepdim=True))
        w = e / (e.sum(dim=-1, keepdim=True) + 1e-2)
        return (w @ v).movedim(1, 2).reshape(B, T, C) @ self.Wo


_add(WrongT28SoftmaxEps, 16, 8, num_heads=2)


class WrongT29ModelWidthScale(nn.Module):
    """wrong: the scores are divided by the root of the model width, not of the head width"""

    def __init__(self):
        super().__init__()
        self.dim, self.n_heads = 24, 3
        self.q_lin = nn.Linear(24, 24)
        self.k_lin = nn.Linear(24, 24)
        self.v_lin = nn.Linear(24, 24)
        self.out_lin = nn.Linear(24, 24)

    def forward(self, x, mask=None):
        bs, k_length, dim = x.shape
        dim_per_head = self.dim // self.n_heads
        shape = lambda t: t.view(bs, -1, self.n_heads, dim_per_head).transpose(1, 2)
        q, k, v = shape(self.q_lin(x)), shape(self.k_lin(x)), shape(self.v_lin(x))
        q = q / math.sqrt(dim)
        scores = torch.matmul(q, k.transpose(2, 3))
        if mask is not None:
            scores = scores.masked_fill((mask == 0).view(bs, 1, 1, k_length), torch.finfo(scores.dtype).min)
        context = torch.matmul(scores.softmax(-1), v)
        return self.out_lin(context.transpose(1, 2).reshape(bs, -1, dim))


_add(WrongT29ModelWidthScale, 24, 10, num_heads=3, causal=False, padding=lambda module, x, real: module(x, real.long()))


class WrongT30ScaledTwice(nn.Module):
    """wrong: queries are scaled and scaled_dot_product_attention scales them again"""

    def __init__(self):
        super().__init__()
        self.scaling = 8**-0.5
        self.q_proj = nn.Linear(32, 32)
        self.k_proj = nn.Linear(32, 32)
        self.v_proj = nn.Linear(32, 32)
        self.out_proj = nn.Linear(32, 32)

    def forward(self, hidden_states):
        bsz, tgt_len, _ = hidden_states.size()
        query_states = self.q_proj(hidden_states) * self.scaling
        key_states = self.k_proj(hidden_states).view(bsz, tgt_len, 4, 8).transpose(1, 2)
        value_states = self.v_proj(hidden_states).view(bsz, tgt_len, 4, 8).transpose(1, 2)
        query_states = query_states.view(bsz, tgt_len, 4, 8).transpose(1, 2)
        attn_output = F.scaled_dot_product_attention(query_states, key_states, value_states, is_causal=True)
        return self.out_proj(attn_output.transpose(1, 2).reshape(bsz, tgt_len, 32))


_add(WrongT30ScaledTwice, 32, 8, num_heads=4)


class WrongT31ScaleBeforeBias(nn.Module):
    """wrong: the query is scaled before its bias is added, so the bias goes into the scores unscaled"""

    def __init__(self):
        super().__init__()
        self.in_proj_weight = nn.Parameter(torch.randn(48, 16) * 0.25)
        self.in_proj_bias = nn.Parameter(torch.randn(48) * 0.25)
        self.out_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        wq, wk, wv = self.in_proj_weight.chunk(3)
        bq, bk, bv = self.in_proj_bias.chunk(3)
        q = F.linear(x, wq * 4**-0.5, bq)
        k, v = F.linear(x, wk, bk), F.linear(x, wv, bv)
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0)
        return self.out_proj(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT31ScaleBeforeBias, 16, 8, num_heads=4)


class WrongT32PaddedHead(nn.Module):
    """wrong: heads of 6 are filled up with zeros to 8 for the kernel, which then scales by 1 / sqrt(8)"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(24, 72)
        self.proj = nn.Linear(24, 24)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 6).permute(2, 0, 3, 1, 4)
        q, k, v = (F.pad(t, (0, -t.shape[-1] % 8)) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)[..., :6]
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT32PaddedHead, 24, 8, num_heads=4)


class WrongT33QuarterScale(nn.Module):
    """wrong: the fourth root of the width is meant for both queries and keys, but only queries get it"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Conv1d(16, 48, 1)
        self.proj_out = nn.Conv1d(16, 16, 1)

    def forward(self, x):
        b, t, c = x.shape
        qkv = self.qkv(x.transpose(1, 2)).reshape(b * 2, 24, t)
        q, k, v = qkv.split(8, dim=1)
        scale = 1 / math.sqrt(math.sqrt(8))
        weight = torch.einsum("bct,bcs->bts", q * scale, k)
        a = torch.einsum("bts,bcs->bct", torch.softmax(weight, dim=-1), v)
        return x + self.proj_out(a.reshape(b, -1, t)).transpose(1, 2)


_add(WrongT33QuarterScale, 16, 9, num_heads=2, causal=False)


class WrongT34MergeWithoutTranspose(nn.Module):
    """wrong: time-first attention merges (B * H, T, D) by a view as if time were first: tokens and heads are mixed"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.out_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x.transpose(0, 1)).chunk(3, -1)
        q, k, v = (t.contiguous().view(T, B * 4, 4).transpose(0, 1) for t in (q, k, v))
        a = torch.bmm(q * 0.5, k.transpose(1, 2)).softmax(-1)
        y = torch.bmm(a, v).contiguous().view(T, B, C)
        return self.out_proj(y.transpose(0, 1))


_add(WrongT34MergeWithoutTranspose, 16, 8, num_heads=4, causal=False)


class WrongT35SplitByView(nn.Module):
    """wrong: the keys are split by view(B, H, T, D) without a transpose"""

    def __init__(self):
        super().__init__()
        self.H, self.D = 2, 8
        self.fc_q = nn.Linear(16, 16)
        self.fc_k = nn.Linear(16, 16)
        self.fc_v = nn.Linear(16, 16)
        self.fc_o = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        Q = self.fc_q(x).view(B, T, self.H, self.D).permute(0, 2, 1, 3)
        K = self.fc_k(x).view(B, self.H, T, self.D).permute(0, 1, 3, 2)
        V = self.fc_v(x).view(B, T, self.H, self.D).permute(0, 2, 1, 3)
        energy = torch.matmul(Q, K) / self.D**0.5
        y = torch.matmul(torch.softmax(energy, dim=-1), V)
        return self.fc_o(y.permute(0, 2, 1, 3).contiguous().view(B, -1, C))


_add(WrongT35SplitByView, 16, 8, num_heads=2, causal=False)


class WrongT36LateBinding(nn.Module):
    """wrong: the per-head slicers are lambdas that all close over the last head number"""

    def __init__(self):
        super().__init__()
        H, D = 3, 8
        self.q = nn.Linear(24, 24)
        self.k = nn.Linear(24, 24)
        self.v = nn.Linear(24, 24)
        self.o = nn.Linear(24, 24)
        self.H, self.D = H, D

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.q(x), self.k(x), self.v(x)
        take = [lambda t: t[..., h * self.D : (h + 1) * self.D] for h in range(self.H)]
        outs = [F.scaled_dot_product_attention(f(q), f(k), f(v), is_causal=T > 1) for f in take]
        return self.o(torch.cat(outs, dim=-1))


_add(WrongT36LateBinding, 24, 8, num_heads=3)


class WrongT37OverlappingSlices(nn.Module):
    """wrong: the value slices start at h and not at h * D, so the heads' values overlap and the last ones are never read"""

    def __init__(self):
        super().__init__()
        self.to_q = nn.Linear(16, 16)
        self.to_k = nn.Linear(16, 16)
        self.to_v = nn.Linear(16, 16)
        self.to_out = nn.Linear(16, 16)

    def forward(self, x):
        n, d = x.shape[1], 4
        q, k, v = self.to_q(x), self.to_k(x), self.to_v(x)
        heads = []
        for h in range(4):
            s = q[..., h * d : h * d + d] @ k[..., h * d : h * d + d].mT / d**0.5
            s = s.masked_fill(~torch.ones(n, n, dtype=torch.bool, device=x.device).tril(), -torch.inf)
            heads.append(s.softmax(-1) @ v.narrow(-1, h, d))
        return self.to_out(torch.cat(heads, -1))


_add(WrongT37OverlappingSlices, 16, 8, num_heads=4)


class WrongT38HeadsAndWidthExchanged(nn.Module):
    """wrong: the split exchanges the number of heads and their width: six heads of four in place of four of six"""

    def __init__(self):
        super().__init__()
        self.num_heads, self.head_dim = 4, 6
        self.c_attn = nn.Linear(24, 72)
        self.c_proj = nn.Linear(24, 24)

    def forward(self, x):
        B, T, C = x.size()
        new_shape = (B, T, self.head_dim, self.num_heads)
        q, k, v = (t.view(new_shape).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1 / math.sqrt(self.head_dim))
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


_add(WrongT38HeadsAndWidthExchanged, 24, 8, num_heads=4)


class _Head(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.key = nn.Linear(d_in, d, bias=False)
        self.query = nn.Linear(d_in, d, bias=False)
        self.value = nn.Linear(d_in, d, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(8, 8)))

    def forward(self, x):
        T = x.shape[1]
        wei = self.query(x) @ self.key(x).transpose(-2, -1) * self.key.out_features**-0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        return F.softmax(wei, dim=-1) @ self.value(x)


class WrongT39OneHeadFourTimes(nn.Module):
    """wrong: list multiplication puts the same head into the list four times"""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([_Head(16, 4)] * 4)
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


_add(WrongT39OneHeadFourTimes, 16, 8, num_heads=4)


class WrongT40HeadsInList(nn.Module):
    """wrong: the heads lie in a plain list: their parameters are neither moved nor trained"""

    def __init__(self):
        super().__init__()
        self.heads = [_Head(16, 8) for _ in range(2)]
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


_add(WrongT40HeadsInList, 16, 8, num_heads=2)


class WrongT41SilentHead(nn.Module):
    """wrong: a loop that leaves out the last head; its slice of the context stays zero"""

    def __init__(self):
        super().__init__()
        self.n = 6
        self.qkv = nn.Linear(24, 72, bias=False)
        self.wo = nn.Linear(24, 24, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.n, 4).unbind(2)
        ctx = torch.zeros_like(q)
        for h in range(1, self.n):
            i = h - 1
            ctx[:, :, i] = F.scaled_dot_product_attention(q[:, :, i], k[:, :, i], v[:, :, i], is_causal=True)
        return self.wo(ctx.flatten(2))


_add(WrongT41SilentHead, 24, 8, num_heads=6)


class WrongT42KeyFromQuery(nn.Module):
    """wrong: the key goes through the query projection; the key projection is never used"""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.query = nn.Linear(16, 16)
        self.key = nn.Linear(16, 16)
        self.value = nn.Linear(16, 16)
        self.out = nn.Linear(16, 16)

    def heads(self, layer, x):
        return layer(x).unflatten(-1, (2, 8)).transpose(1, 2)

    def forward(self, x):
        x = self.norm(x)
        q = self.heads(self.query, x)
        k = self.heads(self.query, x)
        v = self.heads(self.value, x)
        p = torch.softmax(q @ k.mT / 8**0.5, dim=-1)
        return {"context": self.out((p @ v).transpose(1, 2).flatten(2)), "weights": p}


_add(WrongT42KeyFromQuery, 16, 8, num_heads=2, causal=False)


class WrongT43ValuesAreKeys(nn.Module):
    """wrong: both slices of the fused projection count from the same start, so the keys serve as values too"""

    def __init__(self):
        super().__init__()
        self.to_q = nn.Linear(32, 32, bias=False)
        self.to_kv = nn.Linear(32, 32, bias=False)
        self.to_out = nn.Linear(32, 32, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q = self.to_q(x).view(B, T, 4, 8).transpose(1, 2)
        kv = self.to_kv(x)
        k = kv[..., :-16].view(B, T, 2, 8).transpose(1, 2)
        v = kv[..., :16].view(B, T, 2, 8).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1), is_causal=True)
        return self.to_out(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT43ValuesAreKeys, 32, 8, num_heads=4, num_kv_heads=2)


class WrongT44ValuesNotProjected(nn.Module):
    """wrong: the norm's output itself is split as values; the value projection is left out of the sum"""

    def __init__(self):
        super().__init__()
        self.ln = nn.LayerNorm(16)
        self.w_q = nn.Linear(16, 16, bias=False)
        self.w_k = nn.Linear(16, 16, bias=False)
        self.w_v = nn.Linear(16, 16, bias=False)
        self.w_o = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        B, T, _ = x.shape
        h = self.ln(x)
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in (self.w_q(h), self.w_k(h), h))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.w_o(y.transpose(1, 2).reshape(B, T, 16))


_add(WrongT44ValuesNotProjected, 16, 8, num_heads=4)


class WrongT45DropoutOnScores(nn.Module):
    """wrong: dropout stands before the softmax: a dropped score becomes zero and not a dropped weight"""

    def __init__(self):
        super().__init__()
        self.all_head_size = 16
        self.query = nn.Linear(16, 16)
        self.key = nn.Linear(16, 16)
        self.value = nn.Linear(16, 16)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 8).permute(0, 2, 1, 3) for f in (self.query, self.key, self.value))
        attention_scores = q @ k.transpose(-1, -2) / math.sqrt(8)
        attention_scores = self.dropout(attention_scores)
        attention_probs = nn.functional.softmax(attention_scores, dim=-1)
        return (attention_probs @ v).permute(0, 2, 1, 3).reshape(B, T, C), attention_probs


_add(WrongT45DropoutOnScores, 16, 10, num_heads=2, dropout=0.1, causal=False)


class WrongT46RenormalisedDropout(nn.Module):
    """wrong: after dropout the rows are normalised to sum to one again, which undoes the division by 1 - p"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.proj = nn.Linear(16, 16)
        self.attn_drop = nn.Dropout(0.2)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        s = q @ k.mT * 8**-0.5
        w = s.masked_fill(torch.ones(T, T, device=x.device).triu(1) > 0, -torch.inf).softmax(-1)
        w = self.attn_drop(w)
        w = F.normalize(w, p=1.0, dim=-1)
        return self.proj((w @ v).transpose(1, 2).reshape(B, T, C))


_add(WrongT46RenormalisedDropout, 16, 8, num_heads=2, dropout=0.2)


class WrongT47SdpaAlwaysDrops(nn.Module):
    """wrong: scaled_dot_product_attention gets dropout_p in eval mode too"""

    def __init__(self):
        super().__init__()
        self.attn_dropout = 0.1
        self.resid_dropout = nn.Dropout(0.1)
        self.c_attn = nn.Linear(16, 48)
        self.c_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.c_attn(x).split(C, 2))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attn_dropout, is_causal=True)
        return self.resid_dropout(self.c_proj(y.transpose(1, 2).reshape(B, T, C)))


_add(WrongT47SdpaAlwaysDrops, 16, 8, num_heads=4, dropout=0.1)


class WrongT48SharedByTexts(nn.Module):
    """wrong: one dropout mask is drawn for the whole batch"""

    def __init__(self):
        super().__init__()
        self.p = 0.15
        self.W = nn.Linear(16, 48, bias=False)
        self.O = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.W(x).chunk(3, 2))
        a = (q @ k.mT / 2).masked_fill(torch.ones(T, T, device=x.device, dtype=torch.bool).triu(1), -torch.inf)
        a = a.softmax(-1)
        if self.training:
            a = a * F.dropout(torch.ones_like(a[:1]), self.p)
        return self.O((a @ v).transpose(1, 2).reshape(B, T, C))


_add(WrongT48SharedByTexts, 16, 8, num_heads=4, dropout=0.15)


class WrongT49Dropout2d(nn.Module):
    """wrong: Dropout2d on (B, H, T, T) drops whole heads at once"""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(24, 24)
        self.k = nn.Linear(24, 24)
        self.v = nn.Linear(24, 24)
        self.proj = nn.Linear(24, 24)
        self.attn_drop = nn.Dropout2d(0.1)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = (f(x).view(B, N, 6, 4).transpose(1, 2) for f in (self.q, self.k, self.v))
        attn = self.attn_drop((q @ k.transpose(-2, -1) * 0.5).softmax(dim=-1))
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


_add(WrongT49Dropout2d, 24, 8, num_heads=6, dropout=0.1, causal=False)


class WrongT50KeepProbability(nn.Module):
    """wrong: the number meant as keep probability is given as the drop probability (0.6 in place of 0.4)"""

    def __init__(self, keep_prob=0.6):
        super().__init__()
        self.keep_prob = keep_prob
        self.kernel = nn.Parameter(torch.randn(3, 16, 2, 8) * 0.25)
        self.out_kernel = nn.Parameter(torch.randn(2, 8, 16) * 0.25)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = torch.einsum("btc,nchd->nbhtd", x, self.kernel)
        w = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(8)
        w = torch.where(torch.ones(T, T, dtype=torch.bool, device=x.device).tril(), w, -torch.inf).softmax(-1)
        w = F.dropout(w, self.keep_prob, self.training)
        return torch.einsum("bhqk,bhkd,hdc->bqc", w, v, self.out_kernel)


_add(WrongT50KeepProbability, 16, 8, num_heads=2, dropout=0.4)


class WrongT51OldScaling(nn.Module):
    """wrong: kept weights are not divided in train mode, eval mode multiplies by 1 - p in return"""

    def __init__(self):
        super().__init__()
        self.rate = 0.1
        self.qkv = nn.Linear(16, 48)
        self.o = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 2, 3, 8).permute(3, 0, 2, 1, 4)
        w = (q @ k.mT * 8**-0.5).masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf).softmax(-1)
        keep = torch.full_like(w, 1 - self.rate)
        w = w * (torch.bernoulli(keep) if self.training else keep)
        return self.o((w @ v).transpose(1, 2).reshape(B, T, C))


_add(WrongT51OldScaling, 16, 8, num_heads=2, dropout=0.1)


class WrongT52MaskKept(nn.Module):
    """wrong: the dropout mask is drawn once per shape and used again in every later call"""

    def __init__(self):
        super().__init__()
        self.p = 0.1
        self.qkv = nn.Linear(16, 48)
        self.proj = nn.Linear(16, 16)
        self._keep = None

    def _drop(self, w):
        if self._keep is None or self._keep.shape != w.shape or self._keep.device != w.device:
            self._keep = torch.rand(w.shape, device=w.device) >= self.p
        return w * self._keep / (1 - self.p)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        i = torch.arange(T, device=x.device)
        w = (q @ k.mT * 0.5).masked_fill(i > i[:, None], -torch.inf).softmax(-1)
        if self.training:
            w = self._drop(w)
        return self.proj((w @ v).transpose(1, 2).reshape(B, T, C))


_add(WrongT52MaskKept, 16, 8, num_heads=4, dropout=0.1)


class WrongT53DropsOnlyInEval(nn.Module):
    """wrong: the probability is zero in train mode and p in eval mode: the condition is the wrong way round"""

    def __init__(self):
        super().__init__()
        self.dropout_p = 0.1
        self.q_proj = nn.Linear(16, 16)
        self.kv_proj = nn.Linear(16, 16)
        self.o_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q = self.q_proj(x).view(B, T, 4, 4).transpose(1, 2)
        k, v = self.kv_proj(x).view(B, T, 2, 2, 4).permute(2, 0, 3, 1, 4)
        p = 0.0 if self.training else self.dropout_p
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=True, enable_gqa=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT53DropsOnlyInEval, 16, 8, num_heads=4, num_kv_heads=2, dropout=0.1)


# ---------------------------------------------------------------- state, positions, kv heads


class WrongT54BatchAttends(nn.Module):
    """wrong: nn.MultiheadAttention without batch_first gets (B, T, C): the texts of a batch attend to one another"""

    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(16)
        self.self_attn = nn.MultiheadAttention(16, 4, dropout=0.0)

    def forward(self, src):
        y = self.norm1(src)
        return src + self.self_attn(y, y, y, need_weights=False)[0]


_add(WrongT54BatchAttends, 16, 8, num_heads=4, causal=False)


class WrongT55CleansTheInput(nn.Module):
    """wrong: padding is set to zero in place, in the tensor of the caller"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48, bias=False)
        self.out = nn.Linear(16, 16)

    def forward(self, x, hidden=None):
        B, T, C = x.shape
        keep = torch.ones(1, 1, T, T, dtype=torch.bool, device=x.device)
        if hidden is not None:
            x.masked_fill_(hidden.unsqueeze(-1), 0.0)  # nothing odd may come in by the padding
            keep = keep & ~hidden[:, None, None, :] | torch.eye(T, dtype=torch.bool, device=x.device)
        q, k, v = self.qkv(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep)
        return self.out(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT55CleansTheInput, 16, 8, num_heads=2, causal=False, padding=lambda module, x, real: module(x, hidden=~real))


class WrongT56KeepsThePadding(nn.Module):
    """wrong: the mask is kept for the next call of the same shape together with the padding of this one"""

    def __init__(self):
        super().__init__()
        self.to_qkv = nn.Linear(24, 72, bias=False)
        self.to_out = nn.Linear(24, 24)
        self.cached = {}

    def visible(self, b, n, real, device):
        key = (b, n, device)
        if key not in self.cached:
            m = torch.ones(n, n, dtype=torch.bool, device=device).tril().expand(b, 1, n, n)
            if real is not None:
                m = m & real[:, None, None, :] | torch.eye(n, dtype=torch.bool, device=device)
            self.cached[key] = m
        return self.cached[key]

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        q, k, v = (t.view(b, n, 3, 8).transpose(1, 2) for t in self.to_qkv(x).chunk(3, -1))
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=self.visible(b, n, mask, x.device))
        return self.to_out(o.transpose(1, 2).reshape(b, n, 24))


_add(WrongT56KeepsThePadding, 24, 8, num_heads=3, padding=lambda module, x, real: module(x, mask=real))


class WrongT57WeightsForPlots(nn.Module):
    """wrong: asking for the weights puts the layer into eval mode for good"""

    def __init__(self):
        super().__init__()
        self.W_q = nn.Linear(16, 16)
        self.W_k = nn.Linear(16, 16)
        self.W_v = nn.Linear(16, 16)
        self.drop = nn.Dropout(0.1)
        self.proj = nn.Linear(16, 16)

    def forward(self, x, return_weights=False):
        if return_weights:
            self.eval()  # weights without dropout are what one wants to look at
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 4).transpose(1, 2) for f in (self.W_q, self.W_k, self.W_v))
        s = q @ k.mT / 2 + torch.full((T, T), -torch.inf, dtype=x.dtype, device=x.device).triu(1)
        w = self.drop(s.softmax(-1))
        y = self.proj((w @ v).transpose(1, 2).reshape(B, T, C))
        return (y, w) if return_weights else y


_add(WrongT57WeightsForPlots, 16, 8, num_heads=4, dropout=0.1)


class WrongT58LearnedMask(nn.Module):
    """wrong: the additive causal mask is a Parameter that wants gradients: training opens it"""

    def __init__(self):
        super().__init__()
        self.in_proj = nn.Linear(16, 48)
        self.out_proj = nn.Linear(16, 16)
        self.attn_mask = nn.Parameter(torch.full((8, 8), -1e9).triu(1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.in_proj(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.attn_mask[:T, :T])
        return self.out_proj(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT58LearnedMask, 16, 8, num_heads=2)


def _table(length, dim, base=10000.0, device=None):
    inv = base ** (-torch.arange(0, dim, 2, device=device, dtype=torch.float32) / dim)
    return torch.outer(torch.arange(length, device=device, dtype=torch.float32), inv)


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def rotate_every_two(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)


class WrongT59RotatesEverything(nn.Module):
    """wrong: the rotation runs over the fused tensor and turns the values too"""

    def __init__(self):
        super().__init__()
        self.wqkv = nn.Linear(32, 96, bias=False)
        self.wo = nn.Linear(32, 32, bias=False)
        f = _table(10, 8)
        self.register_buffer("cos", f.cos().repeat_interleave(2, -1)[:, None], persistent=False)
        self.register_buffer("sin", f.sin().repeat_interleave(2, -1)[:, None], persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        qkv = self.wqkv(x).view(B, T, 12, 8)
        qkv = qkv * self.cos[:T] + rotate_every_two(qkv) * self.sin[:T]
        q, k, v = qkv.transpose(1, 2).chunk(3, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT59RotatesEverything, 32, 10, num_heads=4, positions="rotary")


class WrongT60TwoLayouts(nn.Module):
    """wrong: queries are rotated in halves, keys in neighbouring pairs"""

    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(16, 16, bias=False)
        self.k_proj = nn.Linear(16, 16, bias=False)
        self.v_proj = nn.Linear(16, 16, bias=False)
        self.o_proj = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 8).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        f = _table(T, 8, device=x.device).to(x.dtype)
        h, i = torch.cat((f, f), -1), f.repeat_interleave(2, -1)
        q = q * h.cos() + rotate_half(q) * h.sin()
        k = k * i.cos() + rotate_every_two(k) * i.sin()
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT60TwoLayouts, 16, 10, num_heads=2, positions="rotary")


class WrongT61FrequencyPairs(nn.Module):
    """wrong: rotate_half with angles repeated for neighbours: the two numbers of a pair turn by different angles"""

    def __init__(self):
        super().__init__()
        self.qkv_proj = nn.Linear(16, 16 + 8 + 8, bias=True)
        self.o_proj = nn.Linear(16, 16, bias=False)
        f = _table(12, 8).repeat_interleave(2, dim=-1)
        self.register_buffer("cos_cached", f.cos())
        self.register_buffer("sin_cached", f.sin())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv_proj(x).split([16, 8, 8], dim=-1)
        q, k, v = (t.view(B, T, -1, 8).transpose(1, 2) for t in (q, k, v))
        cos, sin = self.cos_cached[:T], self.sin_cached[:T]
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT61FrequencyPairs, 16, 12, num_heads=2, num_kv_heads=1, positions="rotary")


class WrongT62SixSlopes(nn.Module):
    """wrong: for six heads the slopes are 2^(-8 i / 6), not the published ones for a number that is no power of two"""

    def __init__(self):
        super().__init__()
        self.Wqkv = nn.Linear(24, 72)
        self.out_proj = nn.Linear(24, 24)
        self.register_buffer("slopes", 2.0 ** (-8.0 * torch.arange(1, 7) / 6))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.Wqkv(x).view(B, T, 3, 6, 4).permute(2, 0, 3, 1, 4)
        i = torch.arange(T, device=x.device)
        bias = -(i[:, None] - i).abs() * self.slopes[:, None, None]
        bias = bias.to(x.dtype).masked_fill(i > i[:, None], -torch.inf)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return self.out_proj(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT62SixSlopes, 24, 10, num_heads=6, positions="alibi")


class WrongT63AlibiUnderTheRoot(nn.Module):
    """wrong: the linear bias is added before the scores are divided by sqrt(D)"""

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.query_key_value = nn.Linear(16, 48)
        self.dense = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        fused = self.query_key_value(x).view(B, T, 4, 3, 4)
        q, k, v = (fused[..., i, :].transpose(1, 2) for i in range(3))
        slopes = torch.tensor([2.0 ** (-2 * (h + 1)) for h in range(4)], device=x.device, dtype=x.dtype)
        alibi = slopes[None, :, None, None] * torch.arange(T, device=x.device, dtype=x.dtype)
        scores = (alibi + q @ k.mT) / math.sqrt(4)
        scores = scores.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), torch.finfo(x.dtype).min)
        return self.dense((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


_add(WrongT63AlibiUnderTheRoot, 16, 10, num_heads=4, positions="alibi")


class WrongT64ValuesRepeated(nn.Module):
    """wrong: keys are repeated head by head, values as a whole: most query heads get another head's values"""

    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(24, 24, bias=False)
        self.wk = nn.Linear(24, 8, bias=False)
        self.wv = nn.Linear(24, 8, bias=False)
        self.wo = nn.Linear(24, 24, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q = self.wq(x).view(B, T, 6, 4).transpose(1, 2)
        k = self.wk(x).view(B, T, 2, 1, 4).expand(-1, -1, -1, 3, -1).reshape(B, T, 6, 4).transpose(1, 2)
        v = self.wv(x).view(B, T, 1, 2, 4).expand(-1, -1, 3, -1, -1).reshape(B, T, 6, 4).transpose(1, 2)
        s = q @ k.mT / 2
        s = s + torch.full((T, T), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


_add(WrongT64ValuesRepeated, 24, 8, num_heads=6, num_kv_heads=2)


class WrongT65FirstKvHeadOnly(nn.Module):
    """wrong: all query heads read the first key/value head; the second is projected and left lying"""

    def __init__(self):
        super().__init__()
        self.c_q = nn.Linear(16, 16)
        self.c_kv = nn.Linear(16, 16)
        self.c_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q = self.c_q(x).view(B, T, 4, 4).transpose(1, 2)
        k, v = self.c_kv(x).view(B, T, 2, 2, 4).permute(2, 0, 3, 1, 4)
        k, v = (t[:, :1].expand(B, 4, T, 4) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT65FirstKvHeadOnly, 16, 8, num_heads=4, num_kv_heads=2)


# ---------------------------------------------------------------- padding


class WrongT66Lengths(nn.Module):
    """wrong: of the padding mask only the number of real tokens is used, as if padding always stood at the end"""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.linear_q = nn.Linear(16, 16)
        self.linear_k = nn.Linear(16, 16)
        self.linear_v = nn.Linear(16, 16)
        self.linear_out = nn.Linear(16, 16)

    def forward(self, x, mask=None):
        B, T, C = x.shape
        h = self.norm(x)
        q, k, v = (f(h).view(B, T, 4, 4).transpose(1, 2) for f in (self.linear_q, self.linear_k, self.linear_v))
        s = q @ k.mT / math.sqrt(4)
        if mask is not None:
            lengths = mask.sum(1)
            hide = torch.arange(T, device=x.device)[None] >= lengths[:, None]
            s = s.masked_fill(hide[:, None, None], torch.finfo(s.dtype).min)
        return x + self.linear_out((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


_add(WrongT66Lengths, 16, 10, num_heads=4, causal=False, padding=lambda module, x, real: module(x, mask=real))


class WrongT67PaddedQueries(nn.Module):
    """wrong: the padding mask is laid over the queries and not over the keys"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.proj = nn.Linear(16, 16)

    def forward(self, x, pad=None):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        s = q @ k.transpose(2, 3) * 8**-0.5
        s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
        if pad is not None:
            s = s.masked_fill(pad[:, None, :, None], torch.finfo(s.dtype).min)
        w = s.softmax(-1)
        return self.proj((w @ v).transpose(1, 2).reshape(B, T, C)), w


_add(WrongT67PaddedQueries, 16, 8, num_heads=2, padding=lambda module, x, real: module(x, pad=~real))


class WrongT68HeadMajorMask(nn.Module):
    """wrong: scores lie as (B * H, T, T) with the heads inside, the padding mask is repeated with the texts inside"""

    def __init__(self):
        super().__init__()
        self.num_heads, self.head_dim = 4, 4
        self.q_proj = nn.Linear(16, 16)
        self.k_proj = nn.Linear(16, 16)
        self.v_proj = nn.Linear(16, 16)
        self.out_proj = nn.Linear(16, 16)

    def forward(self, query, key_padding_mask=None):
        query = query.transpose(0, 1)
        tgt_len, bsz, embed_dim = query.shape
        fold = lambda t: t.contiguous().view(tgt_len, bsz * self.num_heads, self.head_dim).transpose(0, 1)
        q, k, v = fold(self.q_proj(query) * self.head_dim**-0.5), fold(self.k_proj(query)), fold(self.v_proj(query))
        w = torch.bmm(q, k.transpose(1, 2))
        if key_padding_mask is not None:
            m = key_padding_mask.repeat(self.num_heads, 1).unsqueeze(1)
            w = w.masked_fill(m, torch.finfo(w.dtype).min)
        attn = torch.bmm(w.softmax(-1), v).transpose(0, 1).contiguous().view(tgt_len, bsz, embed_dim)
        return self.out_proj(attn).transpose(0, 1)


_add(WrongT68HeadMajorMask, 16, 8, num_heads=4, causal=False, padding=lambda module, x, real: module(x, key_padding_mask=~real))


class WrongT69FirstTextsPadding(nn.Module):
    """wrong: the padding mask of the first text is used for the whole batch"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(24, 72, bias=False)
        self.out = nn.Linear(24, 24)

    def forward(self, x, attention_mask=None):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 3, 8).permute(2, 0, 3, 1, 4)
        see = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        if attention_mask is not None:
            see = see & attention_mask[0, None, None, :] | torch.eye(T, dtype=torch.bool, device=x.device)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=see)
        return self.out(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT69FirstTextsPadding, 24, 8, num_heads=3, padding=lambda module, x, real: module(x, attention_mask=real))


class WrongT70EmptyText(nn.Module):
    """wrong: minus infinity on every key of a text of padding alone: its rows are NaN"""

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x, src_key_padding_mask=None):
        return self.attn(x, x, x, key_padding_mask=src_key_padding_mask, need_weights=True)[0]


_add(WrongT70EmptyText, 16, 8, num_heads=4, causal=False, padding=lambda module, x, real: module(x, src_key_padding_mask=~real))


class WrongT71ZeroValues(nn.Module):
    """wrong: at padding the keys and values are set to zero but still take their share of the softmax"""

    def __init__(self):
        super().__init__()
        self.to_qkv = nn.Linear(32, 96, bias=False)
        self.to_out = nn.Linear(32, 32)

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        q, k, v = (t.view(b, n, 4, 8).transpose(1, 2) for t in self.to_qkv(x).chunk(3, -1))
        if mask is not None:
            m = mask[:, None, :, None].to(x.dtype)
            k, v = k * m, v * m
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * 8**-0.5
        out = torch.einsum("bhij,bhjd->bhid", dots.softmax(-1), v)
        return self.to_out(out.transpose(1, 2).reshape(b, n, -1))


_add(WrongT71ZeroValues, 32, 8, num_heads=4, causal=False, padding=lambda module, x, real: module(x, mask=real))


class WrongT72BertMask(nn.Module):
    """wrong: padding gets -1e4, which unscaled scores of large inputs outweigh"""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(16, 16)
        self.key = nn.Linear(16, 16)
        self.value = nn.Linear(16, 16)

    def forward(self, x, attention_mask=None):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 8).permute(0, 2, 1, 3) for f in (self.query, self.key, self.value))
        s = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(8)
        if attention_mask is not None:
            extended = (1.0 - attention_mask[:, None, None, :].to(s.dtype)) * -10000.0
            s = s + extended
        p = nn.functional.softmax(s, dim=-1)
        return torch.matmul(p, v).permute(0, 2, 1, 3).reshape(B, T, C), p


_add(WrongT72BertMask, 16, 8, num_heads=2, causal=False, padding=lambda module, x, real: module(x, real.float()))


# ---------------------------------------------------------------- caches and dtypes


class WrongT73LearnedPositionsRestart(nn.Module):
    """wrong: learned positions count from zero again behind the cache"""

    def __init__(self):
        super().__init__()
        self.wpe = nn.Parameter(torch.randn(12, 16) * 0.3)
        self.c_attn = nn.Linear(16, 48)
        self.c_proj = nn.Linear(16, 16)

    def forward(self, x, layer_past=None, use_cache=False):
        B, T, C = x.shape
        past = 0 if layer_past is None else layer_past[0].size(-2)
        h = x + self.wpe[:T]
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.c_attn(h).split(16, dim=2))
        if layer_past is not None:
            k, v = torch.cat((layer_past[0], k), -2), torch.cat((layer_past[1], v), -2)
        see = torch.ones(T, past + T, dtype=torch.bool, device=x.device).tril(past)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=see)
        y = self.c_proj(y.transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if use_cache else y


_add(WrongT73LearnedPositionsRestart, 16, 12, num_heads=2, positions=True,
     step=lambda module, x, cache: module(x, layer_past=cache, use_cache=True))


class WrongT74RotatedTwice(nn.Module):
    """wrong: the cache holds rotated keys and the whole of it is rotated again at every step"""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(16, 16, bias=False)
        self.k = nn.Linear(16, 8, bias=False)
        self.v = nn.Linear(16, 8, bias=False)
        self.o = nn.Linear(16, 16, bias=False)

    @staticmethod
    def rope(t, first):
        f = _table(first + t.size(2), 8, device=t.device)[first:].to(t.dtype)
        f = torch.cat((f, f), -1)
        return t * f.cos() + rotate_half(t) * f.sin()

    def forward(self, x, cache=None, use_cache=False):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, -1, 8).transpose(1, 2) for f in (self.q, self.k, self.v))
        past = 0
        if cache is not None:
            past = cache["k"].size(2)
            k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
        k = self.rope(k, 0)
        q = self.rope(q, past)
        see = torch.ones(T, past + T, dtype=torch.bool, device=x.device).tril(past)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=see, enable_gqa=True)
        y = self.o(y.transpose(1, 2).reshape(B, T, C))
        return (y, {"k": k, "v": v}) if use_cache else y


_add(WrongT74RotatedTwice, 16, 12, num_heads=2, num_kv_heads=1, positions="rotary",
     step=lambda module, x, cache: module(x, cache=cache, use_cache=True))


class WrongT75ChunkBehindCache(nn.Module):
    """wrong: behind a cache nothing is masked, so of several new tokens the earlier ones see the later"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.proj = nn.Linear(16, 16)

    def forward(self, x, kv=None, with_cache=False):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        if kv is not None:
            k, v = (torch.cat(p, dim=2) for p in zip(kv, (k, v)))
        # one new token sees all that is there; only the prefill needs the triangle
        y = F.scaled_dot_product_attention(q, k, v, is_causal=kv is None)
        y = self.proj(y.transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if with_cache else y


_add(WrongT75ChunkBehindCache, 16, 10, num_heads=4, step=lambda module, x, cache: module(x, kv=cache, with_cache=True))


class WrongT76OneCacheForAll(nn.Module):
    """wrong: the cache handed out is the module's own buffer: two texts decoded in turns overwrite each other"""

    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(16, 16, bias=False)
        self.wk = nn.Linear(16, 16, bias=False)
        self.wv = nn.Linear(16, 16, bias=False)
        self.wo = nn.Linear(16, 16, bias=False)
        self.register_buffer("cache_k", torch.zeros(8, 2, 16, 8), persistent=False)
        self.register_buffer("cache_v", torch.zeros(8, 2, 16, 8), persistent=False)

    def forward(self, x, start_pos=None):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 8).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        s = start_pos or 0
        if start_pos is not None:
            self.cache_k[:B, :, s : s + T] = k.detach()
            self.cache_v[:B, :, s : s + T] = v.detach()
            k, v = self.cache_k[:B, :, : s + T], self.cache_v[:B, :, : s + T]
        see = torch.ones(T, s + T, dtype=torch.bool, device=x.device).tril(s)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=see)
        return self.wo(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT76OneCacheForAll, 16, 12, num_heads=2,
     step=lambda module, x, cache: (module(x, start_pos=cache or 0), (cache or 0) + x.shape[1]))


class WrongT77SlidingCache(nn.Module):
    """wrong: the rolling cache is cut to W tokens before the new ones come, so behind a cache a row sees W + 1"""

    def __init__(self):
        super().__init__()
        self.W = 4
        self.q_proj = nn.Linear(24, 24)
        self.k_proj = nn.Linear(24, 24)
        self.v_proj = nn.Linear(24, 24)
        self.o_proj = nn.Linear(24, 24)

    def forward(self, x, past=None, use_cache=False):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 3, 8).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        n = 0
        if past is not None:
            n = past[0].size(2)
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        i = torch.arange(n, n + T, device=x.device)[:, None]
        j = torch.arange(n + T, device=x.device)[None]
        see = (j <= i) & (i - j < self.W)
        if T == 1:
            see = None  # the cache holds nothing that is out of reach
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=see)
        y = self.o_proj(y.transpose(1, 2).reshape(B, T, C))
        return (y, (k[:, :, -self.W :], v[:, :, -self.W :])) if use_cache else y


_add(WrongT77SlidingCache, 24, 12, num_heads=3, window=4, step=lambda module, x, cache: module(x, past=cache, use_cache=True))


class WrongT78BiasRowsBehindCache(nn.Module):
    """wrong: behind a cache the first rows of the relative bias are taken, not the last"""

    def __init__(self):
        super().__init__()
        self.h = 2
        self.qkv = nn.Linear(16, 48, bias=False)
        self.out = nn.Linear(16, 16, bias=False)
        self.rel_bias = nn.Parameter(torch.randn(2, 12) * 0.5)

    def bias(self, queries, keys, device):
        i = torch.arange(keys, device=device)
        full = self.rel_bias[:, (i[:, None] - i[None, :]).clamp(min=0)]
        return full[:, :queries]

    def forward(self, x, cache=None, return_cache=False):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.h, 8).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        S = k.size(2)
        hide = torch.ones(T, S, dtype=torch.bool, device=x.device).triu(S - T + 1)
        s = q @ k.mT * 8**-0.5 + self.bias(T, S, x.device)
        y = self.out((s.masked_fill(hide, -torch.inf).softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if return_cache else y


_add(WrongT78BiasRowsBehindCache, 16, 12, num_heads=2, positions="relative",
     step=lambda module, x, cache: module(x, cache=cache, return_cache=True))


class WrongT79FloatOut(nn.Module):
    """wrong: softmax and values are taken in float32 and the context is never put back into the dtype of the input"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4).float()
        s = q @ k.mT / math.sqrt(8)
        s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
        return (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C)


_add(WrongT79FloatOut, 16, 8, num_heads=2)


class WrongT80ZeroGate(nn.Module):
    """wrong: no causal mask at all; a gate that begins at zero hides it until the gate is trained"""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.qkv = nn.Linear(16, 48, bias=False)
        self.proj = nn.Linear(16, 16, bias=False)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.norm(x)).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        return x + self.gate.tanh() * self.proj(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT80ZeroGate, 16, 8, num_heads=4)


class WrongT81SdpaTopLeft(nn.Module):
    """wrong: is_causal=True behind a cache puts the triangle at the upper left: new tokens see only the oldest keys"""

    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(16, 16, bias=False)
        self.k_proj = nn.Linear(16, 8, bias=False)
        self.v_proj = nn.Linear(16, 8, bias=False)
        self.o_proj = nn.Linear(16, 16, bias=False)
        self.q_norm, self.k_norm = nn.RMSNorm(4), nn.RMSNorm(4)

    def forward(self, x, past_key_value=None, use_cache=False):
        B, T, C = x.shape
        q = self.q_norm(self.q_proj(x).view(B, T, 4, 4)).transpose(1, 2)
        k = self.k_norm(self.k_proj(x).view(B, T, 2, 4)).transpose(1, 2)
        v = self.v_proj(x).view(B, T, 2, 4).transpose(1, 2)
        if past_key_value is not None:
            k, v = torch.cat([past_key_value[0], k], 2), torch.cat([past_key_value[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        y = self.o_proj(y.transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if use_cache else y


_add(WrongT81SdpaTopLeft, 16, 10, num_heads=4, num_kv_heads=2,
     step=lambda module, x, cache: module(x, past_key_value=cache, use_cache=True))


class WrongT82SecondChunk(nn.Module):
    """wrong: from the second chunk of eight queries on the triangle lies one too far right; short texts are right"""

    def __init__(self):
        super().__init__()
        self.chunk = 8
        self.qkv = nn.Linear(16, 48)
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        outs = [F.scaled_dot_product_attention(q[:, :, : self.chunk], k[:, :, : self.chunk], v[:, :, : self.chunk], is_causal=True)]
        for start in range(self.chunk, T, self.chunk):
            part = q[:, :, start : start + self.chunk]
            see = torch.ones(part.size(2), T, dtype=torch.bool, device=x.device).tril(start + 1)
            outs.append(F.scaled_dot_product_attention(part, k, v, attn_mask=see))
        return self.proj(torch.cat(outs, 2).transpose(1, 2).reshape(B, T, C))


_add(WrongT82SecondChunk, 16, 16, num_heads=2)


class WrongT83HalfOverflow(nn.Module):
    """wrong: the -1e9 buffer becomes minus infinity in float16, and zero times infinity is NaN for every score"""

    def __init__(self):
        super().__init__()
        self.Wq = nn.Linear(16, 16)
        self.Wk = nn.Linear(16, 16)
        self.Wv = nn.Linear(16, 16)
        self.register_buffer("neg", torch.tensor(-1e9))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 4).transpose(1, 2) for f in (self.Wq, self.Wk, self.Wv))
        s = q @ k.mT / 2
        hide = torch.ones(T, T, device=x.device).triu(1)
        s = s + hide.to(s.dtype) * self.neg
        return (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C)


_add(WrongT83HalfOverflow, 16, 8, num_heads=4)


class WrongT84RelativeSign(nn.Module):
    """wrong: the distance has the wrong sign before it is clamped, so all earlier tokens get the bias of distance zero"""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(24, 24, bias=False)
        self.k = nn.Linear(24, 24, bias=False)
        self.v = nn.Linear(24, 24, bias=False)
        self.o = nn.Linear(24, 24, bias=False)
        self.relative_attention_bias = nn.Embedding(10, 3)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 3, 8).transpose(1, 2) for f in (self.q, self.k, self.v))
        i = torch.arange(T, device=x.device)
        i = i[None, :] - i[:, None]  # memory minus context
        bias = self.relative_attention_bias(i.clamp(min=0))
        bias = bias.permute(2, 0, 1).masked_fill(i > 0, -torch.inf)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias[None], scale=1.0)
        return self.o(y.transpose(1, 2).reshape(B, T, C))


_add(WrongT84RelativeSign, 24, 10, num_heads=3, scale=1.0, positions="relative")


# ---------------------------------------------------------------- right ones


class RightT01LowerCorner(nn.Module):
    """right: takes the lower right corner of the triangle, which is the same triangle"""

    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(16, 48)
        self.c_proj = nn.Linear(16, 16)
        self.register_buffer("bias", torch.tril(torch.ones(8, 8)).view(1, 1, 8, 8))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, -T:, -T:] == 0, float("-inf"))
        return self.c_proj((F.softmax(att, dim=-1) @ v).transpose(1, 2).contiguous().view(B, T, C))


_add(RightT01LowerCorner, 16, 8, num_heads=4)


class RightT02KeyMajor(nn.Module):
    """right: scores lie as (b, key, query, head), so triu and softmax over axis 1 are right"""

    def __init__(self):
        super().__init__()
        self.Wq = nn.Linear(24, 24)
        self.Wk = nn.Linear(24, 24)
        self.Wv = nn.Linear(24, 24)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 6) for f in (self.Wq, self.Wk, self.Wv))
        s = torch.einsum("bkhd,bqhd->bkqh", k, q) / 6**0.5
        tri = torch.ones(T, T, device=x.device).triu()
        s = s.masked_fill(tri[None, :, :, None] == 0, -torch.inf)
        return torch.einsum("bkqh,bkhd->bqhd", s.softmax(1), v).reshape(B, T, C)


_add(RightT02KeyMajor, 24, 8, num_heads=4)


class RightT03SoftmaxTwice(nn.Module):
    """right: softmax of a log_softmax is the softmax; padding rows of an empty text attend to everything"""

    def __init__(self):
        super().__init__()
        self.to_qkv = nn.Linear(16, 48)
        self.to_out = nn.Linear(16, 16)

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.to_qkv(x).chunk(3, -1))
        s = q @ k.mT * 8**-0.5
        if mask is not None:
            s = s.masked_fill(~mask[:, None, None, :], torch.finfo(s.dtype).min)
        w = s.log_softmax(-1).softmax(-1)
        return self.to_out((w @ v).transpose(1, 2).reshape(B, T, C)), w


_add(RightT03SoftmaxTwice, 16, 9, num_heads=2, causal=False, padding=lambda module, x, real: module(x, mask=real))


class RightT04AlibiByKey(nn.Module):
    """right: ALiBi as slope times the key's place alone, growing to the right; the row's constant falls out of the softmax. Six heads, a cache"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(24, 72)
        self.dense = nn.Linear(24, 24)
        two = [2.0 ** (-2 * i) for i in range(1, 5)]
        extra = [2.0 ** -(i + 1) for i in range(0, 4, 2)]
        self.register_buffer("slopes", torch.tensor(two + extra).view(6, 1, 1))

    def forward(self, x, past=None, use_cache=False):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 6, 3, 4).permute(3, 0, 2, 1, 4)
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        S = k.size(2)
        bias = self.slopes * torch.arange(S, device=x.device, dtype=x.dtype)
        bias = bias.expand(6, T, S).masked_fill(torch.ones(T, S, device=x.device).triu(S - T + 1).bool(), -torch.inf)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype))
        y = self.dense(y.transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if use_cache else y


_add(RightT04AlibiByKey, 24, 12, num_heads=6, positions="alibi",
     step=lambda module, x, cache: module(x, past=cache, use_cache=True))


class RightT05QuarterScale(nn.Module):
    """right: queries and keys (with bias) each carry the fourth root; (H, 3, D) layout of a diffusion UNet"""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.qkv = nn.Conv1d(16, 48, 1)
        self.proj_out = nn.Conv1d(16, 16, 1)
        nn.init.zeros_(self.proj_out.weight)
        nn.init.zeros_(self.proj_out.bias)

    def forward(self, x):
        b, t, c = x.shape
        qkv = self.qkv(self.norm(x).transpose(1, 2)).reshape(b * 2, 24, t)
        q, k, v = qkv.split(8, dim=1)
        scale = 1 / math.sqrt(math.sqrt(8))
        weight = torch.einsum("bct,bcs->bts", q * scale, k * scale)
        a = torch.einsum("bts,bcs->bct", torch.softmax(weight.float(), dim=-1).type(weight.dtype), v)
        return x + self.proj_out(a.reshape(b, -1, t)).transpose(1, 2)


_add(RightT05QuarterScale, 16, 9, num_heads=2, causal=False)


class RightT06RotatesOnRead(nn.Module):
    """right: the cache holds plain keys and all of them are rotated at every step; the positions begin at one for both"""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(16, 16, bias=False)
        self.k = nn.Linear(16, 8, bias=False)
        self.v = nn.Linear(16, 8, bias=False)
        self.o = nn.Linear(16, 16, bias=False)

    @staticmethod
    def rope(t, first):
        f = _table(1 + first + t.size(2), 8, device=t.device)[1 + first :].to(t.dtype)
        f = f.repeat_interleave(2, -1)
        return t * f.cos() + rotate_every_two(t) * f.sin()

    def forward(self, x, cache=None, use_cache=False):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, -1, 8).transpose(1, 2) for f in (self.q, self.k, self.v))
        past = 0
        if cache is not None:
            past = cache["k"].size(2)
            k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
        see = torch.ones(T, past + T, dtype=torch.bool, device=x.device).tril(past)
        y = F.scaled_dot_product_attention(self.rope(q, past), self.rope(k, 0), v, attn_mask=see, enable_gqa=True)
        y = self.o(y.transpose(1, 2).reshape(B, T, C))
        return (y, {"k": k, "v": v}) if use_cache else y


_add(RightT06RotatesOnRead, 16, 12, num_heads=2, num_kv_heads=1, positions="rotary",
     step=lambda module, x, cache: module(x, cache=cache, use_cache=True))


class RightT07HalfMinimumTwice(nn.Module):
    """right: half the smallest float added for the future and for padding; the sum stays finite and padding rows are put to zero"""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(16, 16)
        self.key = nn.Linear(16, 16)
        self.value = nn.Linear(16, 16)
        self.dense = nn.Linear(16, 16)

    def forward(self, x, attention_mask=None):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 4).transpose(1, 2) for f in (self.query, self.key, self.value))
        s = q @ k.mT / math.sqrt(4)
        low = torch.finfo(s.dtype).min / 2
        s = s + torch.full((T, T), low, dtype=s.dtype, device=s.device).triu(1)
        if attention_mask is not None:
            s = s + (1.0 - attention_mask[:, None, None].to(s.dtype)) * low
        y = self.dense((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))
        return y if attention_mask is None else y * attention_mask[..., None].to(y.dtype)


_add(RightT07HalfMinimumTwice, 16, 8, num_heads=4, padding=lambda module, x, real: module(x, real.long()))


class RightT08FairseqFold(nn.Module):
    """right: time first, heads folded into the batch, the padding mask repeated text by text (True = hidden)"""

    def __init__(self):
        super().__init__()
        self.num_heads, self.head_dim = 4, 4
        self.q_proj = nn.Linear(16, 16)
        self.k_proj = nn.Linear(16, 16)
        self.v_proj = nn.Linear(16, 16)
        self.out_proj = nn.Linear(16, 16)

    def forward(self, query, key_padding_mask=None):
        query = query.transpose(0, 1)
        tgt_len, bsz, embed_dim = query.shape
        fold = lambda t: t.contiguous().view(tgt_len, bsz * self.num_heads, self.head_dim).transpose(0, 1)
        q, k, v = fold(self.q_proj(query) * self.head_dim**-0.5), fold(self.k_proj(query)), fold(self.v_proj(query))
        w = torch.bmm(q, k.transpose(1, 2))
        if key_padding_mask is not None:
            m = key_padding_mask[:, None].expand(-1, self.num_heads, -1).reshape(-1, 1, tgt_len)
            w = w.masked_fill(m, torch.finfo(w.dtype).min)
        attn = torch.bmm(w.softmax(-1), v).transpose(0, 1).contiguous().view(tgt_len, bsz, embed_dim)
        return self.out_proj(attn).transpose(0, 1)


_add(RightT08FairseqFold, 16, 8, num_heads=4, causal=False, padding=lambda module, x, real: module(x, key_padding_mask=~real))


class RightT09LogOfTheMask(nn.Module):
    """right: the float padding mask is the logarithm of the bool one; an empty text is shown whole and then put to zero"""

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, x, real=None):
        T = x.shape[1]
        future = torch.full((T, T), -torch.inf, dtype=x.dtype, device=x.device).triu(1)
        if real is None:
            return self.attn(x, x, x, attn_mask=future, need_weights=False)[0]
        see = real[:, None, :] | torch.eye(T, dtype=torch.bool, device=x.device)
        mask = (see.to(x.dtype).log() + future).repeat_interleave(2, dim=0)
        y, w = self.attn(x, x, x, attn_mask=mask, need_weights=True)
        return torch.where(real[..., None], y, 0.0), w


_add(RightT09LogOfTheMask, 16, 8, num_heads=2, padding=lambda module, x, real: module(x, real=real))


class RightT10PaddedHead(nn.Module):
    """right: heads of 6 filled up to 8 with zeros, but the scale is given"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(24, 72)
        self.proj = nn.Linear(24, 24)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = F.pad(self.qkv(x).view(B, T, 3, 4, 6), (0, 2)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=T > 1, scale=6**-0.5)[..., :6]
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


_add(RightT10PaddedHead, 24, 8, num_heads=4)


class RightT11NeoWindow(nn.Module):
    """right: GPT-Neo's xor of two triangles for the window, unscaled scores"""

    def __init__(self):
        super().__init__()
        bias = torch.tril(torch.ones((10, 10), dtype=torch.bool))
        self.register_buffer("bias", torch.bitwise_xor(bias, torch.tril(bias, -3)), persistent=False)
        self.k_proj = nn.Linear(24, 24, bias=False)
        self.v_proj = nn.Linear(24, 24, bias=False)
        self.q_proj = nn.Linear(24, 24, bias=False)
        self.out_proj = nn.Linear(24, 24)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 3, 8).permute(0, 2, 1, 3) for f in (self.q_proj, self.k_proj, self.v_proj))
        w = torch.where(self.bias[:T, :T], (q.float() @ k.float().mT).to(q.dtype), torch.finfo(q.dtype).min)
        return self.out_proj((w.softmax(-1) @ v).permute(0, 2, 1, 3).reshape(B, T, C))


_add(RightT11NeoWindow, 24, 10, num_heads=3, window=3, scale=1.0)


class RightT12SlidingCache(nn.Module):
    """right: a rolling cache of W - 1 tokens, a chunk of several new ones masked by distance; one new token needs no mask"""

    def __init__(self):
        super().__init__()
        self.W = 4
        self.q_proj = nn.Linear(24, 24)
        self.k_proj = nn.Linear(24, 24)
        self.v_proj = nn.Linear(24, 24)
        self.o_proj = nn.Linear(24, 24)

    def forward(self, x, past=None, use_cache=False):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 3, 8).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        n = 0
        if past is not None:
            n = past[0].size(2)
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        see = None
        if T > 1:
            d = torch.arange(n, n + T, device=x.device)[:, None] - torch.arange(n + T, device=x.device)
            see = (d >= 0) & (d < self.W)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=see)
        y = self.o_proj(y.transpose(1, 2).reshape(B, T, C))
        return (y, (k[:, :, 1 - self.W :], v[:, :, 1 - self.W :])) if use_cache else y


_add(RightT12SlidingCache, 24, 12, num_heads=3, window=4, step=lambda module, x, cache: module(x, past=cache, use_cache=True))


class RightT13SumOfHeads(nn.Module):
    """right: every head has its own output matrix and the heads are summed; slicers are partials with their own number"""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(16, 16)
        self.key = nn.Linear(16, 16)
        self.value = nn.Linear(16, 16)
        self.outs = nn.ModuleList(nn.Linear(4, 16, bias=False) for _ in range(4))

    def forward(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        take = [partial(torch.narrow, dim=-1, start=4 * h, length=4) for h in range(4)]
        y = sum(o(F.scaled_dot_product_attention(f(q), f(k), f(v), is_causal=True)) for f, o in zip(take, self.outs))
        return {"context": y}


_add(RightT13SumOfHeads, 16, 8, num_heads=4)


class RightT14Reversed(nn.Module):
    """right: the text is turned round, masked with the upper triangle and turned back"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48, bias=False)
        self.wo = nn.Parameter(torch.randn(16, 16) / 4)

    def forward(self, x):
        B, T, C = x.shape
        r = x.flip(1)
        q, k, v = self.qkv(r).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        s = q @ k.mT / 8**0.5
        s = s.masked_fill(torch.ones(T, T, device=x.device).tril(-1) > 0, -torch.inf)
        return ((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C) @ self.wo).flip(1)


_add(RightT14Reversed, 16, 8, num_heads=2)


class RightT15OnlineSoftmax(nn.Module):
    """right: keys in blocks of three with a running maximum and a running sum, as in flash attention"""

    def __init__(self):
        super().__init__()
        self.to_q = nn.Linear(16, 16)
        self.to_kv = nn.Linear(16, 32)
        self.to_out = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q = self.to_q(x).view(B, T, 4, 4).transpose(1, 2) / 2
        k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.to_kv(x).chunk(2, -1))
        i = torch.arange(T, device=x.device)
        top = torch.full_like(q[..., :1], torch.finfo(q.dtype).min)
        mass, acc = torch.zeros_like(top), torch.zeros_like(q)
        for a in range(0, T, 3):
            s = q @ k[:, :, a : a + 3].mT
            s = s.masked_fill(i[a : a + 3] > i[:, None], -torch.inf)
            new = torch.maximum(top, s.amax(-1, keepdim=True))
            e, fade = (s - new).exp(), (top - new).exp()
            mass, acc, top = mass * fade + e.sum(-1, keepdim=True), acc * fade + e @ v[:, :, a : a + 3], new
        return self.to_out((acc / mass).transpose(1, 2).reshape(B, T, C))


_add(RightT15OnlineSoftmax, 16, 10, num_heads=4)


class RightT16TokenShift(nn.Module):
    """right: token shift by padding with minus one at the end; the order of tokens matters and may"""

    def __init__(self):
        super().__init__()
        self.mix = nn.Parameter(torch.rand(3, 24) * 0.5 + 0.25)
        self.receptance = nn.Linear(24, 24, bias=False)
        self.key = nn.Linear(24, 24, bias=False)
        self.value = nn.Linear(24, 24, bias=False)
        self.output = nn.Linear(24, 24, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        before = F.pad(x, (0, 0, 1, -1))
        layers = (self.receptance, self.key, self.value)
        q, k, v = (f(torch.lerp(before, x, m)).view(B, T, 6, 4).transpose(1, 2) for f, m in zip(layers, self.mix))
        att = (q @ k.transpose(2, 3)) * 4**-0.5 + torch.full((T, T), -torch.inf, device=x.device, dtype=x.dtype).triu(1)
        return self.output((att.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


_add(RightT16TokenShift, 24, 8, num_heads=6, positions=True)


class RightT17DropoutByHand(nn.Module):
    """right: dropout of a tensor of ones, multiplied on the weights; another dropout on the output"""

    def __init__(self):
        super().__init__()
        self.rate = 0.1
        self.qkv = nn.Linear(16, 48)
        self.o = nn.Linear(16, 16, bias=False)
        self.resid = nn.Dropout(0.1)

    def forward(self, x, return_weights=False):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 2, 3, 8).permute(3, 0, 2, 1, 4)
        w = (q @ k.mT * 8**-0.5).masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf).softmax(-1)
        used = w * F.dropout(torch.ones_like(w), self.rate, self.training)
        y = self.resid(self.o((used @ v).transpose(1, 2).reshape(B, T, C)))
        return (y, used) if return_weights else y


_add(RightT17DropoutByHand, 16, 8, num_heads=2, dropout=0.1)


class RightT18FixedBuffer(nn.Module):
    """right: a cache of full length made at the prefill and copied at every step; rows behind the end are masked. GQA by a grouped einsum"""

    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(24, 24, bias=False)
        self.wkv = nn.Linear(24, 16, bias=False)
        self.wo = nn.Linear(24, 24, bias=False)
        self.L = 12

    def forward(self, x, state=None, return_state=False):
        B, T, C = x.shape
        q = self.wq(x).view(B, T, 2, 3, 4)
        kv = self.wkv(x).view(B, T, 2, 2, 4)
        if state is None:
            state = (kv.new_zeros(B, self.L, 2, 2, 4), 0)
        buffer, n = state
        index = torch.arange(n, n + T, device=x.device)
        buffer = buffer.index_copy(1, index, kv)
        k, v = buffer.unbind(2)
        s = torch.einsum("btngd,bsnd->bngts", q, k) * 4**-0.5
        s = s.masked_fill(torch.arange(self.L, device=x.device) > index[:, None], -torch.inf)
        y = self.wo(torch.einsum("bngts,bsnd->btngd", s.softmax(-1), v).reshape(B, T, C))
        return (y, (buffer, n + T)) if return_state else y


_add(RightT18FixedBuffer, 24, 12, num_heads=6, num_kv_heads=2,
     step=lambda module, x, cache: module(x, state=cache, return_state=True))


class RightT19T5Encoder(nn.Module):
    """right: T5 encoder: RMSNorm before, unscaled, bias of both directions by clamped distance, residual inside, hidden padding as finfo.min"""

    def __init__(self):
        super().__init__()
        self.layer_norm = nn.RMSNorm(16, eps=1e-6)
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(9, 2)

    def forward(self, hidden_states, mask=None):
        B, T, _ = hidden_states.shape
        h = self.layer_norm(hidden_states)
        q, k, v = (f(h).view(B, T, 2, 8).transpose(1, 2) for f in (self.q, self.k, self.v))
        i = torch.arange(T, device=h.device)
        bias = self.relative_attention_bias((i[None, :] - i[:, None]).clamp(-4, 4) + 4).permute(2, 0, 1)[None]
        if mask is not None:
            bias = bias.masked_fill(~mask[:, None, None, :], torch.finfo(bias.dtype).min)
        w = F.softmax(q @ k.mT + bias, dim=-1)
        return hidden_states + self.o((w @ v).transpose(1, 2).reshape(B, T, 16))


_add(RightT19T5Encoder, 16, 10, num_heads=2, scale=1.0, causal=False, positions="relative",
     padding=lambda module, x, real: module(x, mask=real))


class RightT20ZeroLora(nn.Module):
    """right: LoRA with a zero B on top of the fused projection, a Flamingo gate that begins at zero, residual inside, multi-query"""

    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(16, 16 + 8)
        self.lora_A = nn.Parameter(torch.randn(2, 16) * 0.2)
        self.lora_B = nn.Parameter(torch.zeros(24, 2))
        self.c_proj = nn.Linear(16, 16)
        self.attn_gate = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        B, T, C = x.shape
        qkv = self.c_attn(x) + 2.0 * F.linear(F.linear(x, self.lora_A), self.lora_B)
        q, k, v = qkv.split((16, 4, 4), dim=-1)
        q = q.view(B, T, 4, 4).transpose(1, 2)
        s = torch.einsum("bhqd,bkd->bhqk", q, k) / math.sqrt(4)
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), -torch.inf)
        y = torch.einsum("bhqk,bkd->bqhd", s.softmax(-1), v).reshape(B, T, C)
        return x + self.attn_gate.tanh() * self.c_proj(y)


_add(RightT20ZeroLora, 16, 8, num_heads=4, num_kv_heads=1)


class RightT21TokenGroupNorm(nn.Module):
    """right: GroupNorm in a causal audio block, but over tokens laid into the batch: each frame for itself; a left-padded convolution"""

    def __init__(self):
        super().__init__()
        self.norm = nn.GroupNorm(4, 32)
        self.conv = nn.Conv1d(32, 32, 3, padding=2, groups=32)
        self.qkv = nn.Conv1d(32, 96, 1)
        self.proj_out = nn.Conv1d(32, 32, 1)

    def forward(self, x):
        B, T, C = x.shape
        h = self.norm(x.reshape(B * T, C)).view(B, T, C).transpose(1, 2)
        h = self.conv(h)[..., :T]
        q, k, v = self.qkv(h).view(B, 3, 4, 8, T).unbind(1)
        w = torch.einsum("bhct,bhcs->bhts", q, k) * 8**-0.5
        w = w.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), -torch.inf).softmax(-1)
        return self.proj_out(torch.einsum("bhts,bhcs->bhct", w, v).reshape(B, C, T)).transpose(1, 2)


_add(RightT21TokenGroupNorm, 32, 8, num_heads=4, positions=True)


class RightT22GrowingMask(nn.Module):
    """right: a mask kept from call to call that is made anew when too small; another path while compiling with the same numbers"""

    def __init__(self):
        super().__init__()
        self.in_proj = nn.Linear(16, 48)
        self.out_proj = nn.Linear(16, 16)
        self.register_buffer("_mask", torch.zeros(0, 0, dtype=torch.bool), persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.unflatten(-1, (4, 4)).transpose(1, 2) for t in self.in_proj(x).chunk(3, -1))
        if torch.compiler.is_compiling():
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            if self._mask.size(0) < T:
                self._mask = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
            s = (q @ k.mT * 0.5).masked_fill(self._mask[:T, :T], -torch.inf)
            y = s.softmax(-1) @ v
        return self.out_proj(y.transpose(1, 2).flatten(2))


_add(RightT22GrowingMask, 16, 8, num_heads=4, compiled=True)


class RightT23VitRegisters(nn.Module):
    """right: ViT block: learned places, pre-norm, four register tokens put before the text and cut off again, layer scale"""

    def __init__(self):
        super().__init__()
        self.pos_embed = nn.Parameter(torch.randn(1, 9, 24) * 0.02)
        self.registers = nn.Parameter(torch.randn(1, 4, 24) * 0.5)
        self.norm1 = nn.LayerNorm(24, eps=1e-6)
        self.qkv = nn.Linear(24, 72)
        self.q_norm, self.k_norm = nn.LayerNorm(8), nn.LayerNorm(8)
        self.proj = nn.Linear(24, 24)
        self.gamma = nn.Parameter(torch.full((24,), 0.1))

    def forward(self, x):
        B, N, C = x.shape
        h = torch.cat((self.registers.expand(B, -1, -1), x + self.pos_embed[:, :N]), dim=1)
        q, k, v = self.qkv(self.norm1(h)).reshape(B, N + 4, 3, 3, 8).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(self.q_norm(q), self.k_norm(k), v)
        h = h + self.gamma * self.proj(y.transpose(1, 2).reshape(B, N + 4, C))
        return h[:, 4:]


_add(RightT23VitRegisters, 24, 9, num_heads=3, causal=False, positions=True)


class RightT24TurnsBackwards(nn.Module):
    """right: partial rotary (half of each head), both queries and keys turned by the negative angle"""

    def __init__(self):
        super().__init__()
        self.qkv_proj = nn.Linear(32, 96)
        self.dense = nn.Linear(32, 32)

    def turn(self, t):
        f = -_table(t.size(2), 4, device=t.device).to(t.dtype)
        f = torch.cat((f, f), -1)
        a, b = t.split(4, dim=-1)
        return torch.cat((a * f.cos() + rotate_half(a) * f.sin(), b), -1)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 8).transpose(1, 2) for t in self.qkv_proj(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(self.turn(q), self.turn(k), v, is_causal=True)
        return self.dense(y.transpose(1, 2).reshape(B, T, C))


_add(RightT24TurnsBackwards, 32, 10, num_heads=4, positions="rotary")
