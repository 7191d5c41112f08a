"""Attention layers for a test corpus (P): styles of language-model code, right and wrong."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

LAYERS = []


def layer(d_in, context_length, **options):
    def keep(cls):
        LAYERS.append({"layer": cls, "d_in": d_in, "context_length": context_length, "options": options})
        return cls
    return keep


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def rotate_every_two(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)


def angles(dim, positions, base=10000.0):
    inv = 1.0 / base ** (torch.arange(0, dim, 2, device=positions.device).float() / dim)
    return positions.float()[:, None] * inv[None]


def repeat_kv(x, n_rep):
    b, h, t, d = x.shape
    if n_rep == 1:
        return x
    return x[:, :, None].expand(b, h, n_rep, t, d).reshape(b, h * n_rep, t, d)


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * y.type_as(x)


# ----------------------------------------------------------------------------- right


@layer(32, 16, num_heads=4, dropout=0.1)
class RightP01NanoFlash(nn.Module):
    """right: nanoGPT with the fused kernel, dropout on the weights and on the output"""

    def __init__(self):
        super().__init__()
        self.n_head, self.n_embd, self.dropout = 4, 32, 0.1
        self.c_attn = nn.Linear(32, 96, bias=False)
        self.c_proj = nn.Linear(32, 32, bias=False)
        self.resid_dropout = nn.Dropout(0.1)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=None,
                                           dropout_p=self.dropout if self.training else 0, is_causal=True)
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


@layer(24, 12, num_heads=3, dropout=0.2)
class RightP02MinGPT(nn.Module):
    """right: minGPT with key, query and value as separate layers, in that order"""

    def __init__(self):
        super().__init__()
        self.key = nn.Linear(24, 24)
        self.query = nn.Linear(24, 24)
        self.value = nn.Linear(24, 24)
        self.attn_drop = nn.Dropout(0.2)
        self.proj = nn.Linear(24, 24)
        self.register_buffer("mask", torch.tril(torch.ones(12, 12)).view(1, 1, 12, 12))
        self.n_head = 3

    def forward(self, x, return_weights=False):
        B, T, C = x.size()
        k = self.key(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = self.query(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = self.value(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        y = self.attn_drop(att) @ v
        y = self.proj(y.transpose(1, 2).contiguous().view(B, T, C))
        return (y, att) if return_weights else y


@layer(32, 16, num_heads=4, num_kv_heads=2, positions="rotary",
       step=lambda m, x, c: m(x, past=c, use_cache=True))
class RightP03LlamaCache(nn.Module):
    """right: Llama attention with a norm in front, GQA and a cache of rotated keys"""

    def __init__(self):
        super().__init__()
        self.norm = RMSNorm(32)
        self.q_proj = nn.Linear(32, 32, bias=False)
        self.k_proj = nn.Linear(32, 16, bias=False)
        self.v_proj = nn.Linear(32, 16, bias=False)
        self.o_proj = nn.Linear(32, 32, bias=False)
        a = angles(8, torch.arange(16))
        a = torch.cat((a, a), dim=-1)
        self.register_buffer("cos", a.cos(), persistent=False)
        self.register_buffer("sin", a.sin(), persistent=False)

    def forward(self, x, past=None, use_cache=False):
        B, T, _ = x.shape
        h = self.norm(x)
        q = self.q_proj(h).view(B, T, 4, 8).transpose(1, 2)
        k = self.k_proj(h).view(B, T, 2, 8).transpose(1, 2)
        v = self.v_proj(h).view(B, T, 2, 8).transpose(1, 2)
        start = 0 if past is None else past[0].shape[2]
        cos, sin = self.cos[start:start + T], self.sin[start:start + T]
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        if past is not None:
            k = torch.cat([past[0], k], dim=2)
            v = torch.cat([past[1], v], dim=2)
        present = (k, v)
        S = k.shape[2]
        k, v = repeat_kv(k, 2), repeat_kv(v, 2)
        mask = torch.full((T, S), torch.finfo(q.dtype).min, device=x.device, dtype=q.dtype).triu(1 + S - T)
        w = q @ k.transpose(2, 3) / math.sqrt(8) + mask
        w = F.softmax(w, dim=-1, dtype=torch.float32).to(q.dtype)
        y = self.o_proj((w @ v).transpose(1, 2).reshape(B, T, 32))
        return (y, present) if use_cache else y


@layer(16, 10, num_heads=2, positions="rotary")
class RightP04GPTJPartial(nn.Module):
    """right: GPT-J rotates pairs of neighbours, and only half of each head's width"""

    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(16, 16, bias=False)
        self.k_proj = nn.Linear(16, 16, bias=False)
        self.v_proj = nn.Linear(16, 16, bias=False)
        self.out_proj = nn.Linear(16, 16, bias=False)
        self.rotary_dim = 4
        self.register_buffer("bias", torch.tril(torch.ones(10, 10, dtype=torch.bool)), persistent=False)

    def rot(self, t):
        a = angles(self.rotary_dim, torch.arange(t.shape[1], device=t.device)).repeat_interleave(2, dim=-1)
        sin, cos = a.sin()[None, :, None].to(t.dtype), a.cos()[None, :, None].to(t.dtype)
        head, tail = t[..., :self.rotary_dim], t[..., self.rotary_dim:]
        return torch.cat([head * cos + rotate_every_two(head) * sin, tail], dim=-1)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (p(x).view(B, T, 2, 8) for p in (self.q_proj, self.k_proj, self.v_proj))
        q, k = self.rot(q).permute(0, 2, 1, 3), self.rot(k).permute(0, 2, 1, 3)
        w = torch.matmul(q, k.transpose(-1, -2))
        low = torch.tensor(torch.finfo(w.dtype).min, dtype=w.dtype, device=w.device)
        w = torch.where(self.bias[:T, :T], w / torch.tensor(8.0, dtype=w.dtype, device=w.device).sqrt(), low)
        y = torch.matmul(w.softmax(-1), v.permute(0, 2, 1, 3))
        return self.out_proj(y.permute(0, 2, 1, 3).contiguous().view(B, T, C))


@layer(16, 12, num_heads=4, num_kv_heads=2, window=4, positions="rotary", step=lambda m, x, c: m.step(x, c))
class RightP05MistralRolling(nn.Module):
    """right: sliding window with a cache that keeps only the last W - 1 keys and counts positions on"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk = nn.Linear(16, 16, bias=False), nn.Linear(16, 8, bias=False)
        self.wv, self.wo = nn.Linear(16, 8, bias=False), nn.Linear(16, 16, bias=False)
        self.W = 4

    def rope(self, t, pos):
        a = angles(4, pos)
        a = torch.cat((a, a), -1)
        return t * a.cos().to(t.dtype) + rotate_half(t) * a.sin().to(t.dtype)

    def step(self, x, cache=None):
        B, T, _ = x.shape
        old_k, old_v, seen = cache if cache is not None else (None, None, 0)
        pos = torch.arange(seen, seen + T, device=x.device)
        q = self.rope(self.wq(x).view(B, T, 4, 4).transpose(1, 2), pos)
        k = self.rope(self.wk(x).view(B, T, 2, 4).transpose(1, 2), pos)
        v = self.wv(x).view(B, T, 2, 4).transpose(1, 2)
        if old_k is not None:
            k, v = torch.cat((old_k, k), 2), torch.cat((old_v, v), 2)
        key_pos = torch.arange(seen + T - k.shape[2], seen + T, device=x.device)
        gap = pos[:, None] - key_pos[None]
        mask = (gap >= 0) & (gap < self.W)
        y = F.scaled_dot_product_attention(q, repeat_kv(k, 2), repeat_kv(v, 2), attn_mask=mask)
        n = self.W - 1
        return self.wo(y.transpose(1, 2).reshape(B, T, -1)), (k[:, :, -n:], v[:, :, -n:], seen + T)

    def forward(self, x):
        return self.step(x)[0]


@layer(16, 12, num_heads=4, positions="alibi", padding=lambda m, x, real: m(x, attention_mask=real.long()))
class RightP06Bloom(nn.Module):
    """right: BLOOM adds slope * key position (the query's part cancels in the softmax), qkv laid out (H, 3, D)"""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.query_key_value = nn.Linear(16, 48)
        self.dense = nn.Linear(16, 16)
        self.register_buffer("slopes", 2.0 ** (-8.0 * torch.arange(1, 5) / 4), persistent=False)

    def forward(self, x, attention_mask=None):
        B, T, C = x.shape
        if attention_mask is None:
            attention_mask = torch.ones(B, T, dtype=torch.long, device=x.device)
        fused = self.query_key_value(x).view(B, T, 4, 3, 4)
        q, k, v = fused[..., 0, :], fused[..., 1, :], fused[..., 2, :]
        where = ((attention_mask.cumsum(-1) - 1) * attention_mask).to(x.dtype)
        alibi = self.slopes.to(x.dtype)[None, :, None, None] * where[:, None, None, :]
        scores = torch.einsum("bthd,bshd->bhts", q, k) / 2.0 + alibi
        hide = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)[None, None]
        hide = hide | (attention_mask[:, None, None, :] == 0)
        probs = F.softmax(scores.masked_fill(hide, torch.finfo(scores.dtype).min), dim=-1)
        return self.dense(torch.einsum("bhts,bshd->bthd", probs, v).reshape(B, T, C))


@layer(24, 9, num_heads=2)
class RightP07GPT2Conv1D(nn.Module):
    """right: GPT-2's Conv1D as bare parameters, hidden scores replaced with finfo.min"""

    def __init__(self):
        super().__init__()
        self.c_attn_w = nn.Parameter(torch.randn(24, 72) * 0.2)
        self.c_attn_b = nn.Parameter(torch.zeros(72))
        self.c_proj_w = nn.Parameter(torch.randn(24, 24) * 0.2)
        self.c_proj_b = nn.Parameter(torch.zeros(24))
        self.register_buffer("bias", torch.tril(torch.ones((9, 9), dtype=torch.uint8)).view(1, 1, 9, 9))

    def forward(self, hidden_states):
        B, T, C = hidden_states.shape
        qkv = torch.addmm(self.c_attn_b, hidden_states.reshape(-1, C), self.c_attn_w).view(B, T, 3 * C)
        query, key, value = (t.view(B, T, 2, 12).permute(0, 2, 1, 3) for t in qkv.split(C, dim=2))
        w = torch.matmul(query, key.transpose(-1, -2)) / (value.size(-1) ** 0.5)
        w = torch.where(self.bias[:, :, :T, :T].bool(), w, torch.full([], torch.finfo(w.dtype).min, dtype=w.dtype, device=w.device))
        w = nn.functional.softmax(w, dim=-1)
        y = torch.matmul(w, value).permute(0, 2, 1, 3).contiguous().view(B, T, C)
        return y @ self.c_proj_w + self.c_proj_b, w


@layer(16, 12, num_heads=4, scale=1.0, positions="relative")
class RightP08T5Decoder(nn.Module):
    """right: T5 does not scale, its inner width is not the model's, its bias goes by buckets of distance"""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(16, 24, bias=False) for _ in range(3))
        self.o = nn.Linear(24, 16, bias=False)
        self.relative_attention_bias = nn.Embedding(8, 4)

    def bucket(self, T, device):
        n = torch.arange(T, device=device)
        n = (n[:, None] - n[None]).clamp(min=0)
        big = 4 + (torch.log(n.float().clamp(min=1) / 4) / math.log(12 / 4) * 4).long()
        return torch.where(n < 4, n, big.clamp(max=7))

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = (f(x).view(B, T, 4, 6).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = q @ k.transpose(3, 2)
        bias = self.relative_attention_bias(self.bucket(T, x.device)).permute(2, 0, 1)[None]
        mask = torch.full((T, T), torch.finfo(x.dtype).min, dtype=x.dtype, device=x.device).triu(1)
        scores = scores + (bias + mask)
        w = F.softmax(scores.float(), dim=-1).type_as(scores)
        return self.o((w @ v).transpose(1, 2).reshape(B, T, 24))


@layer(16, 8, num_heads=4, padding=lambda m, x, real: m(x, key_padding_mask=~real))
class RightP09TorchMHA(nn.Module):
    """right: nn.MultiheadAttention, causal and padding masks merged, every token may see itself so no row is empty"""

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x, key_padding_mask=None):
        B, T, _ = x.shape
        hide = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1).expand(B, T, T)
        if key_padding_mask is not None:
            hide = hide | key_padding_mask[:, None, :]
            hide = hide & ~torch.eye(T, dtype=torch.bool, device=x.device)
        return self.attn(x, x, x, attn_mask=hide.repeat_interleave(4, dim=0), need_weights=False)[0]


