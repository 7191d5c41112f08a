"""Attention layers, right and wrong, in many styles, to score an audit tool."""
import math

import torch
import torch.nn.functional as F
import torch.utils.checkpoint
from torch import nn

LAYERS = []


# ---------------------------------------------------------------- right ones


def pad_real(module, x, real):
    return module(x, real=real)


def pad_attention_mask(module, x, real):
    return module(x, attention_mask=real.long())


def pad_key_padding(module, x, real):
    return module(x, key_padding_mask=~real)


def step_cache(module, x, cache):
    return module(x, cache=cache)


def step_past(module, x, cache):
    return module(x, past=cache)


def by_documents(module, x, ids):
    return module(x, ids=ids)


class NanoGPT(nn.Module):
    """right: nanoGPT's causal self-attention by scaled_dot_product_attention with two dropouts."""

    def __init__(self, n_embd=24, n_head=4, dropout=0.1):
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.resid_dropout = nn.Dropout(dropout)
        self.n_head = n_head
        self.n_embd = n_embd
        self.dropout = dropout

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        y = F.scaled_dot_product_attention(
            q, k, v, dropout_p=self.dropout if self.training else 0, is_causal=True)
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


LAYERS.append({"layer": NanoGPT, "d_in": 24, "context_length": 10, "options": {"dropout": 0.1}})


class MinGPT(nn.Module):
    """right: minGPT's slow path with a buffer for the mask, dropout on weights and learned positions."""

    def __init__(self, d=16, h=4, block=48):
        super().__init__()
        self.pos = nn.Embedding(block, d)
        self.c_attn = nn.Linear(d, 3 * d)
        self.c_proj = nn.Linear(d, d)
        self.attn_dropout = nn.Dropout(0.2)
        self.register_buffer("bias", torch.tril(torch.ones(block, block)).view(1, 1, block, block))
        self.n_head = h

    def forward(self, x):
        B, T, C = x.shape
        x = x + self.pos(torch.arange(T, device=x.device))
        q, k, v = (t.view(B, T, self.n_head, -1).transpose(1, 2) for t in self.c_attn(x).split(C, 2))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        att = self.attn_dropout(F.softmax(att, dim=-1))
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y)


LAYERS.append({"layer": MinGPT, "d_in": 16, "context_length": 9,
               "options": {"positions": True, "dropout": 0.2}})


class Conv1D(nn.Module):
    def __init__(self, nf, nx):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(nx, nf).normal_(std=0.2))
        self.bias = nn.Parameter(torch.zeros(nf))

    def forward(self, x):
        return torch.addmm(self.bias, x.reshape(-1, x.size(-1)), self.weight).view(*x.shape[:-1], -1)


class GPT2Attention(nn.Module):
    """right: GPT-2 as in older transformers, with Conv1D, a bool mask, a padding mask and a past."""

    def __init__(self):
        super().__init__()
        self.embed_dim, self.num_heads = 24, 3
        self.c_attn = Conv1D(72, 24)
        self.c_proj = Conv1D(24, 24)
        self.register_buffer("bias", torch.tril(torch.ones(64, 64, dtype=torch.bool)).view(1, 1, 64, 64),
                             persistent=False)

    def forward(self, x, attention_mask=None, past=None):
        B, T, C = x.shape
        q, k, v = self.c_attn(x).split(C, dim=2)
        q, k, v = (t.view(B, T, self.num_heads, -1).permute(0, 2, 1, 3) for t in (q, k, v))
        if past is not None:
            k = torch.cat((past[0], k), dim=-2)
            v = torch.cat((past[1], v), dim=-2)
        w = torch.matmul(q, k.transpose(-1, -2)) / v.size(-1) ** 0.5
        n, m = q.size(-2), k.size(-2)
        low = torch.finfo(w.dtype).min
        w = torch.where(self.bias[:, :, m - n:m, :m], w, low)
        if attention_mask is not None:
            w = w.masked_fill(attention_mask[:, None, None, :] == 0, low)
        w = F.softmax(w, dim=-1)
        out = torch.matmul(w, v).permute(0, 2, 1, 3).reshape(B, T, C)
        return self.c_proj(out), (k, v)


LAYERS.append({"layer": GPT2Attention, "d_in": 24, "context_length": 8,
               "options": {"padding": pad_attention_mask, "step": step_past}})


class BertSelfAttention(nn.Module):
    """right: BERT's self-attention with the extended additive mask and dropout on weights."""

    def __init__(self, hidden=32, heads=4, p=0.1):
        super().__init__()
        self.num_attention_heads = heads
        self.attention_head_size = hidden // heads
        self.query = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden)
        self.value = nn.Linear(hidden, hidden)
        self.dropout = nn.Dropout(p)

    def transpose_for_scores(self, x):
        x = x.view(x.size()[:-1] + (self.num_attention_heads, self.attention_head_size))
        return x.permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask=None):
        q = self.transpose_for_scores(self.query(hidden_states))
        k = self.transpose_for_scores(self.key(hidden_states))
        v = self.transpose_for_scores(self.value(hidden_states))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.attention_head_size)
        if attention_mask is not None:
            ext = attention_mask[:, None, None, :].to(scores.dtype)
            scores = scores + (1.0 - ext) * torch.finfo(scores.dtype).min
        probs = self.dropout(nn.functional.softmax(scores, dim=-1))
        ctx = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        return ctx.view(ctx.size()[:-2] + (-1,)), probs


LAYERS.append({"layer": BertSelfAttention, "d_in": 32, "context_length": 9,
               "options": {"causal": False, "padding": pad_attention_mask, "dropout": 0.1}})


def t5_bucket(rel, bidirectional, num_buckets=8, max_distance=16):
    out = torch.zeros_like(rel)
    if bidirectional:
        num_buckets //= 2
        out = out + (rel > 0).long() * num_buckets
        rel = rel.abs()
    else:
        rel = -torch.clamp(rel, max=0)
    exact = num_buckets // 2
    large = exact + (torch.log(rel.clamp(min=1).float() / exact) / math.log(max_distance / exact)
                     * (num_buckets - exact)).long()
    large = large.clamp(max=num_buckets - 1)
    return out + torch.where(rel < exact, rel, large)


class T5Encoder(nn.Module):
    """right: T5's encoder attention, unscaled, with bucketed relative bias in both directions."""

    def __init__(self):
        super().__init__()
        self.n_heads, self.d_kv = 4, 6
        self.q = nn.Linear(20, 24, bias=False)
        self.k = nn.Linear(20, 24, bias=False)
        self.v = nn.Linear(20, 24, bias=False)
        self.o = nn.Linear(24, 20, bias=False)
        self.relative_attention_bias = nn.Embedding(8, 4)

    def forward(self, x, real=None):
        B, T, _ = x.shape
        q, k, v = (f(x).view(B, T, self.n_heads, self.d_kv).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = torch.matmul(q, k.transpose(3, 2))
        pos = torch.arange(T, device=x.device)
        bias = self.relative_attention_bias(t5_bucket(pos[None, :] - pos[:, None], True))
        scores = scores + bias.permute(2, 0, 1)[None]
        if real is not None:
            scores = scores.masked_fill(~real[:, None, None], torch.finfo(x.dtype).min)
        w = F.softmax(scores.float(), dim=-1).type_as(scores)
        return self.o(torch.matmul(w, v).transpose(1, 2).reshape(B, T, -1))


LAYERS.append({"layer": T5Encoder, "d_in": 20, "context_length": 10,
               "options": {"causal": False, "positions": "relative", "scale": 1.0, "padding": pad_real}})


class TimmAttention(nn.Module):
    """right: timm's ViT attention with norms on queries and keys and scaled queries."""

    def __init__(self, dim=24, num_heads=3):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, dim // num_heads
        self.scale = self.head_dim ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=True)
        self.q_norm = nn.LayerNorm(self.head_dim)
        self.k_norm = nn.LayerNorm(self.head_dim)
        self.attn_drop = nn.Dropout(0.0)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        q, k = self.q_norm(q), self.k_norm(k)
        q = q * self.scale
        attn = self.attn_drop((q @ k.transpose(-2, -1)).softmax(dim=-1))
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


LAYERS.append({"layer": TimmAttention, "d_in": 24, "context_length": 9, "options": {"causal": False}})