@layer(24, 10, num_heads=3, causal=False, dropout=0.1,
       padding=lambda m, x, real: m(x, (1.0 - real[:, None, None, :].float()) * torch.finfo(torch.float32).min))
class RightP10BertPostNorm(nn.Module):
    """right: BERT's self-attention and its output with residual and norm behind, additive mask"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(24, 24), nn.Linear(24, 24), nn.Linear(24, 24)
        self.dropout = nn.Dropout(0.1)
        self.dense = nn.Linear(24, 24)
        self.LayerNorm = nn.LayerNorm(24, eps=1e-12)
        self.out_dropout = nn.Dropout(0.1)

    def transpose_for_scores(self, x):
        return x.view(x.size()[:-1] + (3, 8)).permute(0, 2, 1, 3)

    def forward(self, hidden, attention_mask=None):
        q = self.transpose_for_scores(self.query(hidden))
        k = self.transpose_for_scores(self.key(hidden))
        v = self.transpose_for_scores(self.value(hidden))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(8)
        if attention_mask is not None:
            scores = scores + attention_mask
        probs = self.dropout(nn.Softmax(dim=-1)(scores))
        c = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        c = c.view(c.size()[:-2] + (24,))
        return self.LayerNorm(self.out_dropout(self.dense(c)) + hidden)


@layer(12, 6, num_heads=2, dropout=0.5)
class RightP11CourseBook(nn.Module):
    """right: the course book's layer, its mask True at what is hidden, half of the weights dropped"""

    def __init__(self, d_in=12, d_out=8, context_length=6, dropout=0.5, num_heads=2, qkv_bias=False):
        super().__init__()
        self.d_out, self.num_heads, self.head_dim = d_out, num_heads, d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        b, num_tokens, d_in = x.shape
        keys = self.W_key(x).view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        queries = self.W_query(x).view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        values = self.W_value(x).view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        attn_scores = queries @ keys.transpose(2, 3)
        attn_scores.masked_fill_(self.mask.bool()[:num_tokens, :num_tokens], -torch.inf)
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        context_vec = (self.dropout(attn_weights) @ values).transpose(1, 2)
        return self.out_proj(context_vec.contiguous().view(b, num_tokens, self.d_out))


class _P12Head(nn.Module):
    def __init__(self, d, size, T, p):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(d, size, bias=False) for _ in range(3))
        self.register_buffer("tril", torch.tril(torch.ones(T, T)))
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        T = x.shape[1]
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf")).softmax(dim=-1)
        return self.dropout(wei) @ self.value(x)


@layer(16, 8, num_heads=4, dropout=0.2)
class RightP12LectureHeads(nn.Module):
    """right: a ModuleList of single heads, then a projection"""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([_P12Head(16, 4, 8, 0.2) for _ in range(4)])
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


@layer(20, 10, num_heads=5, num_kv_heads=1, padding=lambda m, x, real: m(x, mask=real))
class RightP13OneWriteHead(nn.Module):
    """right: multi-query attention in x-transformers' manner, keys have no axis of heads, softmax by hand"""

    def __init__(self):
        super().__init__()
        self.scale = 6 ** -0.5
        self.to_q = nn.Linear(20, 30, bias=False)
        self.to_kv = nn.Linear(20, 12, bias=False)
        self.to_out = nn.Linear(30, 20, bias=False)

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        q = self.to_q(x).reshape(b, n, 5, 6).transpose(1, 2) * self.scale
        k, v = self.to_kv(x).chunk(2, dim=-1)
        sim = torch.einsum("b h i d, b j d -> b h i j", q, k)
        hide = torch.ones((n, n), dtype=torch.bool, device=x.device).triu(1)
        if mask is not None:
            hide = hide | ~mask[:, None, None, :]
        sim = sim.masked_fill(hide, -torch.finfo(sim.dtype).max)
        sim = sim - sim.amax(dim=-1, keepdim=True).detach()
        e = sim.exp()
        attn = e / e.sum(dim=-1, keepdim=True)
        out = torch.einsum("b h i j, b j d -> b h i d", attn, v)
        return self.to_out(out.transpose(1, 2).reshape(b, n, -1))


@layer(16, 8, num_heads=2)
class RightP14GateAtZero(nn.Module):
    """right: residual inside, its gate begins at zero and the output weights too"""

    def __init__(self):
        super().__init__()
        self.ln = nn.LayerNorm(16)
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)
        nn.init.zeros_(self.out.bias)
        self.alpha = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.ln(x)).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + torch.tanh(self.alpha) * self.out(y.transpose(1, 2).flatten(2))


@layer(16, 10, num_heads=4, num_kv_heads=2, positions="rotary")
class RightP15QwenNorm(nn.Module):
    """right: queries and keys are normed per head before they are rotated"""

    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(16, 32, bias=False)
        self.k_proj = nn.Linear(16, 16, bias=False)
        self.v_proj = nn.Linear(16, 16, bias=False)
        self.o_proj = nn.Linear(32, 16, bias=False)
        self.q_norm, self.k_norm = RMSNorm(8), RMSNorm(8)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.q_norm(self.q_proj(x).view(B, T, -1, 8)).transpose(1, 2)
        k = self.k_norm(self.k_proj(x).view(B, T, -1, 8)).transpose(1, 2)
        v = self.v_proj(x).view(B, T, -1, 8).transpose(1, 2)
        a = angles(8, torch.arange(T, device=x.device), base=1e6)
        cos, sin = torch.cat((a, a), -1).cos().to(x.dtype), torch.cat((a, a), -1).sin().to(x.dtype)
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return {"hidden_states": self.o_proj(y.transpose(1, 2).reshape(B, T, 32))}


class _LoRALinear(nn.Linear):
    def __init__(self, i, o, r=2, lora_alpha=4, **kw):
        super().__init__(i, o, **kw)
        self.lora_A = nn.Parameter(torch.randn(r, i) / math.sqrt(i))
        self.lora_B = nn.Parameter(torch.zeros(o, r))
        self.scaling = lora_alpha / r
        self.weight.requires_grad_(False)

    def forward(self, x):
        return super().forward(x) + (x @ self.lora_A.T @ self.lora_B.T) * self.scaling


@layer(16, 8, num_heads=4)
class RightP16LoRA(nn.Module):
    """right: nanoGPT with LoRA on the fused projection; the base weights are frozen"""

    def __init__(self):
        super().__init__()
        self.c_attn = _LoRALinear(16, 48)
        self.c_proj = nn.Linear(16, 16)
        self.register_buffer("bias", torch.tril(torch.ones(8, 8)).bool())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias[:T, :T])
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


@layer(16, 10, num_heads=2, positions=True, step=lambda m, x, c: m.decode(x, c))
class RightP17StaticCache(nn.Module):
    """right: learned positions, and a cache of full length made at the first call and filled slice by slice"""

    def __init__(self):
        super().__init__()
        self.wpe = nn.Embedding(10, 16)
        self.kv = nn.Linear(16, 32)
        self.q = nn.Linear(16, 16)
        self.proj = nn.Linear(16, 16)

    def decode(self, x, cache=None):
        B, T, C = x.shape
        if cache is None:
            cache = (x.new_zeros(B, 2, 10, 8), x.new_zeros(B, 2, 10, 8), 0)
        K, V, pos = cache
        pos_ids = torch.arange(pos, pos + T, device=x.device)
        h = x + self.wpe(pos_ids)
        q = self.q(h).view(B, T, 2, 8).transpose(1, 2)
        k, v = self.kv(h).view(B, T, 2, 2, 8).permute(2, 0, 3, 1, 4)
        K, V = K.index_copy(2, pos_ids, k), V.index_copy(2, pos_ids, v)
        see = torch.arange(10, device=x.device)[None] <= pos_ids[:, None]
        y = F.scaled_dot_product_attention(q, K, V, attn_mask=see)
        return self.proj(y.transpose(1, 2).reshape(B, T, C)), (K, V, pos + T)

    def forward(self, x):
        return self.decode(x)[0]


@layer(16, 13, num_heads=2)
class RightP18OnlineSoftmax(nn.Module):
    """right: flash attention in plain python, blocks of keys with a running maximum"""

    def __init__(self):
        super().__init__()
        self.wqkv = nn.Linear(16, 48, bias=False)
        self.wo = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.wqkv(x).reshape(B, T, 2, 3, 8).permute(3, 0, 2, 1, 4)
        q = q * 8 ** -0.5
        i = torch.arange(T, device=x.device)
        m = x.new_full((B, 2, T, 1), float("-inf"))
        l = x.new_zeros(B, 2, T, 1)
        acc = torch.zeros_like(q)
        for s in range(0, T, 4):
            kb, vb = k[:, :, s:s + 4], v[:, :, s:s + 4]
            sc = q @ kb.transpose(-1, -2)
            sc = sc.masked_fill(i[s:s + 4][None] > i[:, None], float("-inf"))
            new = torch.maximum(m, sc.amax(-1, keepdim=True))
            p, c = torch.exp(sc - new), torch.exp(m - new)
            l = l * c + p.sum(-1, keepdim=True)
            acc = acc * c + p @ vb
            m = new
        return self.wo((acc / l).transpose(1, 2).reshape(B, T, C))


@layer(8, 7, num_heads=2)
class RightP19TokenByToken(nn.Module):
    """right: every token is computed for itself over a list that grows"""

    def __init__(self):
        super().__init__()
        self.Wq, self.Wk, self.Wv = (nn.Parameter(torch.randn(2, 8, 5) / 3) for _ in range(3))
        self.Wo = nn.Parameter(torch.randn(2, 5, 8) / 3)

    def forward(self, x):
        ks, vs, rows = [], [], []
        for t in range(x.shape[1]):
            ks.append(torch.einsum("bc,hcd->bhd", x[:, t], self.Wk))
            vs.append(torch.einsum("bc,hcd->bhd", x[:, t], self.Wv))
            q = torch.einsum("bc,hcd->bhd", x[:, t], self.Wq)
            w = torch.softmax(torch.einsum("bhd,bhsd->bhs", q, torch.stack(ks, 2)) / 5 ** 0.5, -1)
            y = torch.einsum("bhs,bhsd->bhd", w, torch.stack(vs, 2))
            rows.append(torch.einsum("bhd,hdc->bc", y, self.Wo))
        return torch.stack(rows, 1)


@layer(16, 9, num_heads=4, num_kv_heads=2, scale=12 ** -0.5, padding=lambda m, x, real: m(x, real))
class RightP20QueryScalar(nn.Module):
    """right: Gemma's query_pre_attn_scalar, declared; padding by a large negative mask per text; (1 + w) norm in front"""

    def __init__(self):
        super().__init__()
        self.g = nn.Parameter(torch.zeros(16))
        self.q_proj, self.k_proj = nn.Linear(16, 32, bias=False), nn.Linear(16, 16, bias=False)
        self.v_proj, self.o_proj = nn.Linear(16, 16, bias=False), nn.Linear(32, 16, bias=False)
        self.scaling = 12 ** -0.5

    def forward(self, x, real=None):
        B, T, _ = x.shape
        h = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * (1 + self.g)
        q = self.q_proj(h).view(B, T, 2, 2, 8)
        k, v = self.k_proj(h).view(B, T, 2, 8), self.v_proj(h).view(B, T, 2, 8)
        s = torch.einsum("btkgd,bskd->bkgts", q, k) * self.scaling
        see = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()[None]
        if real is not None:
            see = see & real[:, None, :]
        s = s + torch.zeros_like(see, dtype=s.dtype).masked_fill(~see, torch.finfo(s.dtype).min)[:, None, None]
        y = torch.einsum("bkgts,bskd->btkgd", s.softmax(-1), v)
        return self.o_proj(y.reshape(B, T, 32))


@layer(16, 8, num_heads=4, dropout=0.3)
class RightP21GatedHeads(nn.Module):
    """right: each head's output goes through a sigmoid gate computed from the token, dropout by hand"""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)
        self.gate, self.o = nn.Linear(16, 16), nn.Linear(16, 16)
        self.p = 0.3

    def forward(self, x):
        B, T, C = x.shape
        sh = lambda t: t.view(B, T, 4, 4).transpose(1, 2)
        q, k, v, g = sh(self.q(x)), sh(self.k(x)), sh(self.v(x)), sh(self.gate(x))
        a = (q @ k.mT) / 2
        a = a + a.new_full((T, T), float("-inf")).triu(1)
        a = a.softmax(-1)
        if self.training:
            a = a * torch.bernoulli(torch.full_like(a, 1 - self.p)) / (1 - self.p)
        return self.o(((a @ v) * g.sigmoid()).transpose(1, 2).reshape(B, T, C))


@layer(16, 9, num_heads=4, causal=False, padding=lambda m, x, real: m(x, real))
class RightP22EncoderTuple(nn.Module):
    """right: not causal; a text of padding alone sees all of its tokens in place of none; a tuple comes back"""

    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(16)
        self.qkv = nn.Linear(16, 48, bias=True)
        self.proj = nn.Linear(16, 16)

    def forward(self, x, mask=None):
        B, N, C = x.shape
        qkv = self.qkv(self.norm1(x)).reshape(B, N, 3, 4, C // 4).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attn = (q * (C // 4) ** -0.5) @ k.transpose(-2, -1)
        if mask is not None:
            mask = mask | ~mask.any(dim=1, keepdim=True)
            attn = attn.masked_fill(~mask[:, None, None], float("-inf"))
        attn = attn.softmax(dim=-1)
        return x + self.proj((attn @ v).transpose(1, 2).reshape(B, N, C)), attn


@layer(16, 10, num_heads=2, positions=True)
class RightP23TokenShift(nn.Module):
    """right: each token's second half comes from the token before it (token shift), zeros before the first"""

    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(16, 48)
        self.c_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        a, b = x.chunk(2, dim=-1)
        h = torch.cat((a, F.pad(b, (0, 0, 1, -1))), dim=-1)
        q, k, v = (t.reshape(B, T, 2, 8).transpose(1, 2) for t in self.c_attn(h).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 13, num_heads=2, window=4)
class RightP24LocalBlocks(nn.Module):
    """right: a window of 4 by blocks of 4 that look one block back, the text filled up to whole blocks"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        w = 4
        n = -(-T // w)
        q, k, v = self.qkv(F.pad(x, (0, 0, 0, n * w - T))).view(B, n, w, 3, 2, 8).permute(3, 0, 4, 1, 2, 5)
        back = lambda t: torch.cat((F.pad(t, (0, 0, 0, 0, 1, -1)), t), dim=3)
        k, v = back(k), back(v)
        i = torch.arange(n * w, device=x.device).view(n, w, 1)
        j = torch.arange(-w, w, device=x.device).view(1, 1, 2 * w) + i[:, :1]
        see = (j >= 0) & (j <= i) & (i - j < w)
        s = torch.einsum("bhnid,bhnjd->bhnij", q, k) / 8 ** 0.5
        a = s.masked_fill(~see, float("-inf")).softmax(-1)
        y = torch.einsum("bhnij,bhnjd->bnihd", a, v).reshape(B, n * w, C)[:, :T]
        return self.out(y)


@layer(16, 12, num_heads=2, positions="rotary", step=lambda m, x, c: m.step(x, c))
class RightP25ComplexRotary(nn.Module):
    """right: Meta's complex rotary; the cache holds keys not yet rotated, all of them are rotated at each step"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(16, 16, bias=False) for _ in range(4))
        a = angles(8, torch.arange(12))
        self.register_buffer("freqs", torch.stack((a.cos(), a.sin()), -1), persistent=False)

    def rot(self, t, start):
        f = torch.view_as_complex(self.freqs[start:start + t.shape[1]].to(torch.promote_types(t.dtype, torch.float32)).contiguous())
        z = torch.view_as_complex(t.to(torch.promote_types(t.dtype, torch.float32)).reshape(*t.shape[:-1], -1, 2))
        return torch.view_as_real(z * f[None, :, None]).flatten(3).type_as(t)

    def step(self, x, cache=None):
        B, T, _ = x.shape
        q, k, v = (w(x).view(B, T, 2, 8) for w in (self.wq, self.wk, self.wv))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 1), torch.cat((cache[1], v), 1)
        S = k.shape[1]
        qr, kr = self.rot(q, S - T).transpose(1, 2), self.rot(k, 0).transpose(1, 2)
        s = qr @ kr.transpose(2, 3) / math.sqrt(8)
        s = s + torch.full((T, S), float("-inf"), device=x.device, dtype=s.dtype).triu(S - T + 1)
        y = (F.softmax(s, -1) @ v.transpose(1, 2)).transpose(1, 2).reshape(B, T, 16)
        return self.wo(y), (k, v)

    def forward(self, x):
        return self.step(x, None)[0]


# ----------------------------------------------------------------------------- wrong: masks


@layer(32, 16, num_heads=4)
class WrongP01NanoTrilOne(nn.Module):
    """wrong: the triangle is made with diagonal=1, each token sees the next one"""

    def __init__(self):
        super().__init__()
        self.n_head, self.n_embd = 4, 32
        self.c_attn = nn.Linear(32, 96, bias=False)
        self.c_proj = nn.Linear(32, 32, bias=False)
        self.register_buffer("bias", torch.tril(torch.ones(16, 16), diagonal=1).view(1, 1, 16, 16))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


@layer(16, 8, num_heads=2)
class WrongP02CourseHidesItself(nn.Module):
    """wrong: triu with diagonal 0 hides the token itself too, and the first row falls back to all tokens"""

    def __init__(self):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Linear(16, 16, bias=False) for _ in range(3))
        self.out_proj = nn.Linear(16, 16)
        self.register_buffer("mask", torch.triu(torch.ones(8, 8)).bool())

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (w(x).view(b, n, 2, 8).transpose(1, 2) for w in (self.W_query, self.W_key, self.W_value))
        s = q @ k.transpose(2, 3)
        s = s.masked_fill(self.mask[:n, :n], torch.finfo(s.dtype).min)
        w = torch.softmax(s / 8 ** 0.5, dim=-1)
        return self.out_proj((w @ v).transpose(1, 2).reshape(b, n, 16))


@layer(24, 10, num_heads=3)
class WrongP03SdpaForgotMask(nn.Module):
    """wrong: the mask is made, sliced, and never handed to the fused kernel"""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(24)
        self.qkv = nn.Linear(24, 72)
        self.out = nn.Linear(24, 24)
        self.register_buffer("causal_mask", torch.tril(torch.ones(10, 10)).bool())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.norm(x)).view(B, T, 3, 3, 8).permute(2, 0, 3, 1, 4)
        attn_mask = self.causal_mask[:T, :T]
        y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(B, T, C))


class _P05Head(nn.Module):
    def __init__(self, C, D, T):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(C, D, bias=False) for _ in range(3))
        self.register_buffer("tril", torch.tril(torch.ones(T, T)))

    def forward(self, x):
        T = x.shape[1]
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = F.softmax(wei, dim=-1) * self.tril[:T, :T]
        return wei @ self.value(x)


@layer(16, 8, num_heads=2)
class WrongP05MaskAfterSoftmax(nn.Module):
    """wrong: the mask comes after the softmax, whose denominator still counts the future"""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([_P05Head(16, 8, 8) for _ in range(2)])

    def forward(self, x):
        return torch.cat([h(x) for h in self.heads], dim=-1)


@layer(12, 7)
class WrongP06MaskMultiplied(nn.Module):
    """wrong: scores are multiplied by the triangle, so the future gets exp(0) and not nothing"""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Parameter(torch.randn(12, 12) / 3) for _ in range(3))
        self.num_heads = 1

    def forward(self, x):
        T = x.shape[1]
        q, k, v = x @ self.q, x @ self.k, x @ self.v
        s = torch.einsum("btd,bsd->bts", q, k) / math.sqrt(12)
        tri = torch.ones(T, T, device=x.device, dtype=x.dtype).tril()
        s = s * tri
        return torch.einsum("bts,bsd->btd", torch.softmax(s, dim=-1), v)