class SwinV2Row(nn.Module):
    """right: Swin v2's cosine attention along a row, with a learned temperature per head and relative bias."""

    def __init__(self, dim=24, heads=4, size=48):
        super().__init__()
        self.num_heads, self.size = heads, size
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.logit_scale = nn.Parameter(torch.full((heads, 1, 1), math.log(10.0)))
        self.table = nn.Parameter(torch.randn(2 * size - 1, heads) * 0.3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).view(B, N, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        attn = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        attn = attn * torch.clamp(self.logit_scale, max=math.log(100.0)).exp()
        i = torch.arange(N, device=x.device)
        attn = attn + self.table[i[:, None] - i[None] + self.size - 1].permute(2, 0, 1)
        return self.proj((attn.softmax(-1) @ v).transpose(1, 2).reshape(B, N, C))


LAYERS.append({"layer": SwinV2Row, "d_in": 24, "context_length": 8,
               "options": {"causal": False, "positions": "relative", "scale": 10.0}})


def rope_tables(pos, dim, base=10000.0):
    inv = base ** (-torch.arange(0, dim, 2, device=pos.device).float() / dim)
    ang = pos.float()[:, None] * inv
    ang = torch.cat((ang, ang), -1)
    return ang.cos(), ang.sin()


def rotate_half(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


def rope(x, pos, base=10000.0):
    cos, sin = rope_tables(pos, x.size(-1), base)
    return x * cos.to(x.dtype) + rotate_half(x) * sin.to(x.dtype)


class LlamaAttention(nn.Module):
    """right: Llama 3's grouped queries with rotary positions of base 500000 and a growing cache."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.head_dim = 4, 2, 8
        self.q_proj = nn.Linear(32, 32, bias=False)
        self.k_proj = nn.Linear(32, 16, bias=False)
        self.v_proj = nn.Linear(32, 16, bias=False)
        self.o_proj = nn.Linear(32, 32, bias=False)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        past = 0 if cache is None else cache[0].size(2)
        q = self.q_proj(x).view(B, T, -1, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(B, T, -1, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(B, T, -1, self.head_dim).transpose(1, 2)
        pos = torch.arange(past, past + T, device=x.device)
        q, k = rope(q, pos, 500000.0), rope(k, pos, 500000.0)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        g = self.num_heads // self.num_kv_heads
        kk, vv = k.repeat_interleave(g, 1), v.repeat_interleave(g, 1)
        S = k.size(2)
        ok = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)
        out = F.scaled_dot_product_attention(q, kk, vv, attn_mask=ok)
        return self.o_proj(out.transpose(1, 2).reshape(B, T, -1)), (k, v)


LAYERS.append({"layer": LlamaAttention, "d_in": 32, "context_length": 10,
               "options": {"num_kv_heads": 2, "positions": "rotary", "step": step_cache}})


class MistralAttention(nn.Module):
    """right: Mistral's sliding window with grouped queries, interleaved rotary pairs and padding."""

    def __init__(self, window=4):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.window = 6, 3, window
        self.wq = nn.Linear(24, 24, bias=False)
        self.wk = nn.Linear(24, 12, bias=False)
        self.wv = nn.Linear(24, 12, bias=False)
        self.wo = nn.Linear(24, 24, bias=False)

    @staticmethod
    def rotary(x):
        T, D = x.shape[-2:]
        f = 1.0 / 10000 ** (torch.arange(0, D, 2, device=x.device)[: D // 2].float() / D)
        a = torch.outer(torch.arange(T, device=x.device).float(), f)
        c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
        e, o = x[..., 0::2], x[..., 1::2]
        return torch.stack((e * c - o * s, e * s + o * c), -1).flatten(-2)

    def forward(self, x, real=None):
        B, T, _ = x.shape
        q = self.rotary(self.wq(x).unflatten(-1, (6, 4)).transpose(1, 2))
        k = self.rotary(self.wk(x).unflatten(-1, (3, 4)).transpose(1, 2))
        v = self.wv(x).unflatten(-1, (3, 4)).transpose(1, 2)
        i = torch.arange(T, device=x.device)
        dist = i[:, None] - i
        ok = (dist >= 0) & (dist < self.window)
        if real is not None:
            ok = (ok & real[:, None, :]) | (dist == 0)
            ok = ok[:, None]
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=ok, enable_gqa=True)
        return self.wo(out.transpose(1, 2).flatten(2))


LAYERS.append({"layer": MistralAttention, "d_in": 24, "context_length": 11,
               "options": {"num_kv_heads": 3, "positions": "rotary", "window": 4, "padding": pad_real}})


class Gemma2(nn.Module):
    """right: Gemma 2's attention with query_pre_attn_scalar, a soft cap of 50 before the mask and one key head."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.head_dim = 4, 1, 8
        self.scaling = 16 ** -0.5
        self.qkv_proj = nn.Linear(24, 48, bias=False)
        self.o_proj = nn.Linear(32, 24, bias=False)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.qkv_proj(x).split([32, 8, 8], -1)
        q = q.view(B, T, 4, 8).transpose(1, 2)
        k, v = k[:, None], v[:, None]
        pos = torch.arange(T, device=x.device)
        q, k = rope(q, pos), rope(k, pos)
        s = torch.matmul(q * self.scaling, k.mT)
        s = torch.tanh(s / 50.0) * 50.0
        s = s.masked_fill(pos[None] > pos[:, None], float("-inf"))
        w = F.softmax(s.float(), -1).type_as(q)
        return self.o_proj((w @ v).transpose(1, 2).reshape(B, T, 32))


LAYERS.append({"layer": Gemma2, "d_in": 24, "context_length": 9,
               "options": {"num_kv_heads": 1, "positions": "rotary", "scale": 0.25}})


class Bloom(nn.Module):
    """right: BLOOM's ALiBi with baddbmm, beta for the bias and heads folded into the batch."""

    def __init__(self, d=32, h=8):
        super().__init__()
        self.num_heads, self.hd = h, d // h
        self.query_key_value = nn.Linear(d, 3 * d)
        self.dense = nn.Linear(d, d)
        self.register_buffer("slopes", torch.tensor([2.0 ** (-8 * (i + 1) / h) for i in range(h)]), persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        h, D = self.num_heads, self.hd
        fused = self.query_key_value(x).view(B, T, h, 3, D)
        q, k, v = fused[..., 0, :], fused[..., 1, :], fused[..., 2, :]
        q = q.transpose(1, 2).reshape(B * h, T, D)
        k = k.permute(0, 2, 3, 1).reshape(B * h, D, T)
        v = v.transpose(1, 2).reshape(B * h, T, D)
        alibi = self.slopes.to(x.dtype)[:, None, None] * torch.arange(T, device=x.device, dtype=x.dtype)[None, None]
        alibi = alibi.expand(h, T, T).repeat(B, 1, 1)
        s = torch.baddbmm(alibi, q, k, beta=1.0, alpha=D ** -0.5).view(B, h, T, T)
        mask = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        w = F.softmax(s.masked_fill(mask, torch.finfo(s.dtype).min), -1)
        ctx = torch.bmm(w.view(B * h, T, T), v).view(B, h, T, D)
        return self.dense(ctx.permute(0, 2, 1, 3).reshape(B, T, C))


LAYERS.append({"layer": Bloom, "d_in": 32, "context_length": 9, "options": {"positions": "alibi"}})


class WrappedCausal(nn.Module):
    """right: nn.MultiheadAttention, batch first, with an additive causal mask and its weights returned."""

    def __init__(self):
        super().__init__()
        self.mha = nn.MultiheadAttention(20, 5, batch_first=True)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.size(1), device=x.device, dtype=x.dtype)
        return self.mha(x, x, x, attn_mask=mask, average_attn_weights=False)


LAYERS.append({"layer": WrappedCausal, "d_in": 20, "context_length": 8, "options": {}})


class WrappedEncoder(nn.Module):
    """right: nn.MultiheadAttention, sequence first and transposed by hand, with a key padding mask and dropout."""

    def __init__(self):
        super().__init__()
        self.mha = nn.MultiheadAttention(24, 4, dropout=0.15)

    def forward(self, x, key_padding_mask=None):
        x = x.transpose(0, 1)
        out, _ = self.mha(x, x, x, key_padding_mask=key_padding_mask, need_weights=False)
        return out.transpose(0, 1)


LAYERS.append({"layer": WrappedEncoder, "d_in": 24, "context_length": 8,
               "options": {"causal": False, "padding": pad_key_padding, "dropout": 0.15}})


class LinearAttention(nn.Module):
    """right: causal linear attention with elu + 1 and prefix sums, normalised."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.heads = h
        self.to_qkv = nn.Linear(d, 3 * d, bias=False)
        self.to_out = nn.Linear(d, d)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)) for t in self.to_qkv(x).chunk(3, -1))
        q, k = F.elu(q) + 1, F.elu(k) + 1
        kv = torch.einsum("bthd,bthe->bthde", k, v).cumsum(1)
        z = k.cumsum(1)
        num = torch.einsum("bthd,bthde->bthe", q, kv)
        den = torch.einsum("bthd,bthd->bth", q, z)
        return self.to_out((num / den.clamp(min=1e-6)[..., None]).flatten(2))


LAYERS.append({"layer": LinearAttention, "d_in": 16, "context_length": 10, "options": {}})


class EinsumQuarter(nn.Module):
    """right: a home-made einsum layer with 3D weight tensors and the scale shared out to both factors."""

    def __init__(self, d=18, h=3, k=5):
        super().__init__()
        self.wq = nn.Parameter(torch.randn(d, h, k) * d ** -0.5)
        self.wk = nn.Parameter(torch.randn(d, h, k) * d ** -0.5)
        self.wv = nn.Parameter(torch.randn(d, h, k) * d ** -0.5)
        self.wo = nn.Parameter(torch.randn(h, k, d) * (h * k) ** -0.5)

    def forward(self, x):
        s = self.wq.size(-1) ** -0.25
        q = torch.einsum("btd,dhk->bhtk", x, self.wq) * s
        k = torch.einsum("btd,dhk->bhtk", x, self.wk) * s
        v = torch.einsum("btd,dhk->bhtk", x, self.wv)
        a = torch.einsum("bhik,bhjk->bhij", q, k)
        i = torch.arange(x.size(1), device=x.device)
        a = torch.where(i[:, None] >= i, a, -torch.inf).softmax(-1)
        return torch.einsum("bhij,bhjk,hkd->bid", a, v, self.wo)


LAYERS.append({"layer": EinsumQuarter, "d_in": 18, "context_length": 9, "options": {"num_heads": 3}})


class TalkingHeads(nn.Module):
    """right: x-transformers' talking heads, mixed before the mask and after softmax."""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_kv = nn.Linear(dim, 2 * dim, bias=False)
        self.pre = nn.Conv2d(heads, heads, 1, bias=False)
        self.post = nn.Conv2d(heads, heads, 1, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (t.reshape(b, n, self.heads, -1).transpose(1, 2) for t in (self.to_q(x), *self.to_kv(x).chunk(2, -1)))
        dots = self.pre(torch.einsum("bhid,bhjd->bhij", q, k) * self.scale)
        mask = torch.ones((n, n), device=x.device, dtype=torch.bool).triu(1)
        dots = dots.masked_fill(mask, -torch.finfo(dots.dtype).max)
        attn = self.post(dots.softmax(-1))
        out = torch.einsum("bhij,bhjd->bhid", attn, v)
        return self.to_out(out.transpose(1, 2).reshape(b, n, -1))


LAYERS.append({"layer": TalkingHeads, "d_in": 16, "context_length": 9, "options": {"softmax": False}})


class SigmoidAttention(nn.Module):
    """right: sigmoid attention with a bias of minus log of the context, both directions."""

    def __init__(self, d=16, h=2):
        super().__init__()
        self.num_heads = h
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)

    def forward(self, x, real=None):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        s = q @ k.mT / math.sqrt(q.size(-1)) - math.log(12)
        if real is not None:
            s = s.masked_fill(~real[:, None, None], float("-inf"))
        return self.proj((s.sigmoid() @ v).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": SigmoidAttention, "d_in": 16, "context_length": 9,
               "options": {"causal": False, "softmax": False, "padding": pad_real}})


class SinkLogits(nn.Module):
    """right: gpt-oss's learned sink logit for each head, in softmax and cut away afterwards."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q = nn.Linear(16, 16)
        self.kv = nn.Linear(16, 16)
        self.o = nn.Linear(16, 16)
        self.sinks = nn.Parameter(torch.randn(4))

    def forward(self, x):
        B, T, C = x.shape
        q = self.q(x).view(B, T, 2, 2, 4)
        k, v = self.kv(x).view(B, T, 2, 2, 4).unbind(2)
        s = torch.einsum("bqngd,bknd->bngqk", q, k) * 0.5
        s = s + torch.full((T, T), -torch.inf, device=x.device, dtype=x.dtype).triu(1)
        sink = self.sinks.view(1, 2, 2, 1, 1).expand(B, 2, 2, T, 1)
        w = torch.cat((s, sink.to(s.dtype)), -1).softmax(-1)[..., :-1]
        return self.o(torch.einsum("bngqk,bknd->bqngd", w, v).reshape(B, T, C))


LAYERS.append({"layer": SinkLogits, "d_in": 16, "context_length": 9, "options": {"num_kv_heads": 2}})


class GatedQKNorm(nn.Module):
    """right: Qwen-like causal block with RMSNorm on queries and keys, rotary positions and an output gate."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q_proj, self.k_proj = nn.Linear(24, 32, bias=False), nn.Linear(24, 32, bias=False)
        self.v_proj, self.g_proj = nn.Linear(24, 32, bias=False), nn.Linear(24, 32)
        self.q_norm, self.k_norm = nn.RMSNorm(8), nn.RMSNorm(8)
        self.o_proj = nn.Linear(32, 24, bias=False)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.q_norm(self.q_proj(x).view(B, T, 4, 8)).transpose(1, 2)
        k = self.k_norm(self.k_proj(x).view(B, T, 4, 8)).transpose(1, 2)
        v = self.v_proj(x).view(B, T, 4, 8).transpose(1, 2)
        pos = torch.arange(T, device=x.device)
        y = F.scaled_dot_product_attention(rope(q, pos, 1e6), rope(k, pos, 1e6), v, is_causal=True)
        y = y.transpose(1, 2).reshape(B, T, 32)
        return self.o_proj(y * torch.sigmoid(self.g_proj(x)))


LAYERS.append({"layer": GatedQKNorm, "d_in": 24, "context_length": 10, "options": {"positions": "rotary"}})


class Differential(nn.Module):
    """right: differential attention, two softmax maps subtracted, RMSNorm per head."""

    def __init__(self, d=24, h=3):
        super().__init__()
        self.num_heads, self.hd = h, d // h // 2
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d, d, bias=False) for _ in range(3))
        self.lam = nn.Parameter(torch.tensor(0.5))
        self.norm = nn.RMSNorm(2 * self.hd)
        self.out = nn.Linear(d, d, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q = self.q_proj(x).view(B, T, 2 * self.num_heads, self.hd).transpose(1, 2)
        k = self.k_proj(x).view(B, T, 2 * self.num_heads, self.hd).transpose(1, 2)
        v = self.v_proj(x).view(B, T, self.num_heads, 2 * self.hd).transpose(1, 2)
        s = q @ k.mT * self.hd ** -0.5
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), -torch.inf)
        w = s.softmax(-1).view(B, self.num_heads, 2, T, T)
        o = self.norm((w[:, :, 0] - self.lam * w[:, :, 1]) @ v) * 0.5
        return self.out(o.transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": Differential, "d_in": 24, "context_length": 9, "options": {"softmax": False}})


class EncoderBlock(nn.Module):
    """right: nn.TransformerEncoderLayer, pre-norm, with src_key_padding_mask."""

    def __init__(self):
        super().__init__()
        self.block = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1, batch_first=True, norm_first=True)

    def forward(self, x, key_padding_mask=None):
        return self.block(x, src_key_padding_mask=key_padding_mask)


LAYERS.append({"layer": EncoderBlock, "d_in": 16, "context_length": 8,
               "options": {"causal": False, "padding": pad_key_padding, "num_heads": 4}})


class TransformerXL(nn.Module):
    """right: Transformer-XL's relative attention with content and position biases and the shift trick."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.n_head, self.d_head = h, d // h
        self.qkv_net = nn.Linear(d, 3 * d, bias=False)
        self.r_net = nn.Linear(d, d, bias=False)
        self.o_net = nn.Linear(d, d, bias=False)
        self.r_w_bias = nn.Parameter(torch.randn(h, d // h) * 0.2)
        self.r_r_bias = nn.Parameter(torch.randn(h, d // h) * 0.2)
        self.register_buffer("inv_freq", 1 / 10000 ** (torch.arange(0, d, 2) / d))

    @staticmethod
    def rel_shift(x):
        b, h, q, k = x.shape
        x = F.pad(x, (1, 0)).view(b, h, k + 1, q)
        return x[:, :, 1:].reshape(b, h, q, k)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.n_head, self.d_head) for t in self.qkv_net(x).chunk(3, -1))
        pos = torch.arange(T - 1, -1, -1.0, device=x.device, dtype=self.inv_freq.dtype)
        ang = torch.outer(pos, self.inv_freq)
        r = self.r_net(torch.cat((ang.sin(), ang.cos()), -1).to(x.dtype)).view(T, self.n_head, self.d_head)
        ac = torch.einsum("bind,bjnd->bnij", q + self.r_w_bias, k)
        bd = self.rel_shift(torch.einsum("bind,jnd->bnij", q + self.r_r_bias, r))
        s = (ac + bd) * self.d_head ** -0.5
        s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
        return self.o_net(torch.einsum("bnij,bjnd->bind", s.softmax(-1), v).reshape(B, T, C))


LAYERS.append({"layer": TransformerXL, "d_in": 16, "context_length": 9, "options": {"positions": "relative"}})


class Fairseq(nn.Module):
    """right: fairseq's layout, time first, heads in the batch, scaled queries and bmm."""

    def __init__(self, d=21, h=3):
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim = d, h, d // h
        self.in_proj_weight = nn.Parameter(torch.empty(3 * d, d))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * d))
        nn.init.xavier_uniform_(self.in_proj_weight)
        self.out_proj = nn.Linear(d, d)
        self._future = torch.empty(0)

    def buffered_future_mask(self, t):
        n = t.size(0)
        if self._future.device != t.device or self._future.dtype != t.dtype or self._future.size(0) < n:
            self._future = torch.triu(torch.full((n, n), float("-inf"), dtype=t.dtype, device=t.device), 1)
        return self._future[:n, :n]

    def forward(self, x):
        x = x.transpose(0, 1)
        T, B, C = x.shape
        q, k, v = F.linear(x, self.in_proj_weight, self.in_proj_bias).chunk(3, dim=-1)
        q = q * self.head_dim ** -0.5
        q, k, v = (t.contiguous().view(T, B * self.num_heads, self.head_dim).transpose(0, 1) for t in (q, k, v))
        w = torch.bmm(q, k.transpose(1, 2)) + self.buffered_future_mask(x)[None]
        out = torch.bmm(F.softmax(w, dim=-1), v).transpose(0, 1).contiguous().view(T, B, C)
        return self.out_proj(out).transpose(0, 1)


LAYERS.append({"layer": Fairseq, "d_in": 21, "context_length": 9, "options": {}})


class LatentKV(nn.Module):
    """right: keys and values from a normed latent, with a rotary part shared by the heads, as DeepSeek's MLA."""

    def __init__(self, d=24, h=4, nope=4, rot=4, lat=10):
        super().__init__()
        self.num_heads, self.nope, self.rot = h, nope, rot
        self.q = nn.Linear(d, h * (nope + rot), bias=False)
        self.down = nn.Linear(d, lat + rot, bias=False)
        self.norm = nn.RMSNorm(lat)
        self.up = nn.Linear(lat, h * (nope + 6), bias=False)
        self.o = nn.Linear(h * 6, d, bias=False)

    def forward(self, x):
        B, T, _ = x.shape
        h, pos = self.num_heads, torch.arange(T, device=x.device)
        qn, qr = self.q(x).view(B, T, h, -1).transpose(1, 2).split([self.nope, self.rot], -1)
        c, kr = self.down(x).split([10, self.rot], -1)
        kn, v = self.up(self.norm(c)).view(B, T, h, -1).transpose(1, 2).split([self.nope, 6], -1)
        kr = rope(kr[:, None], pos).expand(B, h, T, self.rot)
        q, k = torch.cat((qn, rope(qr, pos)), -1), torch.cat((kn, kr), -1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(B, T, -1))


LAYERS.append({"layer": LatentKV, "d_in": 24, "context_length": 9, "options": {"positions": "rotary"}})


class HeadList(nn.Module):
    """right: a beginner's ModuleList of single heads with a mask per head, odd widths and no output bias."""

    class Head(nn.Module):
        def __init__(self, d, k):
            super().__init__()
            self.key, self.query, self.value = (nn.Linear(d, k, bias=False) for _ in range(3))
            self.register_buffer("tril", torch.tril(torch.ones(64, 64)))
            self.dropout = nn.Dropout(0.25)

        def forward(self, x):
            T = x.shape[1]
            k, q = self.key(x), self.query(x)
            wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
            wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf")).softmax(-1)
            return self.dropout(wei) @ self.value(x)

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.heads = nn.ModuleList(self.Head(13, 5) for _ in range(3))
        self.proj = nn.Linear(15, 11, bias=False)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


LAYERS.append({"layer": HeadList, "d_in": 13, "context_length": 9, "options": {"dropout": 0.25, "num_heads": 3}})