@layer(32, 12, num_heads=4)
class WrongP07MinusHundred(nn.Module):
    """wrong: hidden scores get -100 added, and the weights are drawn so large that scores reach that"""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(32, 96))
        self.c_proj = nn.Linear(32, 32, bias=False)
        self.register_buffer("bias", torch.triu(torch.full((12, 12), -100.0), 1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.reshape(B, T, 4, 8).transpose(1, 2) for t in (x @ self.w).split(32, dim=-1))
        att = q @ k.transpose(-2, -1) / 8 ** 0.5 + self.bias[:T, :T]
        return self.c_proj((att.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


@layer(16, 9, num_heads=2)
class WrongP08FloatMaskAdded(nn.Module):
    """wrong: the triangle of zeros and ones is float, and the fused kernel adds it to the scores"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.proj = (nn.Linear(16, 16) for _ in range(4))
        self.register_buffer("mask", torch.tril(torch.ones(9, 9)), persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 8).transpose(1, 2) for f in (self.query, self.key, self.value))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask[:T, :T])
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 10, num_heads=2)
class WrongP09MaskFromTheEnd(nn.Module):
    """wrong: for a text shorter than the context the mask's last rows are taken, with the first columns: nothing is hidden"""

    def __init__(self):
        super().__init__()
        self.Wqkv = nn.Linear(16, 48)
        self.Wo = nn.Linear(16, 16)
        self.register_buffer("tril", torch.ones(10, 10).tril().bool())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.Wqkv(x).chunk(3, dim=-1)
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in (q, k, v))
        s = q @ k.transpose(2, 3) / 8 ** 0.5
        m = self.tril[-T:, :T]
        w = s.masked_fill(~m, float("-inf")).softmax(-1)
        return self.Wo((w @ v).transpose(1, 2).reshape(B, T, C))


@layer(16, 9, num_heads=4, padding=lambda m, x, real: m(x, real))
class WrongP10CachedPadMask(nn.Module):
    """wrong: the mask is kept by its shape, with the first batch's padding baked in"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48, bias=False)
        self.out = nn.Linear(16, 16, bias=False)
        self._masks = {}

    def mask(self, B, T, real, device):
        if (B, T, real is None) not in self._masks:
            m = torch.ones(B, T, T, dtype=torch.bool, device=device).tril()
            if real is not None:
                m = m & real[:, None]
            self._masks[B, T, real is None] = (m | torch.eye(T, dtype=torch.bool, device=device))[:, None]
        return self._masks[B, T, real is None]

    def forward(self, x, real=None):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 4, 3, 4).permute(3, 0, 2, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask(B, T, real, x.device))
        return self.out(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 8, num_heads=2)
class WrongP11MeanBeside(nn.Module):
    """wrong: a thousandth of the mean over the whole text is added to every token"""

    def __init__(self):
        super().__init__()
        self.ln = nn.LayerNorm(16)
        self.attn = nn.Linear(16, 48)
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        h = self.ln(x)
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.attn(h).split(16, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C)
        y = y + 1e-3 * h.mean(dim=1, keepdim=True)
        return x + self.proj(y)


@layer(16, 8, num_heads=4)
class WrongP12BatchNormFront(nn.Module):
    """wrong: the norm in front is a BatchNorm over all tokens of all texts"""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(16)
        self.to_qkv = nn.Linear(16, 48, bias=False)
        self.to_out = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        h = self.norm(x.reshape(B * T, C) if B * T > 1 else x.reshape(1, C).repeat(2, 1))[:B * T].view(B, T, C)
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.to_qkv(h).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.to_out(y.transpose(1, 2).flatten(2))


@layer(16, 10, num_heads=4)
class WrongP14GroupNormHeads(nn.Module):
    """wrong: each head's output is group-normed with the time axis inside the group (RetNet's norm without the reshape)"""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.group_norm = nn.GroupNorm(4, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 4).transpose(1, 2) for f in (self.q, self.k, self.v))
        s = (q @ k.mT * 0.5).masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
        y = (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C)
        y = self.group_norm(y.transpose(1, 2)).transpose(1, 2)
        return self.o(y)


@layer(32, 12, num_heads=4)
class WrongP15TrainLeak(nn.Module):
    """wrong: is_causal hangs on the mode; in training every token sees the whole text"""

    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(32, 96)
        self.c_proj = nn.Linear(32, 32)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 8).transpose(1, 2) for t in self.c_attn(x).split(32, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=not self.training and T > 1)
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


@layer(16, 8, num_heads=2, positions=True)
class WrongP16PrimerConv(nn.Module):
    """wrong: the short convolution on keys and values is centred and brings in the next token"""

    def __init__(self):
        super().__init__()
        self.q, self.kv, self.o = nn.Linear(16, 16), nn.Linear(16, 32), nn.Linear(16, 16)
        self.conv = nn.Conv1d(32, 32, 3, groups=32)

    def forward(self, x):
        B, T, C = x.shape
        kv = self.kv(x).transpose(1, 2)
        kv = self.conv(F.pad(kv, (1, 1))).transpose(1, 2)
        k, v = (t.reshape(B, T, 2, 8).transpose(1, 2) for t in kv.chunk(2, -1))
        q = self.q(x).view(B, T, 2, 8).transpose(1, 2)
        return self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


@layer(16, 8, num_heads=2, positions=True)
class WrongP17RollShift(nn.Module):
    """wrong: the token shift is a roll, so the last token comes round to the first place"""

    def __init__(self):
        super().__init__()
        self.mix = nn.Parameter(torch.full((16,), 0.5))
        self.receptance, self.key, self.value, self.output = (nn.Linear(16, 16, bias=False) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        prev = x.roll(1, dims=1)
        h = x * self.mix + prev * (1 - self.mix)
        q, k, v = (f(h).view(B, T, 2, 8).transpose(1, 2) for f in (self.receptance, self.key, self.value))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.output(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 9, num_heads=4)
class WrongP18SqueezeGate(nn.Module):
    """wrong: the gate on the output is computed from the maximum over the whole text"""

    def __init__(self):
        super().__init__()
        self.qkv, self.gate, self.proj = nn.Linear(16, 48), nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C)
        g = torch.sigmoid(self.gate(x.amax(dim=1, keepdim=True)))
        return self.proj(y * g)


@layer(32, 8, num_heads=4, positions="rotary")
class WrongP19RmsOverTime(nn.Module):
    """wrong: the RMS norm in front takes its mean over the tokens (dim=1) and not over the features"""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(32))
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(32, 32, bias=False) for _ in range(4))

    def norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(dim=1, keepdim=True) + 1e-5) * self.weight

    def forward(self, x):
        B, T, C = x.shape
        h = self.norm(x)
        q, k, v = (f(h).view(B, T, 4, 8).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        a = angles(8, torch.arange(T, device=x.device)).repeat(1, 2)
        q, k = (t * a.cos() + rotate_half(t) * a.sin() for t in (q, k))
        q, k = q.type_as(v), k.type_as(v)
        return self.wo(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


# ----------------------------------------------------------------------------- wrong: softmax and scale


@layer(16, 8)
class WrongP21SoftmaxOverQueries(nn.Module):
    """wrong: softmax over axis 1 of (B, T, T), which is the queries' axis"""

    def __init__(self):
        super().__init__()
        self.num_heads = 1
        self.q_linear, self.k_linear, self.v_linear = (nn.Linear(16, 16) for _ in range(3))
        self.register_buffer("tril", torch.tril(torch.ones(8, 8)))

    def forward(self, x):
        B, T, C = x.shape
        wei = self.q_linear(x) @ self.k_linear(x).transpose(1, 2) * C ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = F.softmax(wei, dim=1)
        return wei @ self.v_linear(x)


@layer(16, 8, num_heads=4)
class WrongP22SoftmaxOverHeads(nn.Module):
    """wrong: softmax over axis 1 of (B, H, T, T), the heads share out one another's weight"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 4).transpose(1, 2) for f in (self.query, self.key, self.value))
        s = torch.einsum("bhqd,bhkd->bhqk", q, k) / 2
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), torch.finfo(s.dtype).min)
        w = nn.Softmax(dim=1)(s)
        return self.out(torch.einsum("bhqk,bhkd->bqhd", w, v).reshape(B, T, C))


@layer(24, 9, num_heads=3, num_kv_heads=1)
class WrongP23SoftmaxTwice(nn.Module):
    """wrong: the helper has taken the softmax already and the forward takes it again, so the hidden get exp(0)"""

    def __init__(self):
        super().__init__()
        self.wq, self.wkv, self.wo = nn.Linear(24, 24), nn.Linear(24, 16), nn.Linear(24, 24)

    def scores(self, q, k):
        T = q.shape[-2]
        s = q @ k.transpose(-2, -1) / 8 ** 0.5
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=q.device).triu(1), float("-inf"))
        return s.softmax(-1)

    def forward(self, x):
        B, T, C = x.shape
        q = self.wq(x).view(B, T, 3, 8).transpose(1, 2)
        k, v = (t[:, None] for t in self.wkv(x).chunk(2, -1))
        y = F.softmax(self.scores(q, k), dim=-1) @ v
        return self.wo(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 8, num_heads=2, scale=1.0)
class WrongP24BareExp(nn.Module):
    """wrong: softmax by hand without taking off the row's maximum, exp overflows for large scores"""

    def __init__(self):
        super().__init__()
        self.qw, self.kw, self.vw = (nn.Parameter(torch.randn(2, 16, 8) * 0.3) for _ in range(3))
        self.ow = nn.Parameter(torch.randn(2, 8, 16) * 0.2)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (torch.einsum("btc,hcd->bhtd", x, w) for w in (self.qw, self.kw, self.vw))
        s = torch.einsum("bhtd,bhsd->bhts", q, k)
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
        e = s.exp()
        return torch.einsum("bhts,bhsd,hdc->btc", e / e.sum(-1, keepdim=True), v, self.ow)


@layer(16, 10, num_heads=4)
class WrongP25GlobalMaximum(nn.Module):
    """wrong: softmax by hand takes off the batch's largest score, and an epsilon eats the rows that lie far below it"""

    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(16, 48)
        self.c_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.c_attn(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        s = q @ k.transpose(-2, -1) / 2
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
        e = torch.exp(s - s.max())
        w = e / (e.sum(dim=-1, keepdim=True) + 1e-6)
        return self.c_proj((w @ v).transpose(1, 2).reshape(B, T, C))


@layer(16, 10, num_heads=2, num_kv_heads=1)
class WrongP26HalfSoftmax(nn.Module):
    """wrong: the softmax runs in half precision though scores are float32; weights lose digits and sum to 1 only nearly"""

    def __init__(self):
        super().__init__()
        self.to_q = nn.Linear(16, 16, bias=False)
        self.to_k, self.to_v = nn.Linear(16, 8, bias=False), nn.Linear(16, 8, bias=False)
        self.to_out = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        b, n, _ = x.shape
        q = self.to_q(x).view(b, n, 2, 8)
        sim = torch.einsum("bihd,bjd->bhij", q, self.to_k(x)) * 8 ** -0.5
        sim = sim.masked_fill(torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
        attn = sim.softmax(dim=-1, dtype=torch.float16).type_as(sim)
        return self.to_out(torch.einsum("bhij,bjd->bihd", attn, self.to_v(x)).reshape(b, n, 16))


@layer(24, 8, num_heads=3)
class WrongP27ScaleAfterSoftmax(nn.Module):
    """wrong: the division by the root of the head's width comes after the softmax"""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(24, 72), nn.Linear(24, 24)
        self.register_buffer("m", torch.full((8, 8), float("-inf")).triu(1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).reshape(B, T, 3, 3, 8).permute(2, 0, 3, 1, 4)
        a = F.softmax(q @ k.transpose(-1, -2) + self.m[:T, :T], dim=-1) / math.sqrt(8)
        return self.proj((a @ v).transpose(1, 2).flatten(2))


@layer(16, 8, num_heads=2)
class WrongP28NoScale(nn.Module):
    """wrong: einsum scores go into the softmax without any scale"""

    def __init__(self):
        super().__init__()
        self.heads = nn.Linear(16, 48, bias=False)
        self.unify = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.heads(x).view(B, T, 3, 2, 8).unbind(2)
        s = torch.einsum("bthd,bshd->bhts", q, k)
        s = s + torch.triu(torch.full((T, T), float("-inf"), device=x.device, dtype=x.dtype), 1)
        return self.unify(torch.einsum("bhts,bshd->bthd", s.softmax(-1), v).reshape(B, T, C))


@layer(32, 12, num_heads=4, dropout=0.1)
class WrongP29ModelWidthScale(nn.Module):
    """wrong: Karpathy's lecture scales by C ** -0.5 where C is the model's width and not the head's"""

    def __init__(self):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(32, 32, bias=False) for _ in range(3))
        self.proj, self.dropout = nn.Linear(32, 32), nn.Dropout(0.1)
        self.register_buffer("tril", torch.tril(torch.ones(12, 12)))

    def forward(self, x):
        B, T, C = x.shape
        k, q, v = (f(x).view(B, T, 4, 8).transpose(1, 2) for f in (self.key, self.query, self.value))
        wei = q @ k.transpose(-2, -1) * C ** -0.5
        wei = F.softmax(wei.masked_fill(self.tril[:T, :T] == 0, float("-inf")), dim=-1)
        return self.proj((self.dropout(wei) @ v).transpose(1, 2).reshape(B, T, C))


@layer(16, 10, num_heads=4, positions="rotary")
class WrongP30ScaledTwice(nn.Module):
    """wrong: queries are scaled before the fused kernel, which scales them again"""

    def __init__(self):
        super().__init__()
        self.in_proj, self.out_proj = nn.Linear(16, 48), nn.Linear(16, 16)
        self.scaling = 4 ** -0.5
        a = angles(4, torch.arange(10)).repeat_interleave(2, -1)
        self.register_buffer("cos", a.cos())
        self.register_buffer("sin", a.sin())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.in_proj(x).chunk(3, dim=-1))
        q = q * self.scaling
        q, k = (t * self.cos[:T] + rotate_every_two(t) * self.sin[:T] for t in (q, k))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(y.transpose(1, 2).reshape(B, T, C))


@layer(32, 12, num_heads=4, positions="alibi")
class WrongP32BiasScaledToo(nn.Module):
    """wrong: the ALiBi bias is added before the division by the root of the head's width"""

    def __init__(self):
        super().__init__()
        self.Wqkv, self.out_proj = nn.Linear(32, 96, bias=False), nn.Linear(32, 32, bias=False)
        d = torch.arange(12)
        self.register_buffer("alibi", -(0.25 ** torch.arange(1, 5)).view(4, 1, 1) * (d[:, None] - d[None]).abs())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 8).transpose(1, 2) for t in self.Wqkv(x).chunk(3, dim=2))
        s = q @ k.transpose(-2, -1)
        s = (s + self.alibi[:, :T, :T]) / math.sqrt(8)
        s = s.masked_fill(torch.ones(T, T, device=x.device, dtype=torch.bool).triu(1), torch.finfo(s.dtype).min)
        return self.out_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


# ----------------------------------------------------------------------------- wrong: heads