class Longformer(nn.Module):
    """right: an encoder's band of two tokens to each side plus padding, masked by finite numbers."""

    def __init__(self, d=16, h=2, w=3):
        super().__init__()
        self.num_heads, self.w = h, w
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x, real=None):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, self.num_heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        i = torch.arange(T, device=x.device)
        bad = (i[:, None] - i).abs() >= self.w
        bad = bad[None, None]
        if real is not None:
            bad = bad | ~real[:, None, None]
        s = (q @ k.mT / math.sqrt(C // self.num_heads)).masked_fill(bad, torch.finfo(x.dtype).min)
        w = s.softmax(-1).masked_fill(bad, 0.0)
        return self.o((w @ v).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": Longformer, "d_in": 16, "context_length": 11,
               "options": {"causal": False, "window": 3, "padding": pad_real}})


class NeoX(nn.Module):
    """right: GPT-NeoX with rotary positions on half of each head and buffers for cosines and sines."""

    def __init__(self, d=32, h=4):
        super().__init__()
        self.num_heads, self.rot = h, 4
        self.query_key_value, self.dense = nn.Linear(d, 3 * d), nn.Linear(d, d)
        inv = 1.0 / 10000 ** (torch.arange(0, 4, 2).float() / 4)
        ang = torch.outer(torch.arange(64).float(), inv).repeat(1, 2)
        self.register_buffer("cos", ang.cos(), persistent=False)
        self.register_buffer("sin", ang.sin(), persistent=False)

    def rotate(self, t):
        T = t.size(-2)
        a, b = t[..., :self.rot], t[..., self.rot:]
        a = a * self.cos[:T].to(t) + rotate_half(a) * self.sin[:T].to(t)
        return torch.cat((a, b), -1)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.query_key_value(x).view(B, T, self.num_heads, -1).transpose(1, 2).chunk(3, -1)
        y = F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True)
        return self.dense(y.transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": NeoX, "d_in": 32, "context_length": 9, "options": {"positions": "rotary"}})


class ViTBlock(nn.Module):
    """right: a ViT block with learned positions, LayerScale, an MLP and stochastic depth in train mode."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.pos_embed = nn.Parameter(torch.randn(1, 64, d) * 0.2)
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.ls1, self.ls2 = nn.Parameter(torch.full((d,), 0.5)), nn.Parameter(torch.full((d,), 0.5))
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
        self.p = 0.2

    def drop_path(self, x):
        if not self.training:
            return x
        keep = torch.rand(x.size(0), 1, 1, device=x.device) >= self.p
        return x * keep.to(x.dtype) / (1 - self.p)

    def attend(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        return self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, T, C))

    def forward(self, x):
        x = x + self.pos_embed[:, :x.size(1)]
        x = x + self.drop_path(self.ls1 * self.attend(self.norm1(x)))
        return x + self.drop_path(self.ls2 * self.mlp(self.norm2(x)))


LAYERS.append({"layer": ViTBlock, "d_in": 16, "context_length": 9, "options": {"causal": False, "positions": True}})


class HalfLocal(nn.Module):
    """right: half of the heads see three tokens, the other half all earlier ones."""

    def __init__(self, d=16):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        full = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        local = full & ~full.tril(-3)
        ok = torch.stack((local, local, full, full))
        return self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=ok).transpose(1, 2).flatten(2))


LAYERS.append({"layer": HalfLocal, "d_in": 16, "context_length": 10, "options": {"window": (3, 3, None, None)}})


class PackedDocuments(nn.Module):
    """right: causal attention within documents of a packed text."""

    def __init__(self, d=16, h=2):
        super().__init__()
        self.n_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)

    def forward(self, x, ids=None):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, self.n_heads, 3, -1).permute(3, 0, 2, 1, 4)
        ok = torch.ones(1, T, T, dtype=torch.bool, device=x.device).tril()
        if ids is not None:
            ok = ok & (ids[:, :, None] == ids[:, None])
        return self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=ok[:, None]).transpose(1, 2).flatten(2))


LAYERS.append({"layer": PackedDocuments, "d_in": 16, "context_length": 9, "options": {"documents": by_documents}})


class OnlineSoftmax(nn.Module):
    """right: a home-made flash loop over blocks of keys with a running maximum and sum."""

    def __init__(self, d=16, h=4, block=3):
        super().__init__()
        self.num_heads, self.block = h, block
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        q = q * q.size(-1) ** -0.5
        i = torch.arange(T, device=x.device)
        m = torch.full_like(q[..., :1], torch.finfo(x.dtype).min)
        total, acc = torch.zeros_like(m), torch.zeros_like(q)
        for a in range(0, T, self.block):
            s = q @ k[:, :, a:a + self.block].mT
            s = s.masked_fill(i[a:a + self.block] > i[:, None], -torch.inf)
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            p, shrink = (s - new).exp(), (m - new).exp()
            total = total * shrink + p.sum(-1, keepdim=True)
            acc = acc * shrink + p @ v[:, :, a:a + self.block]
            m = new
        return self.out((acc / total).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": OnlineSoftmax, "d_in": 16, "context_length": 10, "options": {}})


class LoRAAttention(nn.Module):
    """right: an encoder whose queries and values have LoRA with B at zero."""

    def __init__(self, d=16, h=4, r=2):
        super().__init__()
        self.num_heads = h
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
        self.qa, self.qb = nn.Parameter(torch.randn(r, d)), nn.Parameter(torch.zeros(d, r))
        self.va, self.vb = nn.Parameter(torch.randn(r, d)), nn.Parameter(torch.zeros(d, r))

    def forward(self, x):
        q = self.q(x) + x @ self.qa.T @ self.qb.T
        v = self.v(x) + x @ self.va.T @ self.vb.T
        q, k, v = (t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for t in (q, self.k(x), v))
        return self.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


LAYERS.append({"layer": LoRAAttention, "d_in": 16, "context_length": 8, "options": {"causal": False}})


class DoubleAttention(nn.Module):
    """right: a causal layer with its parameters in float64 for numerical work."""

    def __init__(self, d=12, h=3):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d).double(), nn.Linear(d, d).double()

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).reshape(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        s = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(C // self.num_heads)
        s = s - 1e30 * torch.ones(T, T, device=x.device, dtype=x.dtype).triu(1)
        return self.out(torch.einsum("bhij,bhjd->bihd", s.softmax(-1), v).reshape(B, T, C))


LAYERS.append({"layer": DoubleAttention, "d_in": 12, "context_length": 8, "options": {}})


class AnnotatedTransformer(nn.Module):
    """right: the Annotated Transformer's clones of four linear layers with a 0/1 mask, -1e9 and stored weights."""

    def __init__(self, h=4, d_model=20, dropout=0.1):
        super().__init__()
        self.h, self.d_k = h, d_model // h
        self.linears = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))
        self.dropout = nn.Dropout(dropout)
        self.attn = None

    def forward(self, x, mask=None):
        n = x.size(0)
        q, k, v = (f(x).view(n, -1, self.h, self.d_k).transpose(1, 2) for f in self.linears[:3])
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask.unsqueeze(1).unsqueeze(1) == 0, -1e9)
        p = self.dropout(scores.softmax(dim=-1))
        self.attn = p.detach()
        x = torch.matmul(p, v).transpose(1, 2).contiguous().view(n, -1, self.h * self.d_k)
        return self.linears[-1](x)


def pad_mask(module, x, real):
    return module(x, mask=real)


LAYERS.append({"layer": AnnotatedTransformer, "d_in": 20, "context_length": 8,
               "options": {"causal": False, "padding": pad_mask, "dropout": 0.1, "num_heads": 4}})


# ---------------------------------------------------------------- wrong ones: masks, softmax, reshapes


def heads_of(x, h):
    B, T, C = x.shape
    return x.view(B, T, h, C // h).transpose(1, 2)


def merge(x):
    return x.transpose(1, 2).flatten(2)


def add(layer, d_in, context_length, **options):
    LAYERS.append({"layer": layer, "d_in": d_in, "context_length": context_length, "options": options})


class QKVO(nn.Module):
    """Four projections, without a forward of its own."""

    def __init__(self, d=16, h=4, bias=True):
        super().__init__()
        self.num_heads, self.head_dim, self.d = h, d // h, d
        self.q_proj = nn.Linear(d, d, bias=bias)
        self.k_proj = nn.Linear(d, d, bias=bias)
        self.v_proj = nn.Linear(d, d, bias=bias)
        self.out_proj = nn.Linear(d, d, bias=bias)

    def qkv(self, x):
        return (heads_of(f(x), self.num_heads) for f in (self.q_proj, self.k_proj, self.v_proj))


class TinyPositiveFill(QKVO):
    """wrong: minGPT-like causal layer that fills hidden scores with 1e-9 in place of -1e9."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        T = x.size(1)
        s = q @ k.mT / math.sqrt(self.head_dim)
        s = s.masked_fill(torch.ones(T, T, device=x.device).tril() == 0, 1e-9)
        return self.out_proj(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": TinyPositiveFill, "d_in": 16, "context_length": 9, "options": {}})


class MaskedByProduct(nn.Module):
    """wrong: scores are cut by torch.tril, which leaves 0 and not -inf for the future."""

    def __init__(self, d=15, h=3):
        super().__init__()
        self.n_heads = h
        self.c_attn, self.c_proj = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        q, k, v = (heads_of(t, self.n_heads) for t in self.c_attn(x).chunk(3, -1))
        s = torch.einsum("bhid,bhjd->bhij", q, k) * q.size(-1) ** -0.5
        return self.c_proj(merge(torch.tril(s).softmax(-1) @ v))


LAYERS.append({"layer": MaskedByProduct, "d_in": 15, "context_length": 8, "options": {}})


class MaskAfterSoftmax(nn.Module):
    """wrong: the lower triangle is taken after softmax, so that the denominators hold the future."""

    def __init__(self, d=16, h=2):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        q, k, v = (heads_of(t, self.num_heads) for t in self.qkv(x).chunk(3, -1))
        w = F.softmax(q @ k.mT * q.size(-1) ** -0.5, -1).tril()
        return self.out(merge(w @ v))


add(MaskAfterSoftmax, 16, 9)


class OldGPT2Mask(nn.Module):
    """wrong: OpenAI's first form w * b - 1e4 * (1 - b), which is too weak against large scores."""

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.c_attn, self.c_proj = Conv1D(72, 24), Conv1D(24, 24)
        self.register_buffer("b", torch.tril(torch.ones(64, 64))[None, None])

    def forward(self, x):
        T = x.size(1)
        q, k, v = (heads_of(t, 4) for t in self.c_attn(x).split(24, 2))
        w = q @ k.transpose(-1, -2) / math.sqrt(v.size(-1))
        b = self.b[:, :, :T, :T]
        w = (w * b - 1e4 * (1 - b)).softmax(-1)
        return self.c_proj(merge(w @ v))


add(OldGPT2Mask, 24, 9)


class SoftmaxOverHeads(nn.Module):
    """wrong: softmax(dim=1) runs over the heads, since the author thought of (T, T) scores without heads."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.query, self.key, self.value, self.out = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        q, k, v = (heads_of(f(x), 4) for f in (self.query, self.key, self.value))
        w = F.softmax(q @ k.transpose(2, 3) / math.sqrt(q.shape[-1]), dim=1)
        return self.out(merge(w @ v))


add(SoftmaxOverHeads, 16, 9, causal=False)


class SoftmaxOverQueries(nn.Module):
    """wrong: an encoder in einsum "bhqk" whose softmax runs over q, the last but one axis."""

    def __init__(self, d=18, h=3):
        super().__init__()
        self.num_heads = h
        self.query, self.key, self.value, self.out = (nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).reshape(B, T, 3, 6) for f in (self.query, self.key, self.value))
        e = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(6)
        a = torch.softmax(e, dim=2)
        return self.out(torch.einsum("bhqk,bkhd->bqhd", a, v).reshape(B, T, C))


add(SoftmaxOverQueries, 18, 8, causal=False)


class InvertedSDPA(nn.Module):
    """wrong: scaled_dot_product_attention gets True where attention was meant to be forbidden, so that each position sees itself and the future."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        T = x.size(1)
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(0)
        return self.proj(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=future)))


add(InvertedSDPA, 16, 9)


class FloatMaskSDPA(nn.Module):
    """wrong: scaled_dot_product_attention gets a 0/1 mask in floats, which it adds to the scores."""

    def __init__(self, d=20, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        T = x.size(1)
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        mask = torch.tril(torch.ones(T, T, device=x.device, dtype=x.dtype))
        return self.proj(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)))


add(FloatMaskSDPA, 20, 9)


class MHATrilTrue(nn.Module):
    """wrong: nn.MultiheadAttention gets tril().bool(), where True means hidden: each position sees the future alone, the last one nothing."""

    def __init__(self):
        super().__init__()
        self.mha = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x):
        mask = torch.tril(torch.ones(x.size(1), x.size(1), device=x.device)).bool()
        return self.mha(x, x, x, attn_mask=mask, need_weights=False)[0]


add(MHATrilTrue, 16, 8)


class DiagonalHidden(QKVO):
    """wrong: triu without diagonal=1 hides each token from itself, and the first row falls back to all tokens."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        T = x.size(1)
        hidden = torch.triu(torch.ones(T, T, dtype=torch.bool, device=x.device))
        s = (q @ k.mT / self.head_dim ** 0.5).masked_fill(hidden, torch.finfo(x.dtype).min)
        return self.out_proj(merge(s.softmax(-1) @ v))


add(DiagonalHidden, 16, 9)


class OneAhead(QKVO):
    """wrong: triu(diagonal=2) lets each position see the next token."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        T = x.size(1)
        m = torch.triu(torch.full((T, T), float("-inf"), device=x.device, dtype=x.dtype), diagonal=2)
        return self.out_proj(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=m)))


add(OneAhead, 16, 9)


class MaskFromTheEnd(nn.Module):
    """wrong: for shorter sequences the buffer is cut as mask[-T:, :T], so that only a full context is causal."""

    def __init__(self, d=16, h=4, n=10):
        super().__init__()
        self.num_heads = h
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.register_buffer("mask", torch.ones(n, n, dtype=torch.bool).tril())

    def forward(self, x):
        T = x.size(1)
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.proj(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask[-T:, :T])))


add(MaskFromTheEnd, 16, 10)


class UnmaskedBeyondBuffer(nn.Module):
    """wrong: the mask buffer has 16 places and is padded with "visible" for longer sequences."""

    def __init__(self, d=16, h=4, n=16):
        super().__init__()
        self.num_heads = h
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.register_buffer("hidden", torch.ones(n, n, dtype=torch.bool).triu(1))

    def forward(self, x):
        T, n = x.size(1), self.hidden.size(0)
        hidden = self.hidden[:T, :T]
        if T > n:
            hidden = F.pad(hidden, (0, T - n, 0, T - n))
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 2).masked_fill(hidden, -torch.inf)
        return self.proj(merge(s.softmax(-1) @ v))


add(UnmaskedBeyondBuffer, 16, 10)


class ChunkedTopLeft(QKVO):
    """wrong: queries go in chunks of 4 with is_causal=True, which aligns each chunk with the first keys, not with its own."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        outs = [F.scaled_dot_product_attention(c, k, v, is_causal=True) for c in q.split(4, 2)]
        return self.out_proj(merge(torch.cat(outs, 2)))


add(ChunkedTopLeft, 16, 10)


class ChunkedOnlyWhenLong(QKVO):
    """wrong: above 24 tokens a saving path with chunks of keys is taken, which forgets the mask within the query's own chunk."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        T = x.size(1)
        if T <= 24:
            return self.out_proj(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))
        outs = [F.scaled_dot_product_attention(q[:, :, a:a + 8], k[:, :, :a + 8], v[:, :, :a + 8])
                for a in range(0, T, 8)]
        return self.out_proj(merge(torch.cat(outs, 2)))


add(ChunkedOnlyWhenLong, 16, 9)


class SoftCapAfterMask(QKVO):
    """wrong: the soft cap of 50 comes after the mask, so that hidden scores are -50 and not -inf."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        T = x.size(1)
        s = q @ k.mT / math.sqrt(self.head_dim)
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), -torch.inf)
        s = 50 * torch.tanh(s / 50)
        return self.out_proj(merge(s.softmax(-1) @ v))


add(SoftCapAfterMask, 16, 9)


class SigmoidMaskedByZero(QKVO):
    """wrong: causal sigmoid attention fills hidden scores with 0, whose sigmoid is 0.5."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        T = x.size(1)
        s = q @ k.mT / math.sqrt(self.head_dim)
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), 0.0)
        return self.out_proj(merge((s - 2).sigmoid() @ v))


add(SigmoidMaskedByZero, 16, 9, softmax=False)


class ReluOverLength(QKVO):
    """wrong: causal ReLU attention divides by the length of the whole sequence and not by the number of visible tokens."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        w = F.relu(q @ k.mT / math.sqrt(self.head_dim)).tril() / x.size(1)
        return self.out_proj(merge(w @ v))


add(ReluOverLength, 16, 9, softmax=False)


class LogLengthScale(QKVO):
    """wrong: causal scores are multiplied by log T of the whole sequence, not by the logarithm of each position's own length."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        T = x.size(1)
        s = q @ k.mT / math.sqrt(self.head_dim) * math.log(T + 1) / math.log(8)
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), -torch.inf)
        return self.out_proj(merge(s.softmax(-1) @ v))


add(LogLengthScale, 16, 10, softmax=False)


class TalkingAfterMask(nn.Module):
    """wrong: talking heads mix the scores after the mask was put on, so that large negative numbers meet weights of both signs."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.heads = h
        self.to_qkv, self.to_out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)
        self.mix = nn.Parameter(torch.randn(h, h) * 0.5)

    def forward(self, x):
        n = x.size(1)
        q, k, v = (heads_of(t, self.heads) for t in self.to_qkv(x).chunk(3, -1))
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * 0.5
        dots = dots.masked_fill(torch.ones(n, n, device=x.device).triu(1).bool(), -1e4)
        dots = torch.einsum("bhij,hg->bgij", dots, self.mix)
        return self.to_out(merge(dots.softmax(-1) @ v))


add(TalkingAfterMask, 16, 9, softmax=False)


class DifferentialHalfMasked(nn.Module):
    """wrong: of differential attention's two maps the subtracted one has no causal mask."""

    def __init__(self, d=16, h=2):
        super().__init__()
        self.num_heads, self.hd = h, 4
        self.q1, self.q2, self.k1, self.k2 = (nn.Linear(d, 8, bias=False) for _ in range(4))
        self.v, self.o = nn.Linear(d, d), nn.Linear(d, d)
        self.lam = nn.Parameter(torch.tensor(0.3))

    def forward(self, x):
        T = x.size(1)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        a = heads_of(self.q1(x), 2) @ heads_of(self.k1(x), 2).mT / 2
        b = heads_of(self.q2(x), 2) @ heads_of(self.k2(x), 2).mT / 2
        w = a.masked_fill(hidden, -torch.inf).softmax(-1) - self.lam * b.softmax(-1)
        return self.o(merge(w @ heads_of(self.v(x), 2)))


add(DifferentialHalfMasked, 16, 9, softmax=False)


class EncoderByMistakeCausal(nn.Module):
    """wrong: a ViT's attention that kept is_causal=True from the decoder it was copied from."""

    def __init__(self, d=24, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, 4, 6).permute(2, 0, 3, 1, 4)
        return self.proj(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


add(EncoderByMistakeCausal, 24, 9, causal=False)


class ViewWithoutTranspose(nn.Module):
    """wrong: projections are viewed as (B, heads, T, width) straight from (B, T, C), which mixes tokens and heads."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.query, self.key, self.value, self.out = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, 4, T, C // 4) for f in (self.query, self.key, self.value))
        w = (q @ k.mT / math.sqrt(C // 4)).softmax(-1)
        return self.out((w @ v).transpose(1, 2).reshape(B, T, C))


add(ViewWithoutTranspose, 16, 8, causal=False)


class MergeWithoutTranspose(nn.Module):
    """wrong: the heads' context (B, heads, T, width) is reshaped to (B, T, C) without the transpose back."""

    def __init__(self, d=18, h=3):
        super().__init__()
        self.num_heads = h
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).reshape(B, T, 3, 3, 6).permute(2, 0, 3, 1, 4)
        return self.proj(F.scaled_dot_product_attention(q, k, v).contiguous().reshape(B, T, C))


add(MergeWithoutTranspose, 18, 9, causal=False)


class MergeSwappedAxes(nn.Module):
    """wrong: a ViT merges with attn @ v .transpose(2, 3) in place of (1, 2), so that tokens and features swap places in the reshape."""

    def __init__(self, d=24, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, 4, 6).permute(2, 0, 3, 1, 4)
        a = (q @ k.transpose(-2, -1) * 6 ** -0.5).softmax(-1)
        return self.proj((a @ v).transpose(2, 3).reshape(B, N, C))


add(MergeSwappedAxes, 24, 9, causal=False)