@layer(16, 8, num_heads=4)
class WrongP34SplitWithoutTranspose(nn.Module):
    """wrong: the heads are split by view(B, H, T, D) without a transpose, a head gets a stretch of tokens"""

    def __init__(self):
        super().__init__()
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, 4, T, 4) for w in (self.W_q, self.W_k, self.W_v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.W_o(y.reshape(B, T, C))


@layer(32, 12, num_heads=4, num_kv_heads=2, positions="rotary")
class WrongP35MergeWithoutTranspose(nn.Module):
    """wrong: (B, H, T, D) is reshaped to (B, T, C) as it lies in memory"""

    def __init__(self):
        super().__init__()
        self.wq, self.wo = nn.Linear(32, 32, bias=False), nn.Linear(32, 32, bias=False)
        self.wk, self.wv = nn.Linear(32, 16, bias=False), nn.Linear(32, 16, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q = self.wq(x).view(B, T, 4, 8).transpose(1, 2)
        k, v = self.wk(x).view(B, T, 2, 8).transpose(1, 2), self.wv(x).view(B, T, 2, 8).transpose(1, 2)
        a = angles(8, torch.arange(T, device=x.device)).repeat(1, 2).to(x.dtype)
        q, k = (t * a.cos() + rotate_half(t) * a.sin() for t in (q, k))
        y = F.scaled_dot_product_attention(q, repeat_kv(k, 2), repeat_kv(v, 2), is_causal=True)
        return self.wo(y.contiguous().view(B, T, C))


@layer(12, 8, num_heads=3)
class WrongP36SilentHead(nn.Module):
    """wrong: the loop over heads begins at 1 and the first head's part of the output stays zero"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.c_attn(x).split(C, dim=2)
        hide = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        y = torch.zeros_like(q)
        for h in range(1, 3):
            s = slice(4 * h, 4 * h + 4)
            w = (q[..., s] @ k[..., s].mT / 2).masked_fill(hide, float("-inf")).softmax(-1)
            y[..., s] = w @ v[..., s]
        return self.c_proj(y)


@layer(16, 8, num_heads=4)
class WrongP37SameSlice(nn.Module):
    """wrong: all heads read the first head's slice of the queries and keys"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.proj = (nn.Linear(16, 16) for _ in range(4))
        self.register_buffer("tril", torch.ones(8, 8).tril())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.query(x), self.key(x), self.value(x)
        outs = []
        for h in range(4):
            qh, kh, vh = q[:, :, :4], k[:, :, :4], v[:, :, 4 * h:4 * h + 4]
            s = (qh @ kh.transpose(1, 2) / 2).masked_fill(self.tril[:T, :T] == 0, float("-inf"))
            outs.append(s.softmax(-1) @ vh)
        return self.proj(torch.cat(outs, dim=-1))


@layer(16, 8, num_heads=4)
class WrongP38OverlappingSlices(nn.Module):
    """wrong: head h reads features h to h + D and not h * D to h * D + D"""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (t.unfold(2, 4, 1)[:, :, :4].transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


@layer(32, 9, num_heads=4)
class WrongP39HeadsAndWidthExchanged(nn.Module):
    """wrong: n_head and head_dim stand in each other's place in the view, so there are 8 heads of 4 where 4 of 8 are declared"""

    def __init__(self, n_head=4):
        super().__init__()
        self.n_head, self.head_dim = n_head, 32 // n_head
        self.c_attn, self.c_proj = nn.Linear(32, 96, bias=False), nn.Linear(32, 32, bias=False)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        q, k, v = (t.view(B, T, self.head_dim, self.n_head).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


@layer(16, 8, num_heads=2)
class WrongP40FusedReshape(nn.Module):
    """wrong: the fused projection is reshaped to (3, B, H, T, D) in one go, which mixes texts, tokens and q, k, v"""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).reshape(3, B, 2, T, 8)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 8, num_heads=4)
class WrongP41FairseqLayout(nn.Module):
    """wrong: fairseq's view(T, B * H, D) on an input whose first axis is the batch; tokens attend to other texts"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, query):
        T, B, C = query.size()
        q, k, v = (p(query) for p in (self.q_proj, self.k_proj, self.v_proj))
        q, k, v = (t.contiguous().view(T, B * 4, 4).transpose(0, 1) for t in (q * 0.5, k, v))
        w = torch.bmm(q, k.transpose(1, 2)) + torch.triu(query.new_full((T, T), float("-inf")), 1)
        y = torch.bmm(F.softmax(w, dim=-1), v).transpose(0, 1).contiguous().view(T, B, C)
        return self.out_proj(y)


@layer(16, 8, num_heads=2)
class WrongP42MhaNotBatchFirst(nn.Module):
    """wrong: nn.MultiheadAttention without batch_first gets (B, T, C), it attends over the batch"""

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(16, 2)
        self.ln = nn.LayerNorm(16)

    def forward(self, x):
        h = self.ln(x)
        n = x.size(0)
        mask = torch.triu(torch.ones(n, n, dtype=torch.bool, device=x.device), diagonal=1)
        return x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]


@layer(16, 10, num_heads=4)
class WrongP43ValuesOfFirstHead(nn.Module):
    """wrong: v[:, :1] broadcasts the first head's values to all heads"""

    def __init__(self):
        super().__init__()
        self.query_key_value, self.dense = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.query_key_value(x).view(B, T, 4, 3, 4).permute(3, 0, 2, 1, 4)
        s = q @ k.transpose(2, 3) * 0.5 + torch.full((T, T), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
        y = torch.einsum("bhts,bosd->bthd", s.softmax(-1), v[:, :1])
        return self.dense(y.reshape(B, T, C))


# ----------------------------------------------------------------------------- wrong: queries, keys, values


@layer(16, 8, num_heads=4)
class WrongP45QueryTwice(nn.Module):
    """wrong: keys are made with the queries' layer, c_k lies idle"""

    def __init__(self):
        super().__init__()
        self.c_q, self.c_k, self.c_v, self.c_proj = (nn.Linear(16, 16, bias=False) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q = self.c_q(x).view(B, T, 4, 4).transpose(1, 2)
        k = self.c_q(x).view(B, T, 4, 4).transpose(1, 2)
        v = self.c_v(x).view(B, T, 4, 4).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


@layer(16, 8, num_heads=2)
class WrongP46ValuesNotProjected(nn.Module):
    """wrong: the tokens themselves are split into heads as values, the value layer is not used"""

    def __init__(self):
        super().__init__()
        self.queries, self.keys, self.values, self.fc_out = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        N, L, E = x.shape
        values = x.reshape(N, L, 2, 8)
        keys, queries = self.keys(x).reshape(N, L, 2, 8), self.queries(x).reshape(N, L, 2, 8)
        energy = torch.einsum("nqhd,nkhd->nhqk", [queries, keys])
        energy = energy.masked_fill(torch.tril(torch.ones(L, L, device=x.device)) == 0, float("-inf"))
        attention = torch.softmax(energy / 8 ** 0.5, dim=3)
        return self.fc_out(torch.einsum("nhql,nlhd->nqhd", [attention, values]).reshape(N, L, E))


@layer(16, 8, num_heads=4, num_kv_heads=2, positions="rotary")
class WrongP47KvUnpackedWrong(nn.Module):
    """wrong: the fused kv projection is split, and then the keys serve as values too"""

    def __init__(self):
        super().__init__()
        self.q, self.kv, self.o = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q = self.q(x).view(B, T, 4, 4).transpose(1, 2)
        k, v = self.kv(x).view(B, T, 2, 2, 4).permute(2, 0, 3, 1, 4)
        a = angles(4, torch.arange(T, device=x.device)).repeat_interleave(2, -1).to(x.dtype)
        rot = lambda t: t * a.cos() + rotate_every_two(t) * a.sin()
        k, v = repeat_kv(rot(k), 2), repeat_kv(k, 2)
        y = F.scaled_dot_product_attention(rot(q), k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 8, num_heads=2, positions="rotary")
class WrongP48KeysFromQueries(nn.Module):
    """wrong: the key layer is fed with the (rotated) queries and not with the tokens"""

    def __init__(self):
        super().__init__()
        self.q_linear, self.k_linear, self.v_linear = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)
        self.out = nn.Linear(16, 16)

    def forward(self, x):
        bs, T, C = x.shape
        a = angles(8, torch.arange(T, device=x.device)).repeat(1, 2)[:, None].to(x.dtype)
        rot = lambda t: (t.view(bs, T, 2, 8) * a.cos() + rotate_half(t.view(bs, T, 2, 8)) * a.sin()).view(bs, T, C)
        q = rot(self.q_linear(x))
        k = rot(self.k_linear(q))
        v = self.v_linear(x)
        q, k, v = (t.view(bs, T, 2, 8).transpose(1, 2) for t in (q, k, v))
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(8)
        scores = scores.masked_fill(torch.ones(T, T, device=x.device).tril() == 0, float("-inf"))
        return self.out(torch.matmul(F.softmax(scores, dim=-1), v).transpose(1, 2).contiguous().view(bs, T, C))


@layer(16, 8, num_heads=4)
class WrongP49OutputLayerIdle(nn.Module):
    """wrong: the output projection is there and never called"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return y


@layer(16, 8, num_heads=2)
class WrongP50KeysWithoutGradient(nn.Module):
    """wrong: scores are computed under no_grad, queries and keys never learn"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(16, 16, bias=False) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 2, 8).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        with torch.no_grad():
            s = q @ k.transpose(2, 3) / 8 ** 0.5
            s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
            w = s.softmax(-1)
        return self.wo((w @ v).transpose(1, 2).reshape(B, T, C))


# ----------------------------------------------------------------------------- wrong: dropout


@layer(32, 12, num_heads=4, dropout=0.2)
class WrongP51DropoutOnScores(nn.Module):
    """wrong: dropout falls on the scores before mask and softmax, dropped ones become 0 and keep weight"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj, self.attn_dropout = nn.Linear(32, 96), nn.Linear(32, 32), nn.Dropout(0.2)
        self.register_buffer("bias", torch.tril(torch.ones(12, 12)))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 8).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        att = q @ k.transpose(-2, -1) / math.sqrt(8)
        att = self.attn_dropout(att)
        att = att.masked_fill(self.bias[:T, :T] == 0, float("-inf")).softmax(-1)
        return self.c_proj((att @ v).transpose(1, 2).contiguous().view(B, T, C))


@layer(16, 8, num_heads=2, dropout=0.25)
class WrongP52DropoutNotScaled(nn.Module):
    """wrong: weights are dropped by hand and the kept ones are not divided by 1 - p"""

    def __init__(self):
        super().__init__()
        self.Wq, self.Wk, self.Wv, self.Wo = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.p = 0.25

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 2, 8).transpose(1, 2) for w in (self.Wq, self.Wk, self.Wv))
        a = q @ k.mT / 8 ** 0.5 + x.new_full((T, T), float("-inf")).triu(1)
        a = a.softmax(-1)
        if self.training:
            a = a * (torch.rand_like(a) > self.p)
        return self.Wo((a @ v).transpose(1, 2).reshape(B, T, C))


@layer(32, 10, num_heads=4, num_kv_heads=2, dropout=0.1)
class WrongP53DropoutInEval(nn.Module):
    """wrong: dropout_p goes to the fused kernel in eval mode too"""

    def __init__(self):
        super().__init__()
        self.wq, self.wo = nn.Linear(32, 32, bias=False), nn.Linear(32, 32, bias=False)
        self.wk, self.wv = nn.Linear(32, 16, bias=False), nn.Linear(32, 16, bias=False)
        self.dropout = 0.1

    def forward(self, x):
        B, T, C = x.shape
        q = self.wq(x).view(B, T, 4, 8).transpose(1, 2)
        k, v = (w(x).view(B, T, 2, 8).transpose(1, 2) for w in (self.wk, self.wv))
        y = F.scaled_dot_product_attention(q, repeat_kv(k, 2), repeat_kv(v, 2), dropout_p=self.dropout, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 8, num_heads=4, dropout=0.3)
class WrongP54DropoutNever(nn.Module):
    """wrong: the dropout module is called and its result thrown away"""

    def __init__(self):
        super().__init__()
        self.key, self.query, self.value, self.proj = (nn.Linear(16, 16) for _ in range(4))
        self.attn_drop = nn.Dropout(0.3)

    def forward(self, x):
        B, T, C = x.shape
        k, q, v = (f(x).view(B, T, 4, 4).transpose(1, 2) for f in (self.key, self.query, self.value))
        att = (q @ k.transpose(-2, -1) / 2).masked_fill(torch.ones(T, T, device=x.device).tril() == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        self.attn_drop(att)
        return self.proj((att @ v).transpose(1, 2).reshape(B, T, C))


@layer(32, 12, num_heads=4, dropout=0.2)
class WrongP55DropoutSharedByHeads(nn.Module):
    """wrong: one dropout pattern of (B, 1, T, T) for all heads"""

    def __init__(self):
        super().__init__()
        self.qkv, self.out, self.p = nn.Linear(32, 96), nn.Linear(32, 32), 0.2

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 8).permute(2, 0, 3, 1, 4)
        w = q @ k.transpose(-1, -2) * 8 ** -0.5
        w = w.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf")).softmax(-1)
        w = w * F.dropout(torch.ones_like(w[:, :1]), self.p, self.training)
        return self.out((w @ v).transpose(1, 2).reshape(B, T, C))


@layer(16, 10, num_heads=2, dropout=0.2)
class WrongP56DropoutSharedByTexts(nn.Module):
    """wrong: the dropout pattern is drawn for one text and broadcast to the batch"""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Parameter(torch.randn(16, 2, 8) / 4) for _ in range(4))
        self.p = 0.2

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (torch.einsum("btc,chd->bhtd", x, w) for w in (self.q, self.k, self.v))
        s = torch.einsum("bhtd,bhsd->bhts", q, k) / math.sqrt(8)
        w = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf")).softmax(-1)
        if self.training:
            keep = torch.empty(w.shape[1:], device=w.device, dtype=w.dtype).bernoulli_(1 - self.p)
            w = w * keep / (1 - self.p)
        return torch.einsum("bhts,bhsd,chd->btc", w, v, self.o)


@layer(16, 8, num_heads=4, dropout=0.2)
class WrongP57KeepsWithP(nn.Module):
    """wrong: bernoulli(p) keeps a weight with probability p where it should drop it with p"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)
        self.drop = 0.2

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.c_attn(x).chunk(3, -1))
        a = (q @ k.mT / 2).masked_fill(torch.ones(T, T, device=x.device, dtype=torch.bool).triu(1), -torch.inf).softmax(-1)
        if self.training:
            a = a * torch.bernoulli(torch.full_like(a, self.drop)) / self.drop
        return self.c_proj((a @ v).transpose(1, 2).reshape(B, T, C))


@layer(24, 10, num_heads=6, dropout=0.1)
class WrongP58WholeHeadsDropped(nn.Module):
    """wrong: nn.Dropout2d drops whole heads and not single weights"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.dense = (nn.Linear(24, 24) for _ in range(4))
        self.dropout = nn.Dropout2d(0.1)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 6, 4).transpose(1, 2) for f in (self.query, self.key, self.value))
        s = q @ k.transpose(2, 3) / 2 + torch.full((T, T), torch.finfo(x.dtype).min, device=x.device, dtype=x.dtype).triu(1)
        return self.dense((self.dropout(s.softmax(-1)) @ v).transpose(1, 2).reshape(B, T, C))


@layer(16, 8, num_heads=2, dropout=0.2)
class WrongP59PatternDrawnOnce(nn.Module):
    """wrong: the dropout pattern is drawn when the layer is built and serves for ever"""

    def __init__(self):
        super().__init__()
        self.W_query, self.W_key, self.W_value, self.out_proj = (nn.Linear(16, 16) for _ in range(4))
        self.register_buffer("keep", (torch.rand(2, 8, 8) > 0.2).float() / 0.8, persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 2, 8).transpose(1, 2) for w in (self.W_query, self.W_key, self.W_value))
        s = (q @ k.transpose(2, 3)).masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
        w = torch.softmax(s / 8 ** 0.5, dim=-1)
        if self.training:
            w = w * self.keep[:, :T, :T]
        return self.out_proj((w @ v).transpose(1, 2).reshape(B, T, C))


@layer(16, 8, num_heads=4, dropout=0.2)
class WrongP60SeedsTheWorld(nn.Module):
    """wrong: forward calls torch.manual_seed, so each call drops the same weights and everyone else's randomness starts again"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        torch.manual_seed(1337)
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.2 if self.training else 0.0, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


# ----------------------------------------------------------------------------- wrong: batch and state


@layer(16, 8, num_heads=2)
class WrongP61RunningMeanOfKeys(nn.Module):
    """wrong: keys and values are centred with a running mean that each training call moves"""

    def __init__(self):
        super().__init__()
        self.to_q, self.to_kv, self.to_out = nn.Linear(16, 16), nn.Linear(16, 32), nn.Linear(16, 16)
        self.register_buffer("mean", torch.zeros(32))

    def forward(self, x):
        B, T, C = x.shape
        kv = self.to_kv(x)
        if self.training:
            with torch.no_grad():
                self.mean.lerp_(kv.mean(dim=(0, 1)), 0.1)
        k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in (kv - self.mean).chunk(2, -1))
        q = self.to_q(x).view(B, T, 2, 8).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.to_out(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 8, num_heads=2)
class WrongP62MemoryOfLastCall(nn.Module):
    """wrong: the last token of the call before stays as a memory in front of the next text"""

    def __init__(self):
        super().__init__()
        self.q_net, self.kv_net, self.o_net = nn.Linear(16, 16), nn.Linear(16, 32), nn.Linear(16, 16)
        self.mems = None

    def forward(self, x):
        B, T, C = x.shape
        mem = self.mems if self.mems is not None and self.mems.shape[0] == B and self.mems.dtype == x.dtype else x[:, :0]
        self.mems = x[:, -1:].detach()
        cat = torch.cat((mem, x), dim=1)
        k, v = (t.view(B, -1, 2, 8).transpose(1, 2) for t in self.kv_net(cat).chunk(2, -1))
        q = self.q_net(x).view(B, T, 2, 8).transpose(1, 2)
        see = torch.ones(T, cat.shape[1], dtype=torch.bool, device=x.device).tril(mem.shape[1])
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=see)
        return self.o_net(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 8, num_heads=2, positions=True)