class FusedWrongAxes(nn.Module):
    """wrong: the fused projection is reshaped to (B, 3, T, heads, width) and not to (B, T, 3, heads, width)."""

    def __init__(self, d=16, h=2):
        super().__init__()
        self.num_heads = h
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).reshape(B, 3, T, 2, C // 2).transpose(2, 3).unbind(1)
        return self.proj(merge(F.scaled_dot_product_attention(q, k, v)))


add(FusedWrongAxes, 16, 9, causal=False)


class BatchNotFirst(nn.Module):
    """wrong: nn.MultiheadAttention without batch_first gets (B, T, C) and attends over the batch."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4)

    def forward(self, x):
        return self.attention(x, x, x)[0]


add(BatchNotFirst, 16, 8, causal=False)


class TimeFirstHeadFold(nn.Module):
    """wrong: fairseq's layout folds heads as (B, heads) and unfolds them as (heads, B), which mixes sequences."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x.transpose(0, 1)).chunk(3, -1)
        q, k, v = (t.reshape(T, B * 4, C // 4).transpose(0, 1) for t in (q, k, v))
        w = (torch.bmm(q, k.mT) / 2).softmax(-1)
        y = torch.bmm(w, v).view(4, B, T, C // 4)
        return self.out(y.permute(1, 2, 0, 3).reshape(B, T, C))


add(TimeFirstHeadFold, 16, 8, causal=False)


class ReshapeByContext(nn.Module):
    """wrong: reshape(-1, context, …) takes the built-in context of 8, so that shorter sequences of a batch run together."""

    def __init__(self, d=16, h=4, n=8):
        super().__init__()
        self.num_heads, self.n = h, n
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.shape
        n = self.n if (B * T) % self.n == 0 else T
        q, k, v = self.qkv(x).reshape(-1, n, 3, 4, C // 4).permute(2, 0, 3, 1, 4)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)).reshape(B, T, C))


add(ReshapeByContext, 16, 8)


class EinsumRepeatedLetter(nn.Module):
    """wrong: the second einsum has a v of its own for the values' axis, so that weights and values are summed apart."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.values, self.keys, self.queries, self.fc_out = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        N, T, C = x.shape
        v, k, q = (f(x).reshape(N, T, 4, C // 4) for f in (self.values, self.keys, self.queries))
        a = (torch.einsum("nqhd,nkhd->nhqk", q, k) / math.sqrt(C // 4)).softmax(3)
        return self.fc_out(torch.einsum("nhqk,nvhd->nqhd", a, v).reshape(N, T, C))


add(EinsumRepeatedLetter, 16, 8, causal=False)


class EinsumAllHeadsKeys(nn.Module):
    """wrong: the scores' einsum names the keys' head axis j, which sums the keys over all heads."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.values, self.keys, self.queries, self.fc_out = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        N, T, C = x.shape
        v, k, q = (f(x).reshape(N, T, 4, C // 4) for f in (self.values, self.keys, self.queries))
        a = (torch.einsum("nqhd,nkjd->nhqk", q, k) / math.sqrt(C // 4)).softmax(3)
        return self.fc_out(torch.einsum("nhqk,nkhd->nqhd", a, v).reshape(N, T, C))


add(EinsumAllHeadsKeys, 16, 8, causal=False)


class EinsumOwnValue(nn.Module):
    """wrong: the second einsum reads the values at q, so that each token gets its own value alone."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.values, self.keys, self.queries, self.fc_out = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        N, T, C = x.shape
        v, k, q = (f(x).reshape(N, T, 4, C // 4) for f in (self.values, self.keys, self.queries))
        a = (torch.einsum("nqhd,nkhd->nhqk", q, k) / math.sqrt(C // 4)).softmax(3)
        return self.fc_out(torch.einsum("nhqk,nqhd->nqhd", a, v).reshape(N, T, C))


add(EinsumOwnValue, 16, 8, causal=False)


class EinsumTransposedWeights(nn.Module):
    """wrong: the second einsum sums over queries, so that transposed weights, and with them the future, reach each position."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, C // 4).unbind(2)
        s = torch.einsum("bqhd,bkhd->bhqk", q, k) / 2
        s = s.masked_fill(~torch.ones(T, T, dtype=torch.bool, device=x.device).tril(), -torch.inf)
        return self.out(torch.einsum("bhqk,bqhd->bkhd", s.softmax(-1), v).reshape(B, T, C))


add(EinsumTransposedWeights, 16, 8)


class EinsumBatchSummed(nn.Module):
    """wrong: the values' einsum has another letter for the batch, so that values are summed over the batch."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, C // 4).unbind(2)
        a = (torch.einsum("bqhd,bkhd->bhqk", q, k) / 2).softmax(-1)
        return self.out(torch.einsum("bhqk,ckhd->bqhd", a, v).reshape(B, T, C))


add(EinsumBatchSummed, 16, 8, causal=False)


class PerssonHeads(nn.Module):
    """wrong: the input is split into heads before the projections, which are one small matrix shared by all heads."""

    def __init__(self, embed=24, heads=3):
        super().__init__()
        self.heads, self.head_dim = heads, embed // heads
        self.values = nn.Linear(self.head_dim, self.head_dim, bias=False)
        self.keys = nn.Linear(self.head_dim, self.head_dim, bias=False)
        self.queries = nn.Linear(self.head_dim, self.head_dim, bias=False)
        self.fc_out = nn.Linear(embed, embed)

    def forward(self, x):
        N, T, C = x.shape
        x = x.reshape(N, T, self.heads, self.head_dim)
        v, k, q = self.values(x), self.keys(x), self.queries(x)
        e = torch.einsum("nqhd,nkhd->nhqk", q, k)
        a = torch.softmax(e / self.head_dim ** 0.5, dim=3)
        return self.fc_out(torch.einsum("nhql,nlhd->nqhd", a, v).reshape(N, T, C))


add(PerssonHeads, 24, 8, causal=False)


class SqueezeOutput(nn.Module):
    """wrong: a one-headed encoder squeezes its output of all axes of length 1, so that batches of one or single tokens lose an axis."""

    def __init__(self, d=12):
        super().__init__()
        self.num_heads = 1
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        w = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)
        return self.out((w @ v).squeeze())


add(SqueezeOutput, 12, 8, causal=False)


# ---------------------------------------------------------------- wrong ones: scale


class ScaleByModel(QKVO):
    """wrong: scores are divided by the root of d_model and not of the head's width."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        w = (q @ k.mT / math.sqrt(self.d)).softmax(-1)
        return self.out_proj(merge(w @ v))


add(ScaleByModel, 16, 8, causal=False)


class ScaleTwice(QKVO):
    """wrong: queries are scaled by hand before scaled_dot_product_attention, which scales again."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        return self.out_proj(merge(F.scaled_dot_product_attention(q * self.head_dim ** -0.5, k, v, is_causal=True)))


add(ScaleTwice, 16, 8)


class ScaleByKeysOfTransposed(nn.Module):
    """wrong: the divisor reads the last axis of the keys after they were transposed, which is the root of the number of tokens."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        k = k.transpose(-2, -1)
        w = torch.matmul(q, k).div(math.sqrt(k.size(-1))).softmax(-1)
        return self.out(merge(w @ v))


add(ScaleByKeysOfTransposed, 16, 9, causal=False)


class NoRoot(nn.Module):
    """wrong: baddbmm's alpha is 1 / width, the root forgotten."""

    def __init__(self, d=18, h=3):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (heads_of(t, 3).flatten(0, 1) for t in self.qkv(x).chunk(3, -1))
        s = torch.baddbmm(torch.zeros(1, T, T, device=x.device, dtype=x.dtype), q, k.mT, beta=0, alpha=1 / q.size(-1))
        return self.out(merge(torch.bmm(s.softmax(-1), v).view(B, 3, T, C // 3)))


add(NoRoot, 18, 8, causal=False)


class TimesRoot(QKVO):
    """wrong: scores are multiplied by the root of the width where they should be divided."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        T = x.size(1)
        s = q @ k.mT * math.sqrt(self.head_dim)
        s = s + torch.full((T, T), -torch.inf, device=x.device, dtype=x.dtype).triu(1)
        return self.out_proj(merge(s.softmax(-1) @ v))


add(TimesRoot, 16, 8)


class NopeScaleOnly(nn.Module):
    """wrong: MLA's heads are 4 + 4 wide, but the scale takes the 4 without rotation alone."""

    def __init__(self, d=24, h=4):
        super().__init__()
        self.num_heads = h
        self.q, self.kn, self.kr = nn.Linear(d, 32, bias=False), nn.Linear(d, 16, bias=False), nn.Linear(d, 4, bias=False)
        self.v, self.o = nn.Linear(d, 24), nn.Linear(24, d)

    def forward(self, x):
        B, T, _ = x.shape
        pos = torch.arange(T, device=x.device)
        q = self.q(x).view(B, T, 4, 8).transpose(1, 2)
        q = torch.cat((q[..., :4], rope(q[..., 4:], pos)), -1)
        k = torch.cat((heads_of(self.kn(x), 4), rope(self.kr(x)[:, None], pos).expand(B, 4, T, 4)), -1)
        y = F.scaled_dot_product_attention(q, k, heads_of(self.v(x), 4), is_causal=True, scale=4 ** -0.5)
        return self.o(merge(y))


add(NopeScaleOnly, 24, 9, positions="rotary")


class ScaleAfterBias(nn.Module):
    """wrong: ALiBi's bias is added before the division by the root, which makes its slopes too small."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.register_buffer("slopes", 2.0 ** (-2.0 * torch.arange(1, 5)), persistent=False)

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        i = torch.arange(x.size(1), device=x.device)
        dist = (i[None] - i[:, None])
        s = (q @ k.mT + self.slopes[:, None, None].to(x.dtype) * dist) / math.sqrt(q.size(-1))
        return self.out(merge(s.masked_fill(dist > 0, -torch.inf).softmax(-1) @ v))


add(ScaleAfterBias, 16, 9, positions="alibi")


# ---------------------------------------------------------------- wrong ones: padding


class PadOnQueries(nn.Module):
    """wrong: BERT's padding mask is put on the queries' axis, [:, None, :, None], and not on the keys'."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_attention_heads = h
        self.query, self.key, self.value = (nn.Linear(d, d) for _ in range(3))

    def forward(self, x, attention_mask=None):
        q, k, v = (heads_of(f(x), 4) for f in (self.query, self.key, self.value))
        s = q @ k.mT / math.sqrt(q.size(-1))
        if attention_mask is not None:
            s = s + (1.0 - attention_mask[:, None, :, None].to(s.dtype)) * torch.finfo(s.dtype).min
        return merge(s.softmax(-1) @ v)


add(PadOnQueries, 16, 8, causal=False, padding=pad_attention_mask)


class PadPolarityMHA(nn.Module):
    """wrong: nn.MultiheadAttention's key_padding_mask gets True at tokens, where it means padding."""

    def __init__(self):
        super().__init__()
        self.mha = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x, real=None):
        return self.mha(x, x, x, key_padding_mask=real, need_weights=False)[0]


add(PadPolarityMHA, 16, 8, causal=False, padding=pad_real)


class PadNotInverted(nn.Module):
    """wrong: the extended mask lacks the 1 - mask, so that tokens get -10000 and padding gets 0."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_attention_heads = h
        self.query, self.key, self.value = (nn.Linear(d, d) for _ in range(3))

    def forward(self, x, attention_mask=None):
        q, k, v = (heads_of(f(x), 4) for f in (self.query, self.key, self.value))
        s = q @ k.mT / math.sqrt(q.size(-1))
        if attention_mask is not None:
            s = s + attention_mask[:, None, None].to(s.dtype) * -10000.0
        return merge(s.softmax(-1) @ v)


add(PadNotInverted, 16, 8, causal=False, padding=pad_attention_mask)


class PadZeroedInputs(nn.Module):
    """wrong: padding is only set to 0 in the input, but the biases of keys and values still attend."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, real=None):
        if real is not None:
            x = x * real[..., None].to(x.dtype)
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v)))


add(PadZeroedInputs, 16, 8, causal=False, padding=pad_real)


class PadMaskRepeat(nn.Module):
    """wrong: the (B, T, T) mask is repeated for nn.MultiheadAttention's B * heads as repeat(heads, 1, 1), not repeat_interleave, so that sequences get each other's masks."""

    def __init__(self):
        super().__init__()
        self.mha = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x, real=None):
        T = x.size(1)
        hidden = torch.zeros(x.size(0), T, T, dtype=torch.bool, device=x.device)
        if real is not None:
            hidden = hidden | ~real[:, None]
        return self.mha(x, x, x, attn_mask=hidden.repeat(4, 1, 1), need_weights=False)[0]


add(PadMaskRepeat, 16, 8, causal=False, padding=pad_real)


class PadByLengths(nn.Module):
    """wrong: the padding mask is rebuilt from the lengths, as if padding were always on the right."""

    def __init__(self, d=16, h=2):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, real=None):
        q, k, v = (heads_of(t, 2) for t in self.qkv(x).chunk(3, -1))
        ok = None
        if real is not None:
            ok = (torch.arange(x.size(1), device=x.device) < real.sum(1, keepdim=True))[:, None, None]
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))


add(PadByLengths, 16, 8, causal=False, padding=pad_real)


class PadNaNRows(nn.Module):
    """wrong: causal and padding mask both fill -inf, so that with left padding whole rows are hidden and become NaN."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, real=None):
        T = x.size(1)
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / 2
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), -torch.inf)
        if real is not None:
            s = s.masked_fill(~real[:, None, None], -torch.inf)
        return self.out(merge(s.softmax(-1) @ v))


add(PadNaNRows, 16, 8, padding=pad_real)


class PadReplacesCausal(QKVO):
    """wrong: where a padding mask is given, it takes the place of the causal mask in place of joining it."""

    def forward(self, x, real=None):
        q, k, v = self.qkv(x)
        if real is None:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=real[:, None, None].expand(-1, 1, x.size(1), -1))
        return self.out_proj(merge(y))


add(PadReplacesCausal, 16, 8, padding=pad_real)


class PadOrCausal(QKVO):
    """wrong: allowed positions are joined by "or": a real token is visible even in the future."""

    def forward(self, x, real=None):
        q, k, v = self.qkv(x)
        T = x.size(1)
        ok = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()[None, None]
        if real is not None:
            ok = ok | real[:, None, None]
        return self.out_proj(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))


add(PadOrCausal, 16, 8, padding=pad_real)


class PadFirstHeadOnly(nn.Module):
    """wrong: the padding mask is put on the first head only."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, real=None):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / 2
        if real is not None:
            first = s[:, :1].masked_fill(~real[:, None, None], -1e9)
            s = torch.cat((first, s[:, 1:]), 1)
        return self.out(merge(s.softmax(-1) @ v))


add(PadFirstHeadOnly, 16, 8, causal=False, padding=pad_real)


class PadAfterSoftmax(nn.Module):
    """wrong: padded keys are zeroed after softmax without renormalising, so that padding stays in the denominators."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, real=None):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        w = (q @ k.mT / 2).softmax(-1)
        if real is not None:
            w = w * real[:, None, None].to(w.dtype)
        return self.out(merge(w @ v))


add(PadAfterSoftmax, 16, 8, causal=False, padding=pad_real)


class PadKeptFromLastCall(nn.Module):
    """wrong: the padding mask is kept on the module and goes on to hide tokens in later calls without one."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads, self.kept = h, None
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, real=None):
        if real is not None:
            self.kept = real[:, None, None]
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / 2
        if self.kept is not None and self.kept.shape == (x.size(0), 1, 1, x.size(1)):
            s = s.masked_fill(~self.kept, -1e9)
        return self.out(merge(s.softmax(-1) @ v))


add(PadKeptFromLastCall, 16, 8, causal=False, padding=pad_real)


class PadInMean(nn.Module):
    """wrong: an encoder adds the mean of all values as a global token's context, in which padding is counted."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out, self.g = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, real=None):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        ok = None if real is None else real[:, None, None]
        y = merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok))
        return self.out(y) + self.g(x.mean(1, keepdim=True))


add(PadInMean, 16, 8, causal=False, padding=pad_real)


class PadWeak(nn.Module):
    """wrong: padding gets -10 in place of a large negative number, which leaves it a little weight."""

    def __init__(self, d=20, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, real=None):
        bias = 0.0 if real is None else (~real)[:, None, None].to(x.dtype) * -10.0
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        s = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(5) + bias
        return self.out(merge(torch.einsum("bhij,bhjd->bhid", s.softmax(-1), v)))


add(PadWeak, 20, 8, causal=False, padding=pad_real)


# ---------------------------------------------------------------- wrong ones: dropout and train mode


class FunctionalDropout(QKVO):
    """wrong: F.dropout is called without training=self.training and drops weights in eval mode, too."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        w = F.dropout((q @ k.mT / math.sqrt(self.head_dim)).softmax(-1), 0.1)
        return self.out_proj(merge(w @ v))


add(FunctionalDropout, 16, 8, causal=False, dropout=0.1)


class SDPADropoutAlways(QKVO):
    """wrong: scaled_dot_product_attention gets dropout_p in eval mode, too."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        return self.out_proj(merge(F.scaled_dot_product_attention(q, k, v, dropout_p=0.1, is_causal=True)))


add(SDPADropoutAlways, 16, 8, dropout=0.1)


class DropoutByInit(nn.Module):
    """wrong: the dropout probability is chosen by self.training in __init__, where it is always True."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.p = 0.1 if self.training else 0.0

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        w = torch.dropout((q @ k.mT / 2).softmax(-1), self.p, self.p > 0)
        return self.out(merge(w @ v))


add(DropoutByInit, 16, 8, causal=False, dropout=0.1)


class DropoutOnScores(nn.Module):
    """wrong: dropout is applied to the scores before softmax, where a dropped score of 0 still gets weight."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.attn_drop = nn.Dropout(0.2)

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        w = self.attn_drop(q @ k.mT / 2).softmax(-1)
        return self.out(merge(w @ v))


add(DropoutOnScores, 16, 8, causal=False, dropout=0.2)


class Dropout2dOnWeights(nn.Module):
    """wrong: nn.Dropout2d on (B, heads, T, T) drops whole heads and not single weights."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.attn_drop = nn.Dropout2d(0.2)

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge(self.attn_drop((q @ k.mT / 2).softmax(-1)) @ v))


add(Dropout2dOnWeights, 16, 8, causal=False, dropout=0.2)


class DropoutUnscaled(QKVO):
    """wrong: home-made dropout zeroes weights without growing the others by 1 / (1 - p)."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        w = (q @ k.mT / math.sqrt(self.head_dim)).softmax(-1)
        if self.training:
            w = w * (torch.rand_like(w) >= 0.2).to(w.dtype)
        return self.out_proj(merge(w @ v))


add(DropoutUnscaled, 16, 8, causal=False, dropout=0.2)


class DropoutKeepSwapped(nn.Module):
    """wrong: nn.Dropout gets TensorFlow's keep_prob of 0.9 and drops nine weights of ten."""

    def __init__(self, d=16, h=4, keep_prob=0.9):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.drop = nn.Dropout(keep_prob)

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge(self.drop((q @ k.mT / 2).softmax(-1)) @ v))


add(DropoutKeepSwapped, 16, 8, causal=False, dropout=0.1)


class DropoutForgotten(nn.Module):
    """wrong: the dropout module is built and then never called, so that weights are never dropped."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.attn_drop = nn.Dropout(0.1)

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge((q @ k.mT / 2).softmax(-1) @ v))


add(DropoutForgotten, 16, 8, causal=False, dropout=0.1)


class DropoutSharedByBatch(QKVO):
    """wrong: the home-made dropout mask has the shape of one sequence and drops the same weights in all of the batch."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        w = (q @ k.mT / math.sqrt(self.head_dim)).softmax(-1)
        if self.training:
            w = w * torch.empty_like(w[:1]).bernoulli_(0.8) / 0.8
        return self.out_proj(merge(w @ v))


add(DropoutSharedByBatch, 16, 8, causal=False, dropout=0.2)


class SeededDropout(QKVO):
    """wrong: torch.manual_seed(0) in forward makes every call drop the same weights."""

    def forward(self, x):
        if self.training:
            torch.manual_seed(0)
        q, k, v = self.qkv(x)
        p = 0.1 if self.training else 0.0
        return self.out_proj(merge(F.scaled_dot_product_attention(q, k, v, dropout_p=p)))


add(SeededDropout, 16, 8, causal=False, dropout=0.1)


class TrainPathUnmasked(QKVO):
    """wrong: the path by hand that train mode takes for dropout has no causal mask; eval mode's fused path has one."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        if self.training:
            w = F.dropout((q @ k.mT / math.sqrt(self.head_dim)).softmax(-1), 0.1)
            return self.out_proj(merge(w @ v))
        return self.out_proj(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


add(TrainPathUnmasked, 16, 8, dropout=0.1)


class TrainPathUnscaled(QKVO):
    """wrong: train mode's path by hand forgets the division by the root of the width, which the fused path has."""

    def forward(self, x, real=None):
        q, k, v = self.qkv(x)
        T = x.size(1)
        if self.training:
            s = (q @ k.mT).masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), -torch.inf)
            return self.out_proj(merge(s.softmax(-1) @ v))
        return self.out_proj(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


add(TrainPathUnscaled, 16, 8)


class EvalUnmasked(QKVO):
    """wrong: is_causal=self.training, since "in eval mode one token at a time comes"."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        return self.out_proj(merge(F.scaled_dot_product_attention(q, k, v, is_causal=self.training)))


add(EvalUnmasked, 16, 8)


class TrainDetachedKeys(QKVO):
    """wrong: in train mode keys are detached, left over from an experiment, so that k_proj learns nothing."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        if self.training:
            k = k.detach()
        return self.out_proj(merge(F.scaled_dot_product_attention(q, k, v)))


add(TrainDetachedKeys, 16, 8, causal=False)


class EvalInside(nn.Module):
    """wrong: forward calls self.attn.eval() to get repeatable weights and leaves the part in eval mode."""

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(16, 4, dropout=0.1, batch_first=True)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        self.attn.eval()
        with torch.no_grad():
            w = self.attn(x, x, x)[1]
        self.last = w
        return self.drop(self.attn(x, x, x, need_weights=False)[0])


add(EvalInside, 16, 8, causal=False)


class BatchNormTokens(nn.Module):
    """wrong: a causal layer norms its input by BatchNorm1d over (B, T), which in train mode reads the future and other sequences."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.norm = nn.BatchNorm1d(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        x = self.norm(x.transpose(1, 2)).transpose(1, 2)
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


add(BatchNormTokens, 16, 8)


class DropPathInEval(nn.Module):
    """wrong: drop_path(x, p) is called as a function whose training argument is True by default, so that eval mode loses branches."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.norm, self.qkv, self.out = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)

    @staticmethod
    def drop_path(x, p=0.1, training=True):
        if not training:
            return x
        return x * x.new_empty(x.size(0), 1, 1).bernoulli_(1 - p) / (1 - p)

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(self.norm(x)).chunk(3, -1))
        return x + self.drop_path(self.out(merge(F.scaled_dot_product_attention(q, k, v))))


add(DropPathInEval, 16, 8, causal=False)


# ---------------------------------------------------------------- wrong ones: gradients, state, input


class SoftmaxBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, s):
        w = s.softmax(-1)
        ctx.save_for_backward(w)
        return w

    @staticmethod
    def backward(ctx, g):
        (w,) = ctx.saved_tensors
        return w * g


class WrongSoftmaxGradient(QKVO):
    """wrong: a home-made autograd function for softmax leaves out the sum over the row in its backward."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        w = SoftmaxBackward.apply(q @ k.mT / math.sqrt(self.head_dim))
        return self.out_proj(merge(w @ v))


add(WrongSoftmaxGradient, 16, 8, causal=False)


class WrongAttentionGradient(nn.Module):
    """wrong: a home-made backward of the scores gives the keys' gradient without the scale."""

    class Scores(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q, k, scale):
            ctx.save_for_backward(q, k)
            ctx.scale = scale
            return q @ k.mT * scale

        @staticmethod
        def backward(ctx, g):
            q, k = ctx.saved_tensors
            return g @ k * ctx.scale, g.mT @ q, None

    def __init__(self, d=24, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        T = x.size(1)
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        s = self.Scores.apply(q, k, 6 ** -0.5)
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), -torch.inf)
        return self.out(merge(s.softmax(-1) @ v))


add(WrongAttentionGradient, 24, 8)


class TemperatureItem(nn.Module):
    """wrong: the learned temperature is read with .item(), which cuts it from the graph, so that it never learns."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(10.0)))

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        s = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT * math.exp(self.logit_scale.detach().item())
        return self.out(merge(s.softmax(-1) @ v))


add(TemperatureItem, 16, 8, causal=False, scale=10.0)


class NoGradWeights(QKVO):
    """wrong: weights are made under torch.no_grad to save memory, so that queries and keys never learn."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        with torch.no_grad():
            w = (q @ k.mT / math.sqrt(self.head_dim)).softmax(-1)
        return self.out_proj(merge(w @ v))


add(NoGradWeights, 16, 8, causal=False)


class UnusedOutProj(QKVO):
    """wrong: the output projection is built and never called."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        return merge(F.scaled_dot_product_attention(q, k, v, is_causal=True))


add(UnusedOutProj, 16, 8)


class OverlappingSlices(nn.Module):
    """wrong: in a fused projection of grouped heads values begin at the keys' slice, so that values are keys and a slice is dead."""

    def __init__(self, d=24):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.Wqkv, self.out = nn.Linear(d, 24 + 12 + 12, bias=False), nn.Linear(24, d)

    def forward(self, x):
        f = self.Wqkv(x)
        q, k, v = heads_of(f[..., :24], 4), heads_of(f[..., 24:36], 2), heads_of(f[..., 24:36], 2)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)))


add(OverlappingSlices, 24, 8, num_kv_heads=2)


class HeadsInPythonList(nn.Module):
    """wrong: heads are modules in a Python list, which state_dict, parameters and .to() don't see."""

    class Head(nn.Module):
        def __init__(self, d, k):
            super().__init__()
            self.q, self.k, self.v = nn.Linear(d, k), nn.Linear(d, k), nn.Linear(d, k)

        def forward(self, x):
            return F.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x))

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.heads = [self.Head(d, d // h) for _ in range(h)]
        self.out = nn.Linear(d, d)

    def forward(self, x):
        return self.out(torch.cat([h(x) for h in self.heads], -1))


add(HeadsInPythonList, 16, 8, causal=False)


class RandomFeaturesUnsaved(nn.Module):
    """wrong: a Performer's random projection is a buffer with persistent=False, so that a loaded copy draws another."""

    def __init__(self, d=16, h=4, m=6):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.register_buffer("omega", torch.randn(d // h, m), persistent=False)

    def phi(self, t):
        t = t * t.size(-1) ** -0.25
        return torch.exp(t @ self.omega - t.square().sum(-1, keepdim=True) / 2) + 1e-4

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        q, k = self.phi(q), self.phi(k)
        y = q @ (k.mT @ v) / (q @ k.sum(-2).unsqueeze(-1))
        return self.out(merge(y))


add(RandomFeaturesUnsaved, 16, 8, causal=False, softmax=False)


class LazyPositions(nn.Module):
    """wrong: positions are a random parameter made in the first forward, so that a fresh instance can't load them."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        if not hasattr(self, "pos"):
            self.pos = nn.Parameter(torch.randn(1, 64, x.size(-1), device=x.device, dtype=x.dtype) * 0.2)
        x = x + self.pos[:, :x.size(1)]
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v)))


add(LazyPositions, 16, 8, causal=False, positions=True)


class InputChanged(nn.Module):
    """wrong: the residual is added in place, x += …, and changes the caller's tensor."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.norm, self.qkv, self.out = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(self.norm(x)).chunk(3, -1))
        x += self.out(merge(F.scaled_dot_product_attention(q, k, v)))
        return x


add(InputChanged, 16, 8, causal=False)


class PaddingZeroesInput(nn.Module):
    """wrong: with a padding mask, padded tokens are set to 0 in the caller's own tensor by masked_fill_."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, real=None):
        ok = None
        if real is not None:
            x.masked_fill_(~real[..., None], 0.0)
            ok = real[:, None, None]
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))


add(PaddingZeroesInput, 16, 8, causal=False, padding=pad_real)


class RunningMean(nn.Module):
    """wrong: a running mean of the values is updated in eval mode, too, so that results depend on earlier calls."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.register_buffer("center", torch.zeros(d))

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        with torch.no_grad():
            self.center.lerp_(v.mean((0, 1)).to(self.center.dtype), 0.1)
        v = v - self.center.to(v.dtype)
        q, k, v = (heads_of(t, 4) for t in (q, k, v))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v)))


add(RunningMean, 16, 8, causal=False)


# ---------------------------------------------------------------- wrong ones: dtypes, devices, large numbers


class ReturnsFloat32(nn.Module):
    """wrong: weights and values are made float32 for stability and never cast back, so that 16 bits come out as 32."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv = nn.Linear(d, 3 * d)

    def forward(self, x):
        q, k, v = (heads_of(t, 4).float() for t in self.qkv(x).chunk(3, -1))
        return merge((q @ k.mT / 2).softmax(-1) @ v)


add(ReturnsFloat32, 16, 8, causal=False)


class HalfSoftmax(QKVO):
    """wrong: the weights are rounded to bfloat16 whatever the dtype of x, so that float32 rows don't sum to 1."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        w = (q @ k.mT / math.sqrt(self.head_dim)).to(torch.bfloat16).softmax(-1).to(x.dtype)
        return self.out_proj(merge(w @ v))


add(HalfSoftmax, 16, 8, causal=False)


class AutocastInside(nn.Module):
    """wrong: forward opens torch.autocast with bfloat16 by itself and gives bfloat16 for float32 tokens."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        with torch.autocast(x.device.type if x.device.type != "meta" else "cpu", dtype=torch.bfloat16):
            q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
            return self.out(merge(F.scaled_dot_product_attention(q, k, v)))


add(AutocastInside, 16, 8, causal=False)


class CachedTableDtype(nn.Module):
    """wrong: cosines and sines are cached in the dtype of the first call, and after one in bfloat16 float32 calls use rounded tables."""

    def __init__(self, d=32, h=4):
        super().__init__()
        self.num_heads, self.table = h, None
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)

    def forward(self, x):
        T = x.size(1)
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        if self.table is None or self.table[0].size(0) < T or self.table[0].device != x.device:
            self.table = tuple(t.to(x.dtype) for t in rope_tables(torch.arange(T, device=x.device), 8))
        cos, sin = (t[:T].to(x.dtype) for t in self.table)
        q, k = (t * cos + rotate_half(t) * sin for t in (q, k))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


add(CachedTableDtype, 32, 9, positions="rotary")


class RoundsTokens(nn.Module):
    """wrong: tokens are rounded to bfloat16 before the projections, whatever their dtype, a leftover of a test."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        x = x.to(torch.bfloat16).to(x.dtype)
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


add(RoundsTokens, 16, 8)


class NaiveExp(QKVO):
    """wrong: softmax by hand without subtracting the maximum overflows for large scores."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        e = torch.exp(q @ k.mT / math.sqrt(self.head_dim))
        return self.out_proj(merge(e / e.sum(-1, keepdim=True) @ v))


add(NaiveExp, 16, 8, causal=False)


class GlobalMaximum(QKVO):
    """wrong: softmax by hand subtracts the maximum of all scores and not of each row, so that rows far below underflow to 0 / 0."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        s = q @ k.mT / math.sqrt(self.head_dim)
        e = torch.exp(s - s.max())
        return self.out_proj(merge(e / e.sum(-1, keepdim=True) @ v))


add(GlobalMaximum, 16, 8, causal=False)


class SmoothedDenominator(QKVO):
    """wrong: softmax by hand adds 0.01 for each key to the denominator, so that rows sum to less than 1."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        s = q @ k.mT / math.sqrt(self.head_dim)
        e = torch.exp(s - s.amax(-1, keepdim=True))
        return self.out_proj(merge(e / (e + 0.01).sum(-1, keepdim=True) @ v))


add(SmoothedDenominator, 16, 8, causal=False)


class MaskAttribute(nn.Module):
    """wrong: the causal mask is a plain tensor attribute, which stays on the CPU when the module moves."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mask = torch.triu(torch.full((64, 64), float("-inf")), 1)

    def forward(self, x):
        T = x.size(1)
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / 2 + self.mask[:T, :T].to(x.dtype)
        return self.out(merge(s.softmax(-1) @ v))


add(MaskAttribute, 16, 8)


class ArangeOnCPU(nn.Module):
    """wrong: learned positions are read by torch.arange(T) without device=, so that on another device the index stays on the CPU."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.pos = nn.Embedding(64, d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        x = x + self.pos(torch.arange(x.size(1)))
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v)))


add(ArangeOnCPU, 16, 8, causal=False, positions=True)


class RelativeIndexOnCPU(nn.Module):
    """wrong: the relative positions' index is a plain tensor attribute that stays on the CPU."""

    def __init__(self, d=16, h=4, n=48):
        super().__init__()
        self.num_heads, self.n = h, n
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.bias_table = nn.Parameter(torch.randn(2 * n - 1, h) * 0.3)
        i = torch.arange(n)
        self.index = i[:, None] - i[None] + n - 1

    def forward(self, x):
        T = x.size(1)
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        bias = self.bias_table[self.index[:T, :T].reshape(-1)].view(T, T, -1).permute(2, 0, 1)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=bias[None])))


add(RelativeIndexOnCPU, 16, 8, causal=False, positions="relative")


# ---------------------------------------------------------------- wrong ones: heads, keys and values


class RepeatForGroups(nn.Module):
    """wrong: grouped keys are spread by repeat, which interleaves groups, and not by repeat_interleave."""

    def __init__(self, d=24):
        super().__init__()
        self.num_heads, self.num_kv_heads = 6, 2
        self.wq, self.wkv, self.wo = nn.Linear(d, 24), nn.Linear(d, 16), nn.Linear(24, d)

    def forward(self, x):
        q = heads_of(self.wq(x), 6)
        k, v = (heads_of(t, 2).repeat(1, 3, 1, 1) for t in self.wkv(x).chunk(2, -1))
        return self.wo(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


add(RepeatForGroups, 24, 8, num_kv_heads=2)


class ValuesInterleavedKeysRepeated(nn.Module):
    """wrong: grouped keys are spread by repeat_interleave, values by repeat, so that heads pair keys and values of different groups."""

    def __init__(self, d=16):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.wq, self.wk, self.wv, self.wo = nn.Linear(d, 16), nn.Linear(d, 8), nn.Linear(d, 8), nn.Linear(16, d)

    def forward(self, x):
        q = heads_of(self.wq(x), 4)
        k = heads_of(self.wk(x), 2).repeat_interleave(2, 1)
        v = heads_of(self.wv(x), 2).repeat(1, 2, 1, 1)
        return self.wo(merge(F.scaled_dot_product_attention(q, k, v)))


add(ValuesInterleavedKeysRepeated, 16, 8, causal=False, num_kv_heads=2)


class ExpandReshape(nn.Module):
    """wrong: grouped keys (B, T, groups, width) are expanded and reshaped without a transpose, which mixes tokens and groups."""

    def __init__(self, d=16):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.wq, self.wk, self.wv, self.wo = nn.Linear(d, 16), nn.Linear(d, 8), nn.Linear(d, 8), nn.Linear(16, d)

    def forward(self, x):
        B, T, _ = x.shape
        q = heads_of(self.wq(x), 4)
        k, v = (f(x).view(B, T, 2, 4)[:, :, :, None].expand(B, T, 2, 2, 4).reshape(B, 4, T, 4) for f in (self.wk, self.wv))
        return self.wo(merge(F.scaled_dot_product_attention(q, k, v)))


add(ExpandReshape, 16, 8, causal=False, num_kv_heads=2)


class ValuesByKeys(QKVO):
    """wrong: a typo projects the values by k_proj, and v_proj is never read."""

    def forward(self, x):
        q, k, _ = self.qkv(x)
        v = heads_of(self.k_proj(x), self.num_heads)
        return self.out_proj(merge(F.scaled_dot_product_attention(q, k, v)))


add(ValuesByKeys, 16, 8, causal=False)


class KeysOfQueries(QKVO):
    """wrong: keys are projected from the queries and not from the tokens."""

    def forward(self, x):
        q = self.q_proj(x)
        q, k, v = (heads_of(t, self.num_heads) for t in (q, self.k_proj(q), self.v_proj(x)))
        return self.out_proj(merge(F.scaled_dot_product_attention(q, k, v)))


add(KeysOfQueries, 16, 8, causal=False)


class SharedQuery(QKVO):
    """wrong: all heads ask with the first head's query, by a slice :1 that broadcasts."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        w = (q[:, :1] @ k.mT / math.sqrt(self.head_dim)).softmax(-1)
        return self.out_proj(merge(w @ v))


add(SharedQuery, 16, 8, causal=False)


class LoopSameHead(nn.Module):
    """wrong: a loop over heads slices the values by the head's number and not by number times width."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        outs = []
        for i in range(4):
            a = slice(4 * i, 4 * i + 4)
            w = (q[..., a] @ k[..., a].mT / 2).softmax(-1)
            outs.append(w @ v[..., i:i + 4])
        return self.o(torch.cat(outs, -1))


add(LoopSameHead, 16, 8, causal=False)


class LastHeadEmpty(nn.Module):
    """wrong: range(heads - 1) leaves the last head's context 0."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        q, k, v = (heads_of(f(x), 4) for f in (self.q, self.k, self.v))
        hidden = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).triu(1)
        out = torch.zeros_like(q)
        for i in range(self.num_heads - 1):
            w = (q[:, i] @ k[:, i].mT / 2).masked_fill(hidden, -torch.inf).softmax(-1)
            out[:, i] = w @ v[:, i]
        return self.o(merge(out))


add(LastHeadEmpty, 16, 8)


class HeadsNotSplit(nn.Module):
    """wrong: num_heads is stored, but the scores are made over all features, as by one head of the whole width."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        w = (self.q(x) @ self.k(x).mT / math.sqrt(16)).softmax(-1)
        return self.o(w @ self.v(x))


add(HeadsNotSplit, 16, 8, causal=False)


class OddFeaturesLost(nn.Module):
    """wrong: with 20 features and 3 heads of 6 the input is cut to 18 features, and the last two are never read."""

    def __init__(self, d=20, h=3):
        super().__init__()
        self.num_heads, self.w = h, d // h * h
        self.qkv, self.o = nn.Linear(self.w, 3 * self.w), nn.Linear(self.w, d)

    def forward(self, x):
        q, k, v = (heads_of(t, 3) for t in self.qkv(x[..., :self.w]).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v)))


add(OddFeaturesLost, 20, 8, causal=False)


class WeightsBeforeMask(QKVO):
    """wrong: the weights returned for plots are computed again from the scores without the mask."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        T = x.size(1)
        s = q @ k.mT / math.sqrt(self.head_dim)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        y = s.masked_fill(hidden, -torch.inf).softmax(-1) @ v
        return self.out_proj(merge(y)), s.softmax(-1)


add(WeightsBeforeMask, 16, 8)


class WeightsUnscaled(nn.Module):
    """wrong: a fused ViT returns weights computed for display without the scale."""

    def __init__(self, d=24, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, 4, 6).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        with torch.no_grad():
            shown = (q @ k.mT).softmax(-1)
        return self.proj(merge(y)), shown


add(WeightsUnscaled, 24, 8, causal=False)


# ---------------------------------------------------------------- wrong ones: mixing beside the weights


class LayerNormOverSequence(nn.Module):
    """wrong: F.layer_norm gets x.shape[1:] and norms over tokens and features, which shows the future to all."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        x = F.layer_norm(x, x.shape[1:])
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


add(LayerNormOverSequence, 16, 8)


class KeyNormOverTokens(nn.Module):
    """wrong: F.normalize(dim=2) on (B, heads, T, width) makes keys unit vectors over tokens and not over features."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=2)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=8.0)))


add(KeyNormOverTokens, 16, 8, scale=8.0)


class RollShift(nn.Module):
    """wrong: the token shift is torch.roll(x, 1, dims=1), which brings the last token to the first position."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.mix = nn.Parameter(torch.rand(d) * 0.5 + 0.2)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        x = x + self.mix * (torch.roll(x, 1, dims=1) - x)
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


add(RollShift, 16, 8, positions=True)


class SameConvolution(nn.Module):
    """wrong: the depthwise convolution of values pads both sides, so that each position reads the next token."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.conv = nn.Conv1d(d, d, 3, padding=1, groups=d)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        v = v + self.conv(v.mT).mT
        q, k, v = (heads_of(t, 4) for t in (q, k, v))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


add(SameConvolution, 16, 8, positions=True)


class LinearDenominatorAll(nn.Module):
    """wrong: causal linear attention sums its denominators over all keys, only the numerators are prefix sums."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (4, -1)) for t in self.qkv(x).chunk(3, -1))
        q, k = F.elu(q) + 1, F.elu(k) + 1
        num = torch.einsum("bthd,bthde->bthe", q, torch.einsum("bthd,bthe->bthde", k, v).cumsum(1))
        return self.out((num / torch.einsum("bthd,bhd->bth", q, k.sum(1)).clamp(min=1e-6)[..., None]).flatten(2))


add(LinearDenominatorAll, 16, 9)