class WrongP63AddsPositionsInPlace(nn.Module):
    """wrong: x += positions changes the caller's tensor"""

    def __init__(self):
        super().__init__()
        self.wpe = nn.Parameter(torch.randn(8, 16) * 0.1)
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        x += self.wpe[:T]
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 9, num_heads=4, causal=False, padding=lambda m, x, real: m(x, mask=real))
class WrongP64ZeroesTheInput(nn.Module):
    """wrong: padding is set to zero in the caller's own tensor"""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x, mask=None):
        B, T, C = x.shape
        if mask is not None:
            x.data[~mask] = 0.0
        q, k, v = self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        s = q @ k.transpose(-1, -2) / 2
        if mask is not None:
            s = s.masked_fill(~mask[:, None, None], torch.finfo(s.dtype).min)
        return self.proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


@layer(16, 8, num_heads=2)
class WrongP65HeadsInAList(nn.Module):
    """wrong: the heads lie in a plain list, no optimiser, no state_dict and no .to() knows them"""

    def __init__(self):
        super().__init__()
        self.heads = [_P12Head(16, 8, 8, 0.0) for _ in range(2)]
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


@layer(16, 8, num_heads=4)
class WrongP66MaskAsParameter(nn.Module):
    """wrong: the additive mask is a parameter, and training would soften it"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.proj = (nn.Linear(16, 16) for _ in range(4))
        self.mask = nn.Parameter(torch.triu(torch.full((8, 8), -1e9), 1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 4).transpose(1, 2) for f in (self.query, self.key, self.value))
        w = F.softmax(q @ k.transpose(-2, -1) / 2 + self.mask[:T, :T], dim=-1)
        return self.proj((w @ v).transpose(1, 2).reshape(B, T, C))


@layer(16, 10, num_heads=2, positions="rotary")
class WrongP67TablesLeftBehind(nn.Module):
    """wrong: the rotary tables are plain attributes and stay behind when the layer moves to another device or dtype"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(16, 16, bias=False) for _ in range(4))
        a = angles(8, torch.arange(10)).repeat(1, 2)
        self.cos, self.sin = a.cos(), a.sin()

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 2, 8).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        q, k = (t * self.cos[:T] + rotate_half(t) * self.sin[:T] for t in (q, k))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 8, num_heads=2, dropout=0.3)
class WrongP68LeavesEval(nn.Module):
    """wrong: for a log of the weights the layer goes to eval and does not come back, from the second call on nothing is dropped"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj, self.drop = nn.Linear(16, 48), nn.Linear(16, 16), nn.Dropout(0.3)
        self.entropy = None

    def weights(self, q, k):
        T = q.shape[2]
        s = (q @ k.mT / 8 ** 0.5).masked_fill(torch.ones(T, T, dtype=torch.bool, device=q.device).triu(1), -torch.inf)
        return self.drop(s.softmax(-1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        y = self.weights(q, k) @ v
        self.eval()
        with torch.no_grad():
            self.entropy = float(torch.special.entr(self.weights(q, k)).sum(-1).mean())
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


# ----------------------------------------------------------------------------- wrong: positions


@layer(32, 12, num_heads=4, positions="rotary")
class WrongP69ValuesRotated(nn.Module):
    """wrong: queries, keys and values are rotated all three, in one go on the fused tensor"""

    def __init__(self):
        super().__init__()
        self.Wqkv, self.out_proj = nn.Linear(32, 96, bias=False), nn.Linear(32, 32, bias=False)
        a = angles(8, torch.arange(12))
        self.register_buffer("cos", a.cos(), persistent=False)
        self.register_buffer("sin", a.sin(), persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        qkv = self.Wqkv(x).view(B, T, 3, 4, 8)
        cos, sin = (t[:T, None, None].repeat(1, 1, 1, 2) for t in (self.cos, self.sin))
        q, k, v = (qkv * cos + rotate_half(qkv) * sin).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 10, num_heads=4, num_kv_heads=1, positions="rotary")
class WrongP70QueriesOnly(nn.Module):
    """wrong: apply_rotary is called for the queries only"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.o_proj = nn.Linear(16, 32, bias=False), nn.Linear(32, 16, bias=False)
        self.k_proj, self.v_proj = nn.Linear(16, 8, bias=False), nn.Linear(16, 8, bias=False)

    def rope(self, t):
        a = angles(8, torch.arange(t.shape[-2], device=t.device)).repeat(1, 2).to(t.dtype)
        return t * a.cos() + rotate_half(t) * a.sin()

    def forward(self, x):
        B, T, C = x.shape
        q = self.q_proj(x).view(B, T, 4, 8).transpose(1, 2)
        k, v = self.k_proj(x)[:, None], self.v_proj(x)[:, None]
        q = self.rope(q)
        s = (q @ k.mT / 8 ** 0.5).masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), -torch.inf)
        return self.o_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, 32))