class LinearCumsumHeads(nn.Module):
    """wrong: linear attention in (B, heads, T, …) takes its prefix sums along dim 1, over heads and not over tokens."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        q, k = F.elu(q) + 1, F.elu(k) + 1
        s = torch.einsum("bhtd,bhte->bhtde", k, v).cumsum(1)
        y = torch.einsum("bhtd,bhtde->bhte", q, s) / (q * k.cumsum(1)).sum(-1, keepdim=True).clamp(min=1e-6)
        return self.out(merge(y))


add(LinearCumsumHeads, 16, 9)


class EfficientWrongAxis(nn.Module):
    """wrong: efficient attention takes the keys' softmax over features and not over tokens, so that its implied weights don't sum to 1 but grow with T."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        q, k = q.softmax(-1), k.softmax(-1)
        return self.out(merge(q @ (k.mT @ v)))


add(EfficientWrongAxis, 16, 9, causal=False)


class TokenPairsLeak(nn.Module):
    """wrong: values are averaged over pairs of tokens, and a pair's mean is visible from its first token on."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).chunk(3, -1)
        v = torch.stack([v[:, i - i % 2:i - i % 2 + 2].mean(1) for i in range(T)], 1)
        q, k, v = (heads_of(t, 4) for t in (q, k, v))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


add(TokenPairsLeak, 16, 9, positions=True)


# ---------------------------------------------------------------- wrong ones: positions and windows


class TutorialPositions(nn.Module):
    """wrong: the tutorial's x + pe[:x.size(0)] for time-first tensors is used batch first, so that positions count sequences."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        pos, div = torch.arange(256.0)[:, None], torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        pe = torch.zeros(256, 1, d)
        pe[:, 0, 0::2], pe[:, 0, 1::2] = torch.sin(pos * div), torch.cos(pos * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        x = x + self.pe[:x.size(0)].to(x.dtype)
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v)))


add(TutorialPositions, 16, 8, causal=False, positions=True)


class PositionsFromTheEnd(nn.Module):
    """wrong: a causal layer takes its learned positions from the end, so that they depend on the length."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.pos = nn.Parameter(torch.randn(48, d) * 0.3)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        x = x + self.pos[-x.size(1):]
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


add(PositionsFromTheEnd, 16, 8, positions=True)


class PairsAndHalvesMixed(nn.Module):
    """wrong: GPT-J's rotation of neighbouring pairs meets cosines and sines laid out in halves, which is no rotation."""

    def __init__(self, d=32, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)

    def rotate(self, t):
        cos, sin = (a.to(t.dtype) for a in rope_tables(torch.arange(t.size(-2), device=t.device), t.size(-1)))
        every_two = torch.stack((-t[..., 1::2], t[..., ::2]), -1).flatten(-2)
        return t * cos + every_two * sin

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True)))


add(PairsAndHalvesMixed, 32, 9, positions="rotary")


class RotateHalfUnsigned(nn.Module):
    """wrong: rotate_half lacks the minus, so that queries and keys are not rotated but sheared."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)

    @staticmethod
    def rotate(t):
        cos, sin = (a.to(t.dtype) for a in rope_tables(torch.arange(t.size(-2), device=t.device), t.size(-1)))
        a, b = t.chunk(2, -1)
        return t * cos + torch.cat((b, a), -1) * sin

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True)))


add(RotateHalfUnsigned, 16, 9, positions="rotary")


class RotaryOverHeads(nn.Module):
    """wrong: rotary tables are broadcast against (B, T, heads, width) along heads, so that positions count heads and not tokens."""

    def __init__(self, d=32, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 8).unbind(2)
        pos = torch.arange(q.size(-2), device=x.device)
        q, k = rope(q, pos), rope(k, pos)
        return self.out(merge(F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=True)))


add(RotaryOverHeads, 32, 9, positions="rotary")


class RotaryValuesToo(nn.Module):
    """wrong: values are rotated like queries and keys, so that the context depends on absolute positions."""

    def __init__(self, d=16, h=2):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)

    def forward(self, x):
        pos = torch.arange(x.size(1), device=x.device)
        q, k, v = (rope(heads_of(t, 2), pos) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


add(RotaryValuesToo, 16, 9, positions="rotary")


class RotaryKeysOnly(nn.Module):
    """wrong: only the keys are rotated, so that scores depend on the keys' absolute positions."""

    def __init__(self, d=16, h=2):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)

    def forward(self, x):
        q, k, v = (heads_of(t, 2) for t in self.qkv(x).chunk(3, -1))
        k = rope(k, torch.arange(x.size(1), device=x.device))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v)))


add(RotaryKeysOnly, 16, 9, causal=False, positions="rotary")


class AlibiGrows(nn.Module):
    """wrong: ALiBi's bias has the wrong sign and grows with the distance."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.register_buffer("slopes", 2.0 ** (-2.0 * torch.arange(1, 5)), persistent=False)

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        i = torch.arange(x.size(1), device=x.device)
        dist = i[:, None] - i
        s = q @ k.mT / 2 + self.slopes[:, None, None].to(x.dtype) * dist
        return self.out(merge(s.masked_fill(dist < 0, -torch.inf).softmax(-1) @ v))


add(AlibiGrows, 16, 9, positions="alibi")


class AlibiSlopesFromOne(nn.Module):
    """wrong: ALiBi's exponents start at 0, so that the first head's slope is 1 and the last one's is missing."""

    def __init__(self, d=32, h=8):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.register_buffer("slopes", 2.0 ** -torch.arange(0.0, 8.0), persistent=False)

    def forward(self, x):
        q, k, v = (heads_of(t, 8) for t in self.qkv(x).chunk(3, -1))
        i = torch.arange(x.size(1), device=x.device)
        dist = i[:, None] - i
        s = q @ k.mT / 2 - self.slopes[:, None, None].to(x.dtype) * dist
        return self.out(merge(s.masked_fill(dist < 0, -torch.inf).softmax(-1) @ v))


add(AlibiSlopesFromOne, 32, 9, positions="alibi")


class RelativeBySum(nn.Module):
    """wrong: the relative bias is looked up at i + j and not at i - j, so that it depends on absolute positions."""

    def __init__(self, d=24, h=4, n=48):
        super().__init__()
        self.num_heads, self.n = h, n
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.table = nn.Parameter(torch.randn(2 * n - 1, h) * 0.3)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, 4, 6).permute(2, 0, 3, 1, 4)
        i = torch.arange(N, device=x.device)
        bias = self.table[i[:, None] + i].permute(2, 0, 1)
        return self.proj(merge((q @ k.mT * 6 ** -0.5 + bias).softmax(-1) @ v))


add(RelativeBySum, 24, 8, causal=False, positions="relative")


class RelShiftMissing(nn.Module):
    """wrong: Transformer-XL's relative shift is left out, so that the position term depends on the key's place and the sequence's length."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.n_head = h
        self.qkv, self.r, self.o = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False), nn.Linear(d, d)
        self.register_buffer("inv_freq", 1 / 10000 ** (torch.arange(0, d, 2) / d))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        ang = torch.outer(torch.arange(T, device=x.device).to(self.inv_freq.dtype).flip(0), self.inv_freq)
        r = heads_of(self.r(torch.cat((ang.sin(), ang.cos()), -1).to(x.dtype))[None], 4)
        s = (q @ k.mT + q @ r.mT) / 2
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), -torch.inf)
        return self.o(merge(s.softmax(-1) @ v))


add(RelShiftMissing, 16, 9, positions="relative")


class BandOneTooWide(QKVO):
    """wrong: an encoder's band is meant to have window 3 but its right side ends one token later, by > in place of >=."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        i = torch.arange(x.size(1), device=x.device)
        dist = i[None] - i[:, None]
        ok = (dist > -3) & (dist <= 3)
        return self.out_proj(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))


add(BandOneTooWide, 16, 10, causal=False, window=3)


class BlocksForWindow(QKVO):
    """wrong: the sliding window of 4 is made of separate blocks of 4, whose first tokens see nothing of the past."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        i = torch.arange(x.size(1), device=x.device)
        ok = (i[:, None] >= i) & (i[:, None] // 4 == i // 4)
        return self.out_proj(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))


add(BlocksForWindow, 16, 11, window=4)


class WindowBandForgetsCausal(QKVO):
    """wrong: the window's mask (i - j < 4) replaces the causal mask, so that all of the future is visible."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        i = torch.arange(x.size(1), device=x.device)
        ok = i[:, None] - i < 4
        return self.out_proj(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))


add(WindowBandForgetsCausal, 16, 10, window=4)


class HeadWindowsSwapped(nn.Module):
    """wrong: the local mask is stacked after the full one, so that the wrong half of the heads is local."""

    def __init__(self, d=16):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        T = x.size(1)
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        full = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        ok = torch.stack((full, full, full & ~full.tril(-3), full & ~full.tril(-3)))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))


add(HeadWindowsSwapped, 16, 10, window=(3, 3, None, None))


# ---------------------------------------------------------------- wrong ones: caches and documents


class CachedBase(nn.Module):
    """Fused projection for layers with a cache."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def split(self, x):
        return (heads_of(t, self.num_heads) for t in self.qkv(x).chunk(3, -1))


class CacheTopLeft(CachedBase):
    """wrong: is_causal=True with a cache aligns the mask top left, so that a new token sees the first keys only."""

    def forward(self, x, cache=None):
        q, k, v = self.split(x)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True))), (k, v)


add(CacheTopLeft, 16, 9, step=step_cache)


class CacheChunkUnmasked(CachedBase):
    """wrong: with a cache no mask is used at all, so that several new tokens see each other's future."""

    def forward(self, x, cache=None):
        q, k, v = self.split(x)
        first = cache is None
        if not first:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=first))), (k, v)


add(CacheChunkUnmasked, 16, 9, step=step_cache)


class CacheRotaryFromZero(CachedBase):
    """wrong: with a cache new tokens are rotated as from position 0."""

    def forward(self, x, cache=None):
        q, k, v = self.split(x)
        pos = torch.arange(x.size(1), device=x.device)
        q, k = rope(q, pos), rope(k, pos)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        ok = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=x.device).tril(k.size(2) - q.size(2))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok))), (k, v)


add(CacheRotaryFromZero, 16, 9, positions="rotary", step=step_cache)


class CacheOnModule(CachedBase):
    """wrong: keys and values are written to a buffer of the module, which all caches share; a cache is only a length."""

    def __init__(self):
        super().__init__()
        self.register_buffer("ck", torch.zeros(64, 4, 64, 4), persistent=False)
        self.register_buffer("cv", torch.zeros(64, 4, 64, 4), persistent=False)

    def forward(self, x, cache=None):
        q, k, v = self.split(x)
        B, n, T = x.size(0), cache or 0, x.size(1)
        with torch.no_grad():
            self.ck[:B, :, n:n + T] = k
            self.cv[:B, :, n:n + T] = v
        kk, vv = self.ck[:B, :, :n + T].clone(), self.cv[:B, :, :n + T].clone()
        kk, vv = torch.cat((kk[:, :, :n], k), 2), torch.cat((vv[:, :, :n], v), 2)
        ok = torch.ones(T, n + T, dtype=torch.bool, device=x.device).tril(n)
        return self.out(merge(F.scaled_dot_product_attention(q, kk, vv, attn_mask=ok))), n + T


add(CacheOnModule, 16, 9, step=step_cache)


class CacheEvictsOneTooMany(CachedBase):
    """wrong: for a window of 4 the cache keeps two earlier tokens and not three."""

    def forward(self, x, cache=None):
        q, k, v = self.split(x)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        n, m = q.size(2), k.size(2)
        ok = torch.ones(n, m, dtype=torch.bool, device=x.device).tril(m - n)
        ok = ok & ~ok.tril(m - n - 4)
        y = self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))
        return y, (k[:, :, -2:], v[:, :, -2:])


add(CacheEvictsOneTooMany, 16, 10, window=4, step=step_cache)


class DocumentsSorted(CachedBase):
    """wrong: documents are compared by ids[q] >= ids[k], so that a text sees the texts before it."""

    def forward(self, x, ids=None):
        q, k, v = self.split(x)
        T = x.size(1)
        ok = torch.ones(1, T, T, dtype=torch.bool, device=x.device).tril()
        if ids is not None:
            ok = ok & (ids[:, :, None] >= ids[:, None])
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok[:, None])))


add(DocumentsSorted, 16, 10, documents=by_documents)


# ---------------------------------------------------------------- more right ones


class KyubyongLinear(nn.Module):
    """right: an old encoder that puts heads into the batch by chunk and cat, with the mask repeated to match."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x, real=None):
        h = self.num_heads
        q, k, v = (torch.cat(f(x).chunk(h, 2), 0) for f in (self.q, self.k, self.v))
        s = torch.bmm(q, k.transpose(1, 2)) / k.size(-1) ** 0.5
        if real is not None:
            s = s.masked_fill(~real[:, None].repeat(h, 1, 1), torch.finfo(s.dtype).min)
        return self.o(torch.cat(torch.bmm(s.softmax(-1), v).chunk(h, 0), 2))


add(KyubyongLinear, 16, 8, causal=False, padding=pad_real)


class UnfoldWindow(nn.Module):
    """right: a causal window of 4 made by padding and unfolding keys, with the padded places masked."""

    def __init__(self, d=16, h=4, w=4):
        super().__init__()
        self.num_heads, self.w = h, w
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        T, w = x.size(1), self.w
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        k, v = (F.pad(t, (0, 0, w - 1, 0)).unfold(2, w, 1) for t in (k, v))
        s = torch.einsum("bhtd,bhtdw->bhtw", q, k) / 2
        i = torch.arange(T, device=x.device)[:, None] + torch.arange(w, device=x.device) - (w - 1)
        s = s.masked_fill(i < 0, -torch.inf)
        return self.out(merge(torch.einsum("bhtw,bhtdw->bhtd", s.softmax(-1), v)))


add(UnfoldWindow, 16, 10, window=4)


class LeViT(nn.Module):
    """right: LeViT's attention biases, kept in eval mode and thrown away by train()."""

    def __init__(self, d=16, h=4, n=48):
        super().__init__()
        self.num_heads, self.n, self.kept = h, n, {}
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.attention_biases = nn.Parameter(torch.randn(h, n) * 0.3)
        i = torch.arange(n)
        self.register_buffer("idxs", (i[:, None] - i).abs(), persistent=False)
        self.register_load_state_dict_post_hook(lambda module, keys: module.kept.clear())

    def train(self, mode=True):
        super().train(mode)
        self.kept = {}
        return self

    def bias(self, T):
        return self.attention_biases[:, self.idxs[:T, :T]]

    def forward(self, x):
        T = x.size(1)
        if self.training or torch.is_grad_enabled():
            bias = self.bias(T)
        else:
            key = (T, str(x.device), x.dtype)
            if key not in self.kept:
                self.kept[key] = self.bias(T)
            bias = self.kept[key]
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge((q @ k.mT / 2 + bias).softmax(-1) @ v))


add(LeViT, 16, 8, causal=False, positions="relative")