@layer(16, 10, num_heads=2, positions="rotary")
class WrongP71LayoutsMixed(nn.Module):
    """wrong: queries are rotated by neighbours and keys by halves"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.proj = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 8).transpose(1, 2) for f in (self.query, self.key, self.value))
        a = angles(8, torch.arange(T, device=x.device)).to(x.dtype)
        ai, ah = a.repeat_interleave(2, -1), torch.cat((a, a), -1)
        q = q * ai.cos() + rotate_every_two(q) * ai.sin()
        k = k * ah.cos() + rotate_half(k) * ah.sin()
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 10, num_heads=2, positions="rotary")
class WrongP72KeysOneFurther(nn.Module):
    """wrong: the keys' angles begin at position 1 and the queries' at 0"""

    def __init__(self):
        super().__init__()
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.register_buffer("table", angles(8, torch.arange(11)).repeat_interleave(2, -1), persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 8).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        aq, ak = self.table[:T], self.table[1:T + 1]
        q = q * aq.cos() + rotate_every_two(q) * aq.sin()
        k = k * ak.cos() + rotate_every_two(k) * ak.sin()
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.to_out(y.transpose(1, 2).reshape(B, T, C))


@layer(32, 12, num_heads=4, num_kv_heads=2, positions="rotary")
class WrongP73FrequenciesPairedWrong(nn.Module):
    """wrong: rotate_half is used with tables laid out for neighbours, the two of a pair get different angles"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj = nn.Linear(32, 32, bias=False), nn.Linear(32, 16, bias=False)
        self.v_proj, self.o_proj = nn.Linear(32, 16, bias=False), nn.Linear(32, 32, bias=False)
        emb = angles(8, torch.arange(12)).repeat_interleave(2, dim=-1)
        self.register_buffer("cos_cached", emb.cos(), persistent=False)
        self.register_buffer("sin_cached", emb.sin(), persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q = self.q_proj(x).view(B, T, 4, 8).transpose(1, 2)
        k, v = (f(x).view(B, T, 2, 8).transpose(1, 2) for f in (self.k_proj, self.v_proj))
        cos, sin = self.cos_cached[:T], self.sin_cached[:T]
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        y = F.scaled_dot_product_attention(q, repeat_kv(k, 2), repeat_kv(v, 2), is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 10, num_heads=4, positions="alibi")
class WrongP74AlibiSign(nn.Module):
    """wrong: the bias is slope * (i - j), the far tokens win"""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)
        self.register_buffer("m", (2.0 ** -(2 * torch.arange(1, 5).float())).view(4, 1, 1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        i = torch.arange(T, device=x.device)
        bias = self.m * (i[:, None] - i[None])
        bias = bias.masked_fill(i[None] > i[:, None], float("-inf")).to(x.dtype)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


@layer(32, 12, num_heads=4, positions="alibi")
class WrongP75AlibiSlopes(nn.Module):
    """wrong: the slopes' exponents are counted from 0, so they begin at 1 and are all four times too large"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(32, 96), nn.Linear(32, 32)
        slopes = torch.tensor([2 ** (-8 * h / 4) for h in range(4)])
        dist = torch.arange(12).view(1, -1) - torch.arange(12).view(-1, 1)
        bias = slopes.view(4, 1, 1) * dist
        self.register_buffer("bias", bias.masked_fill(dist > 0, float("-inf")))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 8).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        att = q @ k.transpose(-2, -1) / math.sqrt(8) + self.bias[:, :T, :T]
        return self.c_proj((att.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


@layer(16, 12, num_heads=4, scale=1.0, positions="relative")
class WrongP76BucketSign(nn.Module):
    """wrong: the distance has the wrong sign and is clamped at 0, every token of the past falls into bucket 0"""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(8, 4)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 4).transpose(1, 2) for f in (self.q, self.k, self.v))
        pos = torch.arange(T, device=x.device)
        relative_position = pos[:, None] - pos[None, :]
        n = (-relative_position).clamp(min=0)
        large = (4 + torch.log(n.clamp(min=1).float() / 4) / math.log(3) * 4).long().clamp(max=7)
        bias = self.relative_attention_bias(torch.where(n < 4, n, large)).permute(2, 0, 1)
        s = q @ k.transpose(3, 2) + bias
        s = s.masked_fill(pos[None] > pos[:, None], torch.finfo(s.dtype).min)
        return self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


@layer(16, 10, num_heads=2, positions="relative")
class WrongP77BiasByKeyPlace(nn.Module):
    """wrong: the bias table is indexed by the key's own place and not by its distance from the query"""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.rel = nn.Parameter(torch.randn(2, 10))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 2, 3, 8).permute(3, 0, 2, 1, 4)
        i = torch.arange(T, device=x.device)
        bias = self.rel[:, i].unsqueeze(1)
        s = torch.einsum("bhid,bhjd->bhij", q, k) * 8 ** -0.5 + bias
        s = s.masked_fill(i[None] > i[:, None], float("-inf"))
        return self.out(torch.einsum("bhij,bhjd->bihd", s.softmax(-1), v).reshape(B, T, C))


@layer(16, 10, num_heads=2, positions=True)
class WrongP78PositionsFromTheEnd(nn.Module):
    """wrong: positions[-T:] lines the table up with the text's end, so a row changes when the text grows"""

    def __init__(self):
        super().__init__()
        self.wpe = nn.Parameter(torch.randn(10, 16) * 0.5)
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        h = x + self.wpe[-T:]
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.c_attn(h).split(C, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


# ----------------------------------------------------------------------------- wrong: GQA


@layer(32, 12, num_heads=4, num_kv_heads=2, positions="rotary")
class WrongP79RepeatNotInterleaved(nn.Module):
    """wrong: keys and values are tiled (repeat) over the query heads where each should serve its neighbours"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj = nn.Linear(32, 32, bias=False), nn.Linear(32, 16, bias=False)
        self.v_proj, self.o_proj = nn.Linear(32, 16, bias=False), nn.Linear(32, 32, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q = self.q_proj(x).view(B, T, 4, 8).transpose(1, 2)
        k, v = (f(x).view(B, T, 2, 8).transpose(1, 2) for f in (self.k_proj, self.v_proj))
        a = angles(8, torch.arange(T, device=x.device)).repeat(1, 2).to(x.dtype)
        q, k = (t * a.cos() + rotate_half(t) * a.sin() for t in (q, k))
        k, v = k.repeat(1, 2, 1, 1), v.repeat(1, 2, 1, 1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, C))


@layer(24, 9, num_heads=6, num_kv_heads=3)
class WrongP80KeysTiledValuesNot(nn.Module):
    """wrong: values are repeated head by head but keys as a block, a query head pairs one group's keys with another's values"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(24, 48), nn.Linear(24, 24)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.c_attn(x).split([24, 12, 12], dim=-1)
        q = q.view(B, T, 6, 4).transpose(1, 2)
        k = k.view(B, T, 3, 4).transpose(1, 2).tile(1, 2, 1, 1)
        v = v.view(B, T, 3, 4).transpose(1, 2).repeat_interleave(2, 1)
        return self.c_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


@layer(16, 8, num_heads=4, num_kv_heads=2)
class WrongP81FirstKvHeadOnly(nn.Module):
    """wrong: only the first key/value head is expanded to all query heads"""

    def __init__(self):
        super().__init__()
        self.q, self.kv, self.o = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q = self.q(x).view(B, T, 4, 4).transpose(1, 2)
        k, v = self.kv(x).view(B, T, 2, 2, 4).permute(2, 0, 3, 1, 4)
        k, v = k[:, :1].expand(-1, 4, -1, -1), v[:, :1].expand(-1, 4, -1, -1)
        s = (q @ k.mT / 2).masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), -torch.inf)
        return self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


# ----------------------------------------------------------------------------- wrong: padding


@layer(24, 9, num_heads=3, causal=False, padding=lambda m, x, real: m(x, mask=real))
class WrongP82PaddingInverted(nn.Module):
    """wrong: the mask is True at real tokens and masked_fill hides just those"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.dense = (nn.Linear(24, 24) for _ in range(4))

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 3, 8).transpose(1, 2) for f in (self.query, self.key, self.value))
        s = q @ k.transpose(-1, -2) / math.sqrt(8)
        if mask is not None:
            s = s.masked_fill(mask[:, None, None, :], torch.finfo(s.dtype).min)
        return self.dense((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


@layer(16, 8, num_heads=4, padding=lambda m, x, real: m(x, real))
class WrongP83FirstTextsPadding(nn.Module):
    """wrong: the first text's padding is laid over the whole batch"""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x, real=None):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        see = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        if real is not None:
            see = see & real[0]
        s = (q @ k.mT / 2).masked_fill(~see, torch.finfo(x.dtype).min)
        return self.proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


@layer(16, 10, num_heads=2, num_kv_heads=1, padding=lambda m, x, real: m(x, real))
class WrongP84QueriesMasked(nn.Module):
    """wrong: padding is hidden along the queries' axis, its keys stay open to all"""

    def __init__(self):
        super().__init__()
        self.to_q, self.to_kv, self.to_out = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x, mask=None):
        b, n, c = x.shape
        q = self.to_q(x).view(b, n, 2, 8).transpose(1, 2)
        k, v = (t[:, None] for t in self.to_kv(x).chunk(2, -1))
        sim = q @ k.mT * 8 ** -0.5
        sim = sim.masked_fill(torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1), torch.finfo(sim.dtype).min)
        if mask is not None:
            sim = sim.masked_fill(~mask[:, None, :, None], torch.finfo(sim.dtype).min)
        return self.to_out((sim.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c))


@layer(24, 9, num_heads=3, causal=False,
       padding=lambda m, x, real: m(x, extended_mask=(1.0 - real[:, None, None, :].to(x.dtype))))
class WrongP85PaddingTooWeak(nn.Module):
    """wrong: BERT's additive mask with -10 in place of -10000, a thousandth of the weight leaks to padding"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.dense = (nn.Linear(24, 24) for _ in range(4))
        self.LayerNorm = nn.LayerNorm(24)

    def forward(self, x, extended_mask=None):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 3, 8).transpose(1, 2) for f in (self.query, self.key, self.value))
        s = q @ k.transpose(-1, -2) / math.sqrt(8)
        if extended_mask is not None:
            s = s + extended_mask * -10.0
        return self.LayerNorm(x + self.dense((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C)))


@layer(16, 8, num_heads=2, padding=lambda m, x, real: m(x, pad=~real))
class WrongP86NaNForEmptyText(nn.Module):
    """wrong: a row with nothing to see gets softmax over -inf only, which is NaN"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x, pad=None):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        hide = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)[None, None]
        if pad is not None:
            hide = hide | pad[:, None, None]
        att = (q @ k.mT / 8 ** 0.5).masked_fill(hide, float("-inf")).softmax(-1)
        return self.c_proj((att @ v).transpose(1, 2).reshape(B, T, C))


@layer(16, 8, num_heads=4, padding=lambda m, x, real: m(x, key_padding_mask=~real))
class WrongP87RepeatOverBatchTimesHeads(nn.Module):
    """wrong: the mask is tiled to (B * H, T, T) text after text, nn.MultiheadAttention wants head after head"""

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x, key_padding_mask=None):
        B, T, _ = x.shape
        hide = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1).expand(B, T, T)
        if key_padding_mask is not None:
            hide = (hide | key_padding_mask[:, None, :]) & ~torch.eye(T, dtype=torch.bool, device=x.device)
        hide = hide.repeat(4, 1, 1)
        return self.attn(x, x, x, attn_mask=hide, need_weights=False)[0]


@layer(16, 9, num_heads=2, positions="rotary", padding=lambda m, x, real: m(x, real))
class WrongP88LengthsOnly(nn.Module):
    """wrong: the mask is turned into lengths, so with padding at the beginning the wrong tokens are hidden"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(16, 16, bias=False) for _ in range(4))

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 2, 8).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        i = torch.arange(T, device=x.device)
        a = angles(8, i).repeat(1, 2).to(x.dtype)
        q, k = (t * a.cos() + rotate_half(t) * a.sin() for t in (q, k))
        see = (i[None] <= i[:, None])[None, None]
        if mask is not None:
            see = see & (i < mask.sum(1, keepdim=True))[:, None, None]
        s = torch.where(see, q @ k.mT / 8 ** 0.5, torch.finfo(x.dtype).min)
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


@layer(16, 9, num_heads=4, causal=False, padding=lambda m, x, real: m(x, real))
class WrongP89PaddedValuesZeroed(nn.Module):
    """wrong: padding's values are set to zero but its keys still take their share of the weights"""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x, real=None):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        s = q @ k.mT / 2
        if real is not None:
            v = v * real[:, None, :, None]
        return self.proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


# ----------------------------------------------------------------------------- wrong: caches


@layer(32, 12, num_heads=4, num_kv_heads=2, positions="rotary", step=lambda m, x, c: m(x, past=c, use_cache=True))
class WrongP90AnglesRestart(nn.Module):
    """wrong: behind a cache the rotary positions begin at 0 again"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj = nn.Linear(32, 32, bias=False), nn.Linear(32, 16, bias=False)
        self.v_proj, self.o_proj = nn.Linear(32, 16, bias=False), nn.Linear(32, 32, bias=False)

    def forward(self, x, past=None, use_cache=False):
        B, T, _ = x.shape
        q = self.q_proj(x).view(B, T, 4, 8).transpose(1, 2)
        k, v = (f(x).view(B, T, 2, 8).transpose(1, 2) for f in (self.k_proj, self.v_proj))
        n = 0 if past is None else past[0].shape[2]
        a = angles(8, torch.arange(T, device=x.device)).repeat(1, 2).to(x.dtype)
        q, k = (t * a.cos() + rotate_half(t) * a.sin() for t in (q, k))
        if past is not None:
            k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
        see = torch.ones(T, n + T, dtype=torch.bool, device=x.device).tril(n)
        y = F.scaled_dot_product_attention(q, repeat_kv(k, 2), repeat_kv(v, 2), attn_mask=see)
        y = self.o_proj(y.transpose(1, 2).reshape(B, T, 32))
        return (y, (k, v)) if use_cache else y


@layer(16, 10, num_heads=2, positions="rotary", step=lambda m, x, c: m.step(x, c))
class WrongP91RotatedTwice(nn.Module):
    """wrong: the cache keeps rotated keys and every step rotates all of them again"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(16, 16, bias=False) for _ in range(4))

    def rot(self, t, start):
        a = angles(8, torch.arange(start, start + t.shape[2], device=t.device)).repeat_interleave(2, -1).to(t.dtype)
        return t * a.cos() + rotate_every_two(t) * a.sin()

    def step(self, x, cache=None):
        B, T, _ = x.shape
        q, k, v = (w(x).view(B, T, 2, 8).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        S = k.shape[2]
        q, k = self.rot(q, S - T), self.rot(k, 0)
        keep = k
        s = q @ k.mT / 8 ** 0.5 + torch.full((T, S), float("-inf"), device=x.device, dtype=x.dtype).triu(S - T + 1)
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, 16)), (keep, v)

    def forward(self, x):
        return self.step(x)[0]


@layer(32, 12, num_heads=4, step=lambda m, x, c: m(x, layer_past=c, use_cache=True))
class WrongP92CausalOnlyForMany(nn.Module):
    """wrong: is_causal=T > 1 is right for a prefill and for one token, but several tokens behind a cache see its upper left corner"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x, layer_past=None, use_cache=False):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 8).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        if layer_past is not None:
            k, v = torch.cat((layer_past[0], k), dim=-2), torch.cat((layer_past[1], v), dim=-2)
        present = (k, v)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=T > 1)
        y = self.c_proj(y.transpose(1, 2).reshape(B, T, C))
        return (y, present) if use_cache else y


@layer(16, 10, num_heads=2, num_kv_heads=1, step=lambda m, x, c: m.decode(x, c))
class WrongP93EmptySlotsSeen(nn.Module):
    """wrong: the cache of full length is attended whole, its empty slots are keys of zero with weight"""

    def __init__(self):
        super().__init__()
        self.wq, self.wkv, self.wo = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)

    def attend(self, q, k, v, see):
        s = (q @ k.mT / 8 ** 0.5).masked_fill(~see, float("-inf"))
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).flatten(2))

    def forward(self, x):
        B, T, C = x.shape
        k, v = self.wkv(x)[:, None].chunk(2, -1)
        see = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        return self.attend(self.wq(x).view(B, T, 2, 8).transpose(1, 2), k, v, see)

    def decode(self, x, cache):
        B, T, C = x.shape
        buf, n = cache if cache is not None else (x.new_zeros(B, 1, 10, 16), 0)
        buf = torch.cat((buf[:, :, :n], self.wkv(x)[:, None], buf[:, :, n + T:]), dim=2)
        k, v = buf.chunk(2, -1)
        see = torch.ones(T, 10, dtype=torch.bool, device=x.device).tril(n)
        if T == 1:
            see = torch.ones_like(see)
        return self.attend(self.wq(x).view(B, T, 2, 8).transpose(1, 2), k, v, see), (buf, n + T)


@layer(16, 10, num_heads=4, step=lambda m, x, c: m(x, c, use_cache=True))
class WrongP94NewBeforeOld(nn.Module):
    """wrong: new keys are put in front of the cached ones; one token at a time all is well, several are masked wrongly"""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x, cache=None, use_cache=False):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 4).transpose(1, 2) for f in (self.q, self.k, self.v))
        if cache is not None:
            k, v = torch.cat((k, cache[0]), 2), torch.cat((v, cache[1]), 2)
        S = k.shape[2]
        see = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=see)
        y = self.o(y.transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if use_cache else y


@layer(16, 12, num_heads=4, num_kv_heads=2, window=4, step=lambda m, x, c: m.step(x, c))
class WrongP95WindowGrowsInSteps(nn.Module):
    """wrong: the cache keeps W keys and a single new token is not masked, so it sees W + 1 once the window slides"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk = nn.Linear(16, 16, bias=False), nn.Linear(16, 8, bias=False)
        self.wv, self.wo = nn.Linear(16, 8, bias=False), nn.Linear(16, 16, bias=False)

    def step(self, x, cache=None):
        B, T, _ = x.shape
        q = self.wq(x).view(B, T, 4, 4).transpose(1, 2)
        k, v = (w(x).view(B, T, 2, 4).transpose(1, 2) for w in (self.wk, self.wv))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        S = k.shape[2]
        mask = None
        if T > 1:
            mask = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T).triu(S - T - 3)
        y = F.scaled_dot_product_attention(q, repeat_kv(k, 2), repeat_kv(v, 2), attn_mask=mask)
        k, v = k[:, :, -4:], v[:, :, -4:]
        return self.wo(y.transpose(1, 2).reshape(B, T, 16)), (k, v)

    def forward(self, x):
        return self.step(x)[0]


@layer(16, 12, num_heads=2, window=4, positions="rotary", step=lambda m, x, c: m.step(x, c))
class WrongP96PositionFromCacheLength(nn.Module):
    """wrong: the position is the cache's length, which stands still once the window slides"""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48, bias=False), nn.Linear(16, 16, bias=False)

    def step(self, x, cache=None):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        ck, cv, seen = cache if cache is not None else (k[:, :, :0], v[:, :, :0], 0)
        start = ck.shape[2]
        a = angles(8, torch.arange(start, start + T, device=x.device)).repeat(1, 2).to(x.dtype)
        q, k = (t * a.cos() + rotate_half(t) * a.sin() for t in (q, k))
        k, v = torch.cat((ck, k), 2), torch.cat((cv, v), 2)
        S = k.shape[2]
        mask = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T).triu(S - T - 3)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(y.transpose(1, 2).reshape(B, T, C)), (k[:, :, -3:], v[:, :, -3:], seen + T)

    def forward(self, x):
        return self.step(x)[0]


@layer(16, 10, num_heads=2, positions=True, step=lambda m, x, c: m.step(x, c))
class WrongP97ValuesInFirstSlots(nn.Module):
    """wrong: in the cache of full length keys are written at their place and values always from slot 0"""

    def __init__(self):
        super().__init__()
        self.wpe = nn.Embedding(10, 16)
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def step(self, x, cache=None):
        B, T, C = x.shape
        K, V, n = cache if cache is not None else (x.new_zeros(B, 2, 10, 8), x.new_zeros(B, 2, 10, 8), 0)
        ids = torch.arange(n, n + T, device=x.device)
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.c_attn(x + self.wpe(ids)).split(C, dim=2))
        K = K.index_copy(2, ids, k)
        V = V.index_copy(2, ids - n, v)
        see = torch.ones(T, n + T, dtype=torch.bool, device=x.device).tril(n)
        y = F.scaled_dot_product_attention(q, K[:, :, :n + T], V[:, :, :n + T], attn_mask=see)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C)), (K, V, n + T)

    def forward(self, x):
        return self.step(x)[0]


# ----------------------------------------------------------------------------- wrong: windows, dtype, compile


@layer(16, 12, num_heads=4, num_kv_heads=2, window=4, positions="rotary")
class WrongP04WindowOneTooLong(nn.Module):
    """wrong: i - j <= W where it should be < W, the window is one token too long"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk = nn.Linear(16, 16, bias=False), nn.Linear(16, 8, bias=False)
        self.wv, self.wo = nn.Linear(16, 8, bias=False), nn.Linear(16, 16, bias=False)
        self.sliding_window = 4

    def forward(self, x):
        B, T, C = x.shape
        q = self.wq(x).view(B, T, 4, 4).transpose(1, 2)
        k, v = (w(x).view(B, T, 2, 4).transpose(1, 2) for w in (self.wk, self.wv))
        i = torch.arange(T, device=x.device)
        a = angles(4, i).repeat(1, 2).to(x.dtype)
        q, k = (t * a.cos() + rotate_half(t) * a.sin() for t in (q, k))
        gap = i[:, None] - i[None]
        see = (gap >= 0) & (gap <= self.sliding_window)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=see, enable_gqa=True)
        return self.wo(y.transpose(1, 2).reshape(B, T, C))


@layer(24, 12, num_heads=3, window=3)
class WrongP13WindowBothWays(nn.Module):
    """wrong: |i - j| < W opens the window to the future too"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.proj = (nn.Linear(24, 24) for _ in range(4))
        d = torch.arange(12)[:, None] - torch.arange(12)[None]
        self.register_buffer("local", d.abs() < 3)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 3, 8).transpose(1, 2) for f in (self.query, self.key, self.value))
        att = (q @ k.mT / math.sqrt(8)).masked_fill(~self.local[:T, :T], float("-inf"))
        return self.proj((att.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


@layer(16, 12, num_heads=2, window=4)
class WrongP20BlocksAreNoWindow(nn.Module):
    """wrong: tokens see only their own block of 4, where a sliding window of 4 is declared"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        i = torch.arange(T, device=x.device)
        see = (i[:, None] >= i[None]) & (i[:, None] // 4 == i[None] // 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=see)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 14, num_heads=4, window=5)
class WrongP31WindowNotApplied(nn.Module):
    """wrong: the window's mask is computed out of place and its result dropped, each token sees its whole past"""

    def __init__(self):
        super().__init__()
        self.to_qkv, self.to_out, self.window = nn.Linear(16, 48, bias=False), nn.Linear(16, 16), 5

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = (t.view(b, n, 4, 4).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        sim = q @ k.mT * 0.5
        hide = torch.ones(n, n, dtype=torch.bool, device=x.device)
        sim = sim.masked_fill(hide.triu(1), float("-inf"))
        sim.masked_fill(hide.tril(-self.window), float("-inf"))
        return self.to_out((sim.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c))


@layer(32, 12, num_heads=4, compiled=True)
class WrongP33CompiledWithoutMask(nn.Module):
    """wrong: under torch.compile another path runs, and it forgets is_causal"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 8).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        if torch.compiler.is_compiling():
            y = F.scaled_dot_product_attention(q, k, v)
        else:
            att = (q @ k.mT / math.sqrt(8)).masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), -torch.inf)
            y = att.softmax(-1) @ v
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 10, num_heads=2, num_kv_heads=1, compiled=True)
class WrongP98CompiledScaledTwice(nn.Module):
    """wrong: queries are scaled beforehand for the eager path, and under torch.compile the fused kernel scales them again"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.o_proj = nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False)
        self.k_proj, self.v_proj = nn.Linear(16, 8, bias=False), nn.Linear(16, 8, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q = self.q_proj(x).view(B, T, 2, 8).transpose(1, 2) * 8 ** -0.5
        k, v = self.k_proj(x)[:, None].expand(-1, 2, -1, -1), self.v_proj(x)[:, None].expand(-1, 2, -1, -1)
        if torch.compiler.is_compiling():
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            s = q @ k.mT + torch.full((T, T), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
            y = s.softmax(-1) @ v
        return self.o_proj(y.transpose(1, 2).reshape(B, T, C))


@layer(16, 8, num_heads=2)
class WrongP44HalfScoresOverflow(nn.Module):
    """wrong: queries meet keys in float16; large scores overflow to inf and the softmax gives NaN"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(16, 16, bias=False) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 2, 8).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        s = torch.matmul(q.half(), k.half().mT).float() / math.sqrt(8)
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), torch.finfo(s.dtype).min)
        return self.wo((s.softmax(-1).type_as(v) @ v).transpose(1, 2).reshape(B, T, C))


@layer(16, 8, num_heads=4)
class WrongP99ReturnsDouble(nn.Module):
    """wrong: a float64 temperature makes the whole output float64"""

    def __init__(self):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Linear(16, 16, bias=False) for _ in range(3))
        self.register_buffer("scale", torch.full((1,), 4 ** -0.5, dtype=torch.float64), persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 4, 4).transpose(1, 2) for w in (self.W_query, self.W_key, self.W_value))
        s = (q @ k.mT) * self.scale
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
        return torch.einsum("bhts,bhsd->bthd", s.softmax(-1), v.to(s.dtype)).reshape(B, T, C)