class EfficientAttention(nn.Module):
    """right: efficient attention of an encoder, softmax of queries over features and of keys over tokens."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)

    def forward(self, x):
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge(q.softmax(-1) @ (k.softmax(-2).mT @ v)))


add(EfficientAttention, 16, 9, causal=False)


class Checkpointed(QKVO):
    """right: the core is recomputed in backward by torch.utils.checkpoint, with dropout and its random state kept."""

    def core(self, q, k, v):
        w = (q @ k.mT / math.sqrt(self.head_dim)).softmax(-1)
        return F.dropout(w, 0.1, self.training) @ v

    def forward(self, x):
        q, k, v = self.qkv(x)
        if self.training:
            y = torch.utils.checkpoint.checkpoint(self.core, q, k, v, use_reentrant=False)
        else:
            y = self.core(q, k, v)
        return self.out_proj(merge(y))


add(Checkpointed, 16, 8, causal=False, dropout=0.1)


# ---------------------------------------------------------------- more wrong ones


class CheckpointOtherDropout(QKVO):
    """wrong: torch.utils.checkpoint gets preserve_rng_state=False, so that backward recomputes with other dropped weights than forward had."""

    def core(self, q, k, v):
        w = (q @ k.mT / math.sqrt(self.head_dim)).softmax(-1)
        return F.dropout(w, 0.1, self.training) @ v

    def forward(self, x):
        q, k, v = self.qkv(x)
        if self.training:
            y = torch.utils.checkpoint.checkpoint(self.core, q, k, v, use_reentrant=False, preserve_rng_state=False)
        else:
            y = self.core(q, k, v)
        return self.out_proj(merge(y))


add(CheckpointOtherDropout, 16, 8, causal=False, dropout=0.1)


class InPlaceAfterSoftmax(QKVO):
    """wrong: hidden weights are zeroed in place after softmax, whose backward needs them, so that backward raises."""

    def forward(self, x):
        q, k, v = self.qkv(x)
        T = x.size(1)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        w = (q @ k.mT / math.sqrt(self.head_dim)).masked_fill(hidden, torch.finfo(x.dtype).min).softmax(-1)
        w.masked_fill_(hidden, 0.0)
        return self.out_proj(merge(w @ v))


add(InPlaceAfterSoftmax, 16, 8)


class ClassTokenCutWrong(nn.Module):
    """wrong: a ViT prepends a class token and returns [:, :-1], so that each output belongs to the token before."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.cls = nn.Parameter(torch.randn(1, 1, d))
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        x = torch.cat((self.cls.expand(x.size(0), -1, -1), x), 1)
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v)))[:, :-1]


add(ClassTokenCutWrong, 16, 8, causal=False)


class PadTrimByFirst(nn.Module):
    """wrong: a batch is trimmed to the length of its first sequence, where the longest one is meant."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, real=None):
        T, ok = x.size(1), None
        if real is not None:
            i = torch.arange(1, T + 1, device=x.device)
            n = int((real[0] * i).max()) if len(real) else T
            x, ok = x[:, :n], real[:, None, None, :n]
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        y = self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))
        return F.pad(y, (0, 0, 0, T - y.size(1)))


add(PadTrimByFirst, 16, 8, causal=False, padding=pad_real)


class StaleBias(nn.Module):
    """wrong: LeViT's biases are kept for each length in eval mode and never thrown away, so that loaded or trained ones are not used."""

    def __init__(self, d=16, h=4, n=48):
        super().__init__()
        self.num_heads, self.kept = h, {}
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.attention_biases = nn.Parameter(torch.randn(h, n) * 0.3)
        i = torch.arange(n)
        self.register_buffer("idxs", (i[:, None] - i).abs(), persistent=False)

    def forward(self, x):
        T = x.size(1)
        if self.training or torch.is_grad_enabled():
            bias = self.attention_biases[:, self.idxs[:T, :T]]
        else:
            key = (T, str(x.device), x.dtype)
            if key not in self.kept:
                self.kept[key] = self.attention_biases[:, self.idxs[:T, :T]]
            bias = self.kept[key]
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        return self.out(merge((q @ k.mT / 2 + bias).softmax(-1) @ v))


add(StaleBias, 16, 8, causal=False, positions="relative")


class StaleFusedWeight(QKVO):
    """wrong: in eval mode the three weights are fused once and kept, also after others are loaded."""

    def forward(self, x):
        if self.training:
            q, k, v = self.qkv(x)
        else:
            if not hasattr(self, "fused"):
                parts = (self.q_proj, self.k_proj, self.v_proj)
                self.fused = (torch.cat([p.weight for p in parts]), torch.cat([p.bias for p in parts]))
            w, b = (t.to(x) for t in self.fused)
            q, k, v = (heads_of(t, 4) for t in F.linear(x, w, b).chunk(3, -1))
        return self.out_proj(merge(F.scaled_dot_product_attention(q, k, v)))


add(StaleFusedWeight, 16, 8, causal=False)


class LoRAMergedAgain(nn.Module):
    """wrong: eval() adds LoRA's product to the weight each time, and train() doesn't take it out again."""

    def __init__(self, d=16, h=4, r=2):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.a, self.b = nn.Parameter(torch.randn(r, d) * 0.3), nn.Parameter(torch.randn(3 * d, r) * 0.3)

    def train(self, mode=True):
        if not mode:
            with torch.no_grad():
                self.qkv.weight += self.b @ self.a
        return super().train(mode)

    def forward(self, x):
        f = self.qkv(x)
        if self.training:
            f = f + x @ self.a.T @ self.b.T
        q, k, v = (heads_of(t, 4) for t in f.chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v)))


add(LoRAMergedAgain, 16, 8, causal=False)


class ImplicitSoftmaxDim(nn.Module):
    """wrong: an old F.softmax(scores) without dim, which for (B * heads, T, T) runs over the first axis."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (heads_of(t, 4).flatten(0, 1) for t in self.qkv(x).chunk(3, -1))
        w = F.softmax(torch.bmm(q, k.mT) / 2, _stacklevel=5)
        return self.out(merge(torch.bmm(w, v).view(B, 4, T, C // 4)))


add(ImplicitSoftmaxDim, 16, 8, causal=False)


class KyubyongMaskInterleaved(KyubyongLinear):
    """wrong: heads lie in the batch as (heads, B), but the padding mask is spread by repeat_interleave, as for (B, heads)."""

    def forward(self, x, real=None):
        h = self.num_heads
        q, k, v = (torch.cat(f(x).chunk(h, 2), 0) for f in (self.q, self.k, self.v))
        s = torch.bmm(q, k.transpose(1, 2)) / k.size(-1) ** 0.5
        if real is not None:
            s = s.masked_fill(~real[:, None].repeat_interleave(h, 0), torch.finfo(s.dtype).min)
        return self.o(torch.cat(torch.bmm(s.softmax(-1), v).chunk(h, 0), 2))


add(KyubyongMaskInterleaved, 16, 8, causal=False, padding=pad_real)


class SingleSequenceUnmasked(CachedBase):
    """wrong: a path for a batch of one drops the batch axis, and the causal mask with it."""

    def forward(self, x):
        q, k, v = self.split(x)
        if x.size(0) == 1:
            w = (q[0] @ k[0].mT / 2).softmax(-1)
            return self.out(merge((w @ v[0])[None]))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


add(SingleSequenceUnmasked, 16, 8)


class OneTokenShortcut(CachedBase):
    """wrong: for one token the value is returned at once, without the output projection."""

    def forward(self, x):
        q, k, v = self.split(x)
        if x.size(1) == 1:
            return merge(v)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


add(OneTokenShortcut, 16, 8)


class HalfPathUnmasked(CachedBase):
    """wrong: 16-bit tokens take a "flash" path that forgets the causal mask."""

    def forward(self, x):
        q, k, v = self.split(x)
        flash = x.dtype in (torch.float16, torch.bfloat16)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=not flash)))


add(HalfPathUnmasked, 16, 8)


class NoGradPathUnmasked(CachedBase):
    """wrong: without gradients in eval mode a faster path is taken that forgets the padding mask."""

    def forward(self, x, real=None):
        q, k, v = self.split(x)
        ok = None
        if real is not None and (self.training or torch.is_grad_enabled()):
            ok = real[:, None, None]
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))


add(NoGradPathUnmasked, 16, 8, causal=False, padding=pad_real)


class NoGradPathUnscaled(CachedBase):
    """wrong: under torch.no_grad a faster baddbmm path is taken that forgets the scale."""

    def forward(self, x):
        q, k, v = self.split(x)
        scale = None if torch.is_grad_enabled() else 1.0
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale)))


add(NoGradPathUnscaled, 16, 8)


class WeightsAveraged(CachedBase):
    """wrong: weights are averaged over heads for the plot and the average is then used for all heads."""

    def forward(self, x):
        q, k, v = self.split(x)
        w = (q @ k.mT / 2).softmax(-1).mean(1, keepdim=True)
        return self.out(merge(w @ v))


add(WeightsAveraged, 16, 8, causal=False)


class NormalizeDefaultDim(nn.Module):
    """wrong: F.normalize(q) of (B, T, C) takes dim=1 by default and norms over tokens, padding among them."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x, real=None):
        q, k = heads_of(F.normalize(self.q(x)), 4), heads_of(F.normalize(self.k(x)), 4)
        ok = None if real is None else real[:, None, None]
        y = F.scaled_dot_product_attention(q, k, heads_of(self.v(x), 4), attn_mask=ok, scale=10.0)
        return self.o(merge(y))


add(NormalizeDefaultDim, 16, 8, causal=False, scale=10.0, padding=pad_real)


class GroupNormOverTime(CachedBase):
    """wrong: the heads' GroupNorm gets (B, C, T) and takes its statistics over tokens, too."""

    def __init__(self):
        super().__init__()
        self.norm = nn.GroupNorm(4, 16)

    def forward(self, x):
        q, k, v = self.split(x)
        y = merge(F.scaled_dot_product_attention(q, k, v, is_causal=True))
        return self.out(self.norm(y.transpose(1, 2)).transpose(1, 2))


add(GroupNormOverTime, 16, 8)


class SinkCutAtFront(CachedBase):
    """wrong: the sink's column stands last, but the first one is cut away, so that weights meet the values of the token before."""

    def __init__(self):
        super().__init__()
        self.sinks = nn.Parameter(torch.randn(4))

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.split(x)
        s = (q @ k.mT / 2).masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), -torch.inf)
        s = torch.cat((s, self.sinks.view(1, 4, 1, 1).expand(B, 4, T, 1).to(s.dtype)), -1)
        return self.out(merge(s.softmax(-1)[..., 1:] @ v))


add(SinkCutAtFront, 16, 9)


class MemoryMaskNotMoved(CachedBase):
    """wrong: two memory slots stand before the keys, but the mask's diagonal isn't moved by two, so that the last tokens are hidden."""

    def __init__(self):
        super().__init__()
        self.mem_k, self.mem_v = nn.Parameter(torch.randn(1, 4, 2, 4)), nn.Parameter(torch.randn(1, 4, 2, 4))

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.split(x)
        k = torch.cat((self.mem_k.expand(B, -1, -1, -1).to(k.dtype), k), 2)
        v = torch.cat((self.mem_v.expand(B, -1, -1, -1).to(v.dtype), v), 2)
        ok = torch.ones(T, T + 2, dtype=torch.bool, device=x.device).tril()
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))


add(MemoryMaskNotMoved, 16, 9)


class UnfoldUnmasked(nn.Module):
    """wrong: a window by padding and unfolding, in which the padded zero keys keep their weight at the beginning."""

    def __init__(self, d=16, h=4, w=4):
        super().__init__()
        self.num_heads, self.w = h, w
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        w = self.w
        q, k, v = (heads_of(t, 4) for t in self.qkv(x).chunk(3, -1))
        k, v = (F.pad(t, (0, 0, w - 1, 0)).unfold(2, w, 1) for t in (k, v))
        s = torch.einsum("bhtd,bhtdw->bhtw", q, k) / 2
        return self.out(merge(torch.einsum("bhtw,bhtdw->bhtd", s.softmax(-1), v)))


add(UnfoldUnmasked, 16, 10, window=4)


class GateByMean(CachedBase):
    """wrong: the output gate of a causal layer is made from the mean of all tokens."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = self.split(x)
        y = merge(F.scaled_dot_product_attention(q, k, v, is_causal=True))
        return self.out(y * self.gate(x.mean(1, keepdim=True)).sigmoid())


add(GateByMean, 16, 8)


class ValueBiasUnread(nn.Module):
    """wrong: BEiT's separate q_bias and v_bias are joined as (q, 0, q), so that v_bias is never read."""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.num_heads = h
        self.qkv, self.proj = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)
        self.q_bias, self.v_bias = nn.Parameter(torch.randn(d) * 0.2), nn.Parameter(torch.randn(d) * 0.2)

    def forward(self, x):
        b = torch.cat((self.q_bias, torch.zeros_like(self.v_bias), self.q_bias))
        q, k, v = (heads_of(t, 4) for t in F.linear(x, self.qkv.weight, b).chunk(3, -1))
        return self.proj(merge(F.scaled_dot_product_attention(q, k, v)))


add(ValueBiasUnread, 16, 8, causal=False)


class BatchWideMaximum(CachedBase):
    """wrong: queries are divided by their largest absolute number in the whole batch, so that sequences change each other."""

    def forward(self, x):
        q, k, v = self.split(x)
        q = q / q.abs().amax().clamp(min=1.0)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v)))


add(BatchWideMaximum, 16, 8, causal=False)


class ZeroRowsAsPadding(CachedBase):
    """wrong: padding is guessed by x.sum(-1) <= 0 where x.abs().sum(-1) == 0 is meant, so that half of the tokens are hidden."""

    def forward(self, x):
        q, k, v = self.split(x)
        pad = x.sum(-1) <= 0
        s = (q @ k.mT / 2).masked_fill(pad[:, None, None], torch.finfo(x.dtype).min)
        return self.out(merge(s.softmax(-1) @ v))


add(ZeroRowsAsPadding, 16, 8, causal=False)


class PadOuterProduct(CachedBase):
    """wrong: the padding mask is the outer product of queries' and keys' masks filled with -inf, so that padded rows are NaN."""

    def forward(self, x, real=None):
        q, k, v = self.split(x)
        s = q @ k.mT / 2
        if real is not None:
            s = s.masked_fill(~(real[:, None, :, None] & real[:, None, None]), -torch.inf)
        return self.out(merge(s.softmax(-1) @ v))


add(PadOuterProduct, 16, 8, causal=False, padding=pad_real)


class WindowOnlyInTraining(CachedBase):
    """wrong: the window of 4 is put on in train mode only; eval mode sees the whole past."""

    def forward(self, x):
        q, k, v = self.split(x)
        T = x.size(1)
        ok = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        if self.training:
            ok = ok & ~ok.tril(-4)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))


add(WindowOnlyInTraining, 16, 10, window=4)


class WindowOnlyInEval(CachedBase):
    """wrong: the window of 4 is put on in eval mode only; train mode sees the whole past."""

    def forward(self, x):
        q, k, v = self.split(x)
        T = x.size(1)
        ok = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        if not self.training:
            ok = ok & ~ok.tril(-4)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))


add(WindowOnlyInEval, 16, 10, window=4)


class PadOnlyInEval(CachedBase):
    """wrong: train mode's path by hand, taken for dropout, ignores the padding mask."""

    def forward(self, x, real=None):
        q, k, v = self.split(x)
        if self.training:
            w = F.dropout((q @ k.mT / 2).softmax(-1), 0.1)
            return self.out(merge(w @ v))
        ok = None if real is None else real[:, None, None]
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))


add(PadOnlyInEval, 16, 8, causal=False, padding=pad_real, dropout=0.1)


class SkippedBlock(CachedBase):
    """wrong: a block-wise path for keys drops the last block where T is no multiple of 4, so that the last tokens are never read."""

    def forward(self, x):
        q, k, v = self.split(x)
        n = max(x.size(1) // 4 * 4, min(x.size(1), 4))
        w = (q @ k[:, :, :n].mT / 2).softmax(-1)
        return self.out(merge(w @ v[:, :, :n]))


add(SkippedBlock, 16, 10, causal=False)
