import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

LAYERS = []


def entry(layer, d_in, context_length, **options):
    LAYERS.append({"layer": layer, "d_in": d_in, "context_length": context_length, "options": options})


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def rotate_every_two(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)


class PlainRMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


# --------------------------------------------------------------------------- right


class RightQ01VitQkNorm(nn.Module):
    """right: a timm-like encoder attention with LayerNorm on queries and keys"""

    def __init__(self, dim=24, num_heads=3, qkv_bias=True):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = dim // num_heads
        self.scale = self.head_dim ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.q_norm = nn.LayerNorm(self.head_dim)
        self.k_norm = nn.LayerNorm(self.head_dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        q, k = self.q_norm(q), self.k_norm(k)
        attn = (q * self.scale) @ k.transpose(-2, -1)
        attn = attn.softmax(dim=-1)
        x = (attn @ v).transpose(1, 2).reshape(B, N, C)
        return self.proj(x)


entry(RightQ01VitQkNorm, 24, 10, causal=False, num_heads=3)


class RightQ02BertSelfOutput(nn.Module):
    """right: BERT self-attention and its output block (residual, LayerNorm behind); a text of padding alone attends evenly"""

    def __init__(self):
        super().__init__()
        self.num_attention_heads = 4
        self.attention_head_size = 8
        self.query = nn.Linear(32, 32)
        self.key = nn.Linear(32, 32)
        self.value = nn.Linear(32, 32)
        self.dropout = nn.Dropout(0.1)
        self.dense = nn.Linear(32, 32)
        self.LayerNorm = nn.LayerNorm(32, eps=1e-12)

    def transpose_for_scores(self, x):
        return x.view(*x.shape[:-1], self.num_attention_heads, self.attention_head_size).permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask=None):
        q = self.transpose_for_scores(self.query(hidden_states))
        k = self.transpose_for_scores(self.key(hidden_states))
        v = self.transpose_for_scores(self.value(hidden_states))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.attention_head_size)
        if attention_mask is not None:
            extended = (1.0 - attention_mask[:, None, None, :].to(scores.dtype)) * torch.finfo(scores.dtype).min
            scores = scores + extended
        probs = self.dropout(nn.functional.softmax(scores, dim=-1))
        context = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        context = context.view(*context.shape[:-2], 32)
        return self.LayerNorm(self.dense(context) + hidden_states)


entry(RightQ02BertSelfOutput, 32, 12, causal=False, num_heads=4, dropout=0.1,
      padding=lambda module, x, real: module(x, attention_mask=real.long()))


class RightQ03FairseqDecoder(nn.Module):
    """right: time first inside, heads folded into the batch, hidden weights set to zero behind the softmax"""

    def __init__(self, embed_dim=16, num_heads=2):
        super().__init__()
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim = embed_dim // num_heads
        self.scaling = self.head_dim ** -0.5
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, key_padding_mask=None):
        x = x.transpose(0, 1)
        tgt_len, bsz, _ = x.size()
        q = self.q_proj(x) * self.scaling
        k, v = self.k_proj(x), self.v_proj(x)
        q, k, v = (t.contiguous().view(tgt_len, bsz * self.num_heads, self.head_dim).transpose(0, 1) for t in (q, k, v))
        attn_weights = torch.bmm(q, k.transpose(1, 2))
        hidden = torch.ones(tgt_len, tgt_len, dtype=torch.bool, device=x.device).triu(1)[None]
        if key_padding_mask is not None:
            pad = key_padding_mask[:, None, None, :].expand(bsz, self.num_heads, 1, tgt_len)
            hidden = hidden | pad.reshape(bsz * self.num_heads, 1, tgt_len)
        attn_weights = attn_weights.masked_fill(hidden, torch.finfo(q.dtype).min)
        attn_weights = F.softmax(attn_weights, dim=-1).masked_fill(hidden, 0.0)
        attn = torch.bmm(attn_weights, v)
        attn = attn.transpose(0, 1).contiguous().view(tgt_len, bsz, self.embed_dim)
        return self.out_proj(attn).transpose(0, 1), None


entry(RightQ03FairseqDecoder, 16, 9, num_heads=2,
      padding=lambda module, x, real: module(x, key_padding_mask=~real))


class RightQ04T5Encoder(nn.Module):
    """right: T5 encoder attention, no scale, log buckets of relative positions in both directions"""

    def __init__(self, d_model=16, d_kv=5, n_heads=4, num_buckets=8, max_distance=12):
        super().__init__()
        self.n_heads, self.d_kv = n_heads, d_kv
        self.num_buckets, self.max_distance = num_buckets, max_distance
        inner = n_heads * d_kv
        self.q = nn.Linear(d_model, inner, bias=False)
        self.k = nn.Linear(d_model, inner, bias=False)
        self.v = nn.Linear(d_model, inner, bias=False)
        self.o = nn.Linear(inner, d_model, bias=False)
        self.relative_attention_bias = nn.Embedding(num_buckets, n_heads)
        nn.init.normal_(self.q.weight, std=(d_model * d_kv) ** -0.5)

    def bucket(self, relative):
        half = self.num_buckets // 2
        buckets = (relative > 0).long() * half
        n = relative.abs()
        max_exact = half // 2
        large = max_exact + (torch.log(n.float().clamp(min=1) / max_exact)
                             / math.log(self.max_distance / max_exact) * (half - max_exact)).long()
        large = large.clamp(max=half - 1)
        return buckets + torch.where(n < max_exact, n, large)

    def forward(self, hidden_states, mask=None):
        b, t, _ = hidden_states.shape
        shape = lambda s: s.view(b, -1, self.n_heads, self.d_kv).transpose(1, 2)
        q, k, v = shape(self.q(hidden_states)), shape(self.k(hidden_states)), shape(self.v(hidden_states))
        pos = torch.arange(t, device=q.device)
        bias = self.relative_attention_bias(self.bucket(pos[None, :] - pos[:, None])).permute(2, 0, 1)[None]
        scores = torch.matmul(q, k.transpose(3, 2)) + bias
        if mask is not None:
            scores = scores + torch.where(mask, 0.0, torch.finfo(scores.dtype).min).to(scores.dtype)[:, None, None, :]
        weights = F.softmax(scores.float(), dim=-1).type_as(scores)
        out = torch.matmul(weights, v).transpose(1, 2).contiguous().view(b, t, -1)
        return (self.o(out), weights)


entry(RightQ04T5Encoder, 16, 12, causal=False, num_heads=4, scale=1.0, positions="relative",
      padding=lambda module, x, real: module(x, mask=real))


class _Head(nn.Module):
    def __init__(self, n_embd, head_size, block_size, dropout):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        T = x.shape[1]
        k, q, v = self.key(x), self.query(x), self.value(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = wei - wei.max(dim=-1, keepdim=True).values
        wei = wei.exp()
        wei = wei / wei.sum(dim=-1, keepdim=True)
        return self.dropout(wei) @ v


class RightQ05LectureHeads(nn.Module):
    """right: single heads in a ModuleList with a softmax by hand; dropout on the weights and on the output"""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([_Head(15, 5, 8, 0.2) for _ in range(3)])
        self.proj = nn.Linear(15, 15)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        return self.dropout(self.proj(torch.cat([h(x) for h in self.heads], dim=-1)))


entry(RightQ05LectureHeads, 15, 8, num_heads=3, dropout=0.2)


class RightQ06BloomAlibi(nn.Module):
    """right: ALiBi as in BLOOM, the bias depends on the key's place alone (rows differ by a constant, which softmax ignores)"""

    def __init__(self, hidden=32, n_head=8):
        super().__init__()
        self.num_heads, self.head_dim = n_head, hidden // n_head
        self.query_key_value = nn.Linear(hidden, 3 * hidden)
        self.dense = nn.Linear(hidden, hidden)
        start = 2.0 ** (-8.0 / n_head)
        self.register_buffer("slopes", torch.tensor([start ** (i + 1) for i in range(n_head)]), persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        fused = self.query_key_value(x).view(B, T, self.num_heads, 3, self.head_dim)
        q, k, v = (fused[..., i, :].transpose(1, 2).reshape(B * self.num_heads, T, self.head_dim) for i in range(3))
        alibi = (self.slopes[:, None, None] * torch.arange(T, device=x.device)).to(q.dtype)
        alibi = alibi.expand(self.num_heads, 1, T).repeat(B, 1, 1)
        scores = torch.baddbmm(alibi, q, k.transpose(1, 2), beta=1.0, alpha=1.0 / math.sqrt(self.head_dim))
        future = torch.triu(torch.ones(T, T, dtype=torch.bool, device=x.device), diagonal=1)
        scores = scores.masked_fill(future, torch.finfo(scores.dtype).min)
        context = torch.bmm(scores.softmax(-1), v)
        context = context.view(B, self.num_heads, T, self.head_dim).permute(0, 2, 1, 3).reshape(B, T, C)
        return self.dense(context)


entry(RightQ06BloomAlibi, 32, 12, num_heads=8, positions="alibi")


class RightQ07MusicSkew(nn.Module):
    """right: relative position vectors brought into place by padding and reshaping (the skew of Music Transformer)"""

    def __init__(self, d_model=16, num_heads=2, max_len=10):
        super().__init__()
        self.max_len, self.num_heads, self.d_head = max_len, num_heads, d_model // num_heads
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.query = nn.Linear(d_model, d_model)
        self.Er = nn.Parameter(torch.randn(max_len, self.d_head))

    def skew(self, QEr):
        padded = F.pad(QEr, (1, 0))
        b, h, rows, cols = padded.shape
        return padded.reshape(b, h, cols, rows)[:, :, 1:, :]

    def forward(self, x):
        B, T, C = x.shape
        k_t = self.key(x).reshape(B, T, self.num_heads, -1).permute(0, 2, 3, 1)
        v = self.value(x).reshape(B, T, self.num_heads, -1).transpose(1, 2)
        q = self.query(x).reshape(B, T, self.num_heads, -1).transpose(1, 2)
        Er_t = self.Er[self.max_len - T:].transpose(0, 1)
        Srel = self.skew(torch.matmul(q, Er_t))
        attn = (torch.matmul(q, k_t) + Srel) / math.sqrt(self.d_head)
        mask = torch.tril(torch.ones(T, T, device=x.device)) == 0
        attn = F.softmax(attn.masked_fill(mask, float("-inf")), dim=-1)
        return torch.matmul(attn, v).transpose(1, 2).reshape(B, T, C)


entry(RightQ07MusicSkew, 16, 10, num_heads=2, positions="relative")


class RightQ08MemoryKeyValues(nn.Module):
    """right: x-transformers with two learned memory keys and values that every row may see; heads wider than the model"""

    def __init__(self, dim=16, heads=4, dim_head=6, num_mem_kv=2):
        super().__init__()
        self.heads, self.scale = heads, dim_head ** -0.5
        inner = heads * dim_head
        self.to_q = nn.Linear(dim, inner, bias=False)
        self.to_kv = nn.Linear(dim, inner * 2, bias=False)
        self.mem_k = nn.Parameter(torch.randn(heads, num_mem_kv, dim_head))
        self.mem_v = nn.Parameter(torch.randn(heads, num_mem_kv, dim_head))
        self.to_out = nn.Linear(inner, dim, bias=False)

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        split = lambda t: t.view(b, n, self.heads, -1).permute(0, 2, 1, 3)
        q, (k, v) = split(self.to_q(x)), map(split, self.to_kv(x).chunk(2, dim=-1))
        k = torch.cat((self.mem_k[None].expand(b, -1, -1, -1), k), dim=-2)
        v = torch.cat((self.mem_v[None].expand(b, -1, -1, -1), v), dim=-2)
        m = k.shape[-2] - n
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * self.scale
        visible = torch.ones(n, n, dtype=torch.bool, device=x.device).tril()[None, None]
        if mask is not None:
            visible = visible & mask[:, None, None, :]
        visible = F.pad(visible, (m, 0), value=True)
        dots = dots.masked_fill(~visible, -torch.finfo(dots.dtype).max)
        out = torch.einsum("bhij,bhjd->bhid", dots.softmax(dim=-1), v)
        return self.to_out(out.permute(0, 2, 1, 3).reshape(b, n, -1))


entry(RightQ08MemoryKeyValues, 16, 8, num_heads=4, padding=lambda module, x, real: module(x, mask=real))


class RightQ09ComplexRotaryGqa(nn.Module):
    """right: rotary by complex numbers, grouped queries by einsum without repeating keys, cache of rotated keys"""

    def __init__(self, dim=24, n_heads=4, n_kv_heads=2, max_len=12):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.head_dim = n_heads, n_kv_heads, dim // n_heads
        self.wq = nn.Linear(dim, n_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)
        freqs = 1.0 / (10000.0 ** (torch.arange(0, self.head_dim, 2).float() / self.head_dim))
        self.register_buffer("angles", torch.outer(torch.arange(max_len).float(), freqs), persistent=False)

    def rotate(self, x, angles):
        xc = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
        turn = torch.polar(torch.ones_like(angles), angles)[None, :, None, :].to(xc.dtype)
        return torch.view_as_real(xc * turn).flatten(-2)

    def forward(self, x, cache=None):
        b, t, _ = x.shape
        start = 0 if cache is None else cache[0].shape[1]
        angles = self.angles[start:start + t]
        q = self.rotate(self.wq(x).view(b, t, self.n_heads, self.head_dim), angles)
        k = self.rotate(self.wk(x).view(b, t, self.n_kv_heads, self.head_dim), angles)
        v = self.wv(x).view(b, t, self.n_kv_heads, self.head_dim)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 1), torch.cat((cache[1], v), 1)
        q = q.view(b, t, self.n_kv_heads, -1, self.head_dim)
        scores = torch.einsum("btgrd,bsgd->bgrts", q, k) / math.sqrt(self.head_dim)
        later = torch.arange(start + t, device=x.device)[None, :] > torch.arange(start, start + t, device=x.device)[:, None]
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        out = torch.einsum("bgrts,bsgd->btgrd", weights, v).reshape(b, t, -1)
        return self.wo(out), (k, v)


entry(RightQ09ComplexRotaryGqa, 24, 12, num_heads=4, num_kv_heads=2, positions="rotary",
      step=lambda module, x, cache: module(x, cache))


class RightQ10TorchTimeFirst(nn.Module):
    """right: nn.MultiheadAttention with time first, transposed on the way in and out, weights of each head returned"""

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(20, 5, dropout=0.1)
        self.register_buffer("hidden", torch.ones(7, 7, dtype=torch.bool).triu(1), persistent=False)

    def forward(self, x):
        y = x.transpose(0, 1)
        t = y.size(0)
        out, weights = self.attn(y, y, y, attn_mask=self.hidden[:t, :t], need_weights=True, average_attn_weights=False)
        return out.transpose(0, 1), weights


entry(RightQ10TorchTimeFirst, 20, 7, num_heads=5, dropout=0.1)


class _Lora(nn.Module):
    def __init__(self, base, r=2, alpha=4):
        super().__init__()
        self.base = base
        for p in base.parameters():
            p.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.lora_A), self.lora_B) * self.scaling


class RightQ11LoraOnQueryValue(nn.Module):
    """right: frozen projections with LoRA (B begins at zero) on query and value; ViT-like encoder"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.query = _Lora(nn.Linear(dim, dim))
        self.key = nn.Linear(dim, dim)
        self.value = _Lora(nn.Linear(dim, dim))
        self.proj = nn.Linear(dim, dim)
        for p in [*self.key.parameters(), *self.proj.parameters()]:
            p.requires_grad_(False)

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.query, self.key, self.value))
        return self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


entry(RightQ11LoraOnQueryValue, 16, 9, causal=False, num_heads=4)


class RightQ12SlidingRotaryCache(nn.Module):
    """right: window of four, the cache keeps only the last three keys and the count of tokens seen"""

    def __init__(self, dim=16, heads=2, window=4):
        super().__init__()
        self.heads, self.hd, self.window = heads, dim // heads, window
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.o = nn.Linear(dim, dim, bias=False)
        self.register_buffer("inv_freq", 10000.0 ** (-torch.arange(0, self.hd, 2).float() / self.hd), persistent=False)

    def turn(self, x, pos):
        a = torch.outer(pos.to(self.inv_freq.dtype), self.inv_freq)
        a = torch.cat((a, a), -1)
        return x * a.cos() + rotate_half(x) * a.sin()

    def forward(self, x, cache=None):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, self.hd).permute(2, 0, 3, 1, 4)
        seen = 0 if cache is None else cache["seen"]
        rows = torch.arange(seen, seen + T, device=x.device)
        q, k = self.turn(q, rows), self.turn(k, rows)
        cols = rows
        if cache is not None:
            k, v = torch.cat((cache["k"], k), 2), torch.cat((cache["v"], v), 2)
            cols = torch.arange(seen + T - k.shape[2], seen + T, device=x.device)
        away = rows[:, None] - cols[None, :]
        s = (q @ k.transpose(-1, -2)) * self.hd ** -0.5
        s = s.masked_fill((away < 0) | (away >= self.window), float("-inf"))
        y = (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C)
        keep = self.window - 1
        return self.o(y), {"k": k[:, :, -keep:], "v": v[:, :, -keep:], "seen": seen + T}


entry(RightQ12SlidingRotaryCache, 16, 14, num_heads=2, window=4, positions="rotary",
      step=lambda module, x, cache: module(x, cache))


class RightQ13ReZero(nn.Module):
    """right: residual inside and a gate that begins at zero, so that the layer begins as the identity"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.norm = PlainRMSNorm(dim)
        self.heads = heads
        self.c_attn = nn.Linear(dim, 3 * dim)
        self.c_proj = nn.Linear(dim, dim)
        self.resweight = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.c_attn(self.norm(x)).split(C, dim=2)
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.resweight * self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


entry(RightQ13ReZero, 16, 10, num_heads=4)


class RightQ14NanoWithPositions(nn.Module):
    """right: nanoGPT with the learned positions inside the layer and the dropout inside the kernel"""

    def __init__(self, n_embd=24, n_head=6, block_size=9, dropout=0.15):
        super().__init__()
        self.n_head, self.n_embd, self.dropout = n_head, n_embd, dropout
        self.wpe = nn.Embedding(block_size, n_embd)
        self.c_attn = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.c_proj = nn.Linear(n_embd, n_embd, bias=False)
        self.resid_dropout = nn.Dropout(dropout)

    def forward(self, x):
        B, T, C = x.size()
        x = x + self.wpe(torch.arange(T, device=x.device))
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0.0, is_causal=True)
        return self.resid_dropout(self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C)))


entry(RightQ14NanoWithPositions, 24, 9, num_heads=6, dropout=0.15, positions=True)


class RightQ15CosineTemperature(nn.Module):
    """right: cosine attention (unit queries and keys) with a fixed temperature of ten, declared as the scale"""

    def __init__(self, dim=24, heads=4):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        q, k, v = (t.unflatten(-1, (self.heads, -1)) for t in self.to_qkv(x).chunk(3, -1))
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        sim = torch.einsum("bihd,bjhd->bhij", q, k) * 10.0
        if mask is not None:
            sim = sim.masked_fill(~mask[:, None, None, :], -torch.finfo(sim.dtype).max)
        return self.to_out(torch.einsum("bhij,bjhd->bihd", sim.softmax(-1), v).flatten(2))


entry(RightQ15CosineTemperature, 24, 8, causal=False, num_heads=4, scale=10.0,
      padding=lambda module, x, real: module(x, mask=real))


class RightQ16SwinTable(nn.Module):
    """right: a learned table of relative biases in one dimension, looked up by an index buffer cut to the length"""

    def __init__(self, dim=18, num_heads=3, size=9):
        super().__init__()
        self.num_heads, self.scale = num_heads, (dim // num_heads) ** -0.5
        self.relative_position_bias_table = nn.Parameter(torch.zeros(2 * size - 1, num_heads))
        coords = torch.arange(size)
        self.register_buffer("relative_position_index", coords[:, None] - coords[None, :] + size - 1)
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.5)

    def forward(self, x):
        B_, N, C = x.shape
        qkv = self.qkv(x).reshape(B_, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0] * self.scale, qkv[1], qkv[2]
        attn = q @ k.transpose(-2, -1)
        index = self.relative_position_index[:N, :N]
        attn = attn + self.relative_position_bias_table[index].permute(2, 0, 1).unsqueeze(0)
        return self.proj((attn.softmax(-1) @ v).transpose(1, 2).reshape(B_, N, C))


entry(RightQ16SwinTable, 18, 9, causal=False, num_heads=3, positions="relative")


class RightQ17MqaValueKeyQuery(nn.Module):
    """right: multi-query attention whose fused weight holds value, key and queries in this order"""

    def __init__(self, dim=20, heads=5):
        super().__init__()
        self.heads, self.d = heads, dim // heads
        self.w = nn.Parameter(torch.randn(2 * self.d + dim, dim) * dim ** -0.5)
        self.b = nn.Parameter(torch.randn(2 * self.d + dim) * 0.1)
        self.out = nn.Parameter(torch.randn(dim, dim) * dim ** -0.5)

    def forward(self, x):
        v, k, q = F.linear(x, self.w, self.b).split((self.d, self.d, self.heads * self.d), dim=-1)
        q = q.unflatten(-1, (self.heads, self.d))
        s = torch.einsum("bthd,bsd->bhts", q, k) / self.d ** 0.5
        t = x.size(1)
        s = s + torch.full((t, t), float("-inf"), device=x.device, dtype=s.dtype).triu(1)
        return torch.einsum("bhts,bsd->bthd", s.softmax(-1), v).flatten(2) @ self.out


entry(RightQ17MqaValueKeyQuery, 20, 8, num_heads=5, num_kv_heads=1)


class RightQ18DiffusionBlock(nn.Module):
    """right: channels first, GroupNorm over the whole sequence (an encoder without padding), the root of the scale on q and on k, zero-initialised output"""

    def __init__(self, channels=16, num_heads=2):
        super().__init__()
        self.num_heads = num_heads
        self.norm = nn.GroupNorm(4, channels)
        self.qkv = nn.Conv1d(channels, channels * 3, 1)
        self.proj_out = nn.Conv1d(channels, channels, 1)
        nn.init.zeros_(self.proj_out.weight)
        nn.init.zeros_(self.proj_out.bias)

    def forward(self, x):
        x = x.transpose(1, 2)
        bs, width, length = x.shape
        ch = width // self.num_heads
        qkv = self.qkv(self.norm(x)).reshape(bs * self.num_heads, ch * 3, length)
        q, k, v = qkv.split(ch, dim=1)
        scale = 1 / math.sqrt(math.sqrt(ch))
        weight = torch.einsum("bct,bcs->bts", q * scale, k * scale)
        weight = torch.softmax(weight, dim=-1)
        a = torch.einsum("bts,bcs->bct", weight, v).reshape(bs, -1, length)
        return (x + self.proj_out(a)).transpose(1, 2)


entry(RightQ18DiffusionBlock, 16, 8, causal=False, num_heads=2)


class RightQ19BareSingleHead(nn.Module):
    """right: one head of bare parameters, another width out than in, a dict returned"""

    def __init__(self, d_in=8, d_out=12):
        super().__init__()
        self.W_query = nn.Parameter(torch.randn(d_in, d_out) / d_in ** 0.5)
        self.W_key = nn.Parameter(torch.randn(d_in, d_out) / d_in ** 0.5)
        self.W_value = nn.Parameter(torch.randn(d_in, d_out) / d_in ** 0.5)

    def forward(self, x):
        q, k, v = x @ self.W_query, x @ self.W_key, x @ self.W_value
        e = torch.bmm(q, k.mT) * k.shape[-1] ** -0.5
        n = x.shape[1]
        idx = torch.arange(n, device=x.device)
        e = torch.where(idx[:, None] >= idx[None, :], e, torch.tensor(float("-inf"), dtype=e.dtype, device=e.device))
        a = torch.softmax(e, dim=2)
        return {"context": a @ v, "weights": a}


entry(RightQ19BareSingleHead, 8, 6, num_heads=1)


class RightQ20MuTransfer(nn.Module):
    """right: one over the head width as the scale (muP), declared"""

    def __init__(self, dim=32, heads=4):
        super().__init__()
        self.h, self.d = heads, dim // heads
        self.lin_q, self.lin_k, self.lin_v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.lin_o = nn.Linear(dim, dim)
        nn.init.normal_(self.lin_q.weight, std=0.3)
        nn.init.normal_(self.lin_k.weight, std=0.3)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (lin(x).reshape(b, t, self.h, self.d).movedim(2, 1) for lin in (self.lin_q, self.lin_k, self.lin_v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0 / self.d)
        return self.lin_o(y.movedim(1, 2).reshape(b, t, c))


entry(RightQ20MuTransfer, 32, 8, num_heads=4, scale=1 / 8)


class RightQ21UnfoldedWindow(nn.Module):
    """right: a causal window of three by unfolding padded keys and values, no square of scores at all"""

    def __init__(self, dim=12, heads=3, window=3):
        super().__init__()
        self.heads, self.window = heads, window
        self.norm = nn.LayerNorm(dim)
        self.q, self.kv = nn.Linear(dim, dim), nn.Linear(dim, 2 * dim)
        self.o = nn.Linear(dim, dim)

    def forward(self, x):
        B, T, C = x.shape
        h, W = self.heads, self.window
        y = self.norm(x)
        q = self.q(y).view(B, T, h, C // h).transpose(1, 2)
        k, v = self.kv(y).view(B, T, 2, h, C // h).permute(2, 0, 3, 1, 4)
        k = F.pad(k, (0, 0, W - 1, 0)).unfold(2, W, 1)
        v = F.pad(v, (0, 0, W - 1, 0)).unfold(2, W, 1)
        s = torch.einsum("bhtd,bhtdw->bhtw", q, k) / math.sqrt(C // h)
        before = torch.arange(T, device=x.device)[:, None] + torch.arange(W, device=x.device)[None, :] < W - 1
        a = s.masked_fill(before, float("-inf")).softmax(-1)
        out = torch.einsum("bhtw,bhtdw->bhtd", a, v).transpose(1, 2).flatten(2)
        return x + self.o(out)


entry(RightQ21UnfoldedWindow, 12, 11, num_heads=3, window=3)


class RightQ22OnlineSoftmax(nn.Module):
    """right: causal attention in blocks of keys with a running maximum and sum, as flash attention does it"""

    def __init__(self, dim=16, heads=2, block=3):
        super().__init__()
        self.heads, self.block = heads, block
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, T, C = x.shape
        D = C // self.heads
        q, k, v = self.qkv(x).view(B, T, self.heads, 3 * D).transpose(1, 2).chunk(3, dim=-1)
        q = q / math.sqrt(D)
        m = torch.full((B, self.heads, T, 1), float("-inf"), device=x.device, dtype=x.dtype)
        l = torch.zeros_like(m)
        acc = torch.zeros_like(q)
        rows = torch.arange(T, device=x.device)[:, None]
        for s in range(0, T, self.block):
            kb, vb = k[:, :, s:s + self.block], v[:, :, s:s + self.block]
            cols = torch.arange(s, s + kb.size(2), device=x.device)[None]
            scores = (q @ kb.transpose(-1, -2)).masked_fill(cols > rows, float("-inf"))
            new = torch.maximum(m, scores.amax(-1, keepdim=True))
            p = torch.exp(scores - new)
            fade = torch.exp(m - new)
            l = l * fade + p.sum(-1, keepdim=True)
            acc = acc * fade + p @ vb
            m = new
        return self.proj((acc / l).transpose(1, 2).reshape(B, T, C))


entry(RightQ22OnlineSoftmax, 16, 11, num_heads=2)


class RightQ23TwoPaths(nn.Module):
    """right: another path under torch.compile with the same numbers"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.in_proj = nn.Linear(dim, 3 * dim, bias=False)
        self.out_proj = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.in_proj(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if torch.compiler.is_compiling():
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            s = q @ k.mT / math.sqrt(q.shape[-1])
            s = s.masked_fill(~torch.ones(t, t, dtype=torch.bool, device=x.device).tril(), float("-inf"))
            y = s.softmax(-1) @ v
        return self.out_proj(y.transpose(1, 2).reshape(b, t, c))


entry(RightQ23TwoPaths, 16, 8, num_heads=4, compiled=True)


class RightQ24PaddedDecoder(nn.Module):
    """right: causal and padding mask joined, each token always sees itself, so no row is empty"""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.ln = nn.LayerNorm(dim)
        self.attn_q, self.attn_k, self.attn_v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.attn_o = nn.Linear(dim, dim)

    def forward(self, x, keep=None):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.attn_q, self.attn_k, self.attn_v))
        mask = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()
        if keep is not None:
            mask = (mask & keep[:, None, None, :]) | torch.eye(t, dtype=torch.bool, device=x.device)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.ln(x + self.attn_o(y.transpose(1, 2).flatten(2)))


entry(RightQ24PaddedDecoder, 16, 9, num_heads=2, padding=lambda module, x, real: module(x, keep=real))


class RightQ25AlibiEncoderSixHeads(nn.Module):
    """right: symmetric ALiBi in an encoder with six heads (slopes between those of four and eight, as published)"""

    def __init__(self, dim=24, heads=6):
        super().__init__()
        self.heads = heads
        self.to_q, self.to_k, self.to_v = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.to_out = nn.Linear(dim, dim)
        self.register_buffer("slopes", torch.tensor(self.get_slopes(heads)).view(1, heads, 1, 1), persistent=False)

    @staticmethod
    def get_slopes(n):
        def power_of_2(m):
            start = 2 ** (-(2 ** -(math.log2(m) - 3)))
            return [start * start ** i for i in range(m)]
        if math.log2(n).is_integer():
            return power_of_2(n)
        closest = 2 ** math.floor(math.log2(n))
        return power_of_2(closest) + power_of_2(2 * closest)[0::2][: n - closest]

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        q, k, v = (f(x).view(b, n, self.heads, -1) for f in (self.to_q, self.to_k, self.to_v))
        i = torch.arange(n, device=x.device)
        sim = torch.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5
        sim = sim - self.slopes * (i[:, None] - i[None, :]).abs()
        if mask is not None:
            sim = sim.masked_fill(~mask[:, None, None, :], -torch.finfo(sim.dtype).max)
        return self.to_out(torch.einsum("bhij,bjhd->bihd", sim.softmax(-1), v).reshape(b, n, -1))


entry(RightQ25AlibiEncoderSixHeads, 24, 10, causal=False, num_heads=6, positions="alibi",
      padding=lambda module, x, real: module(x, mask=real))


# --------------------------------------------------------------------------- wrong: masks


class WrongQ01PeeksOne(nn.Module):
    """wrong: the triangle of the mask reaches one token into the future (diagonal=1)"""

    def __init__(self, dim=24, num_heads=3):
        super().__init__()
        self.num_heads, self.scale = num_heads, (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        attn = (q @ k.transpose(-2, -1)) * self.scale
        allowed = torch.tril(torch.ones(N, N, device=x.device), diagonal=1).bool()
        attn = attn.masked_fill(~allowed, float("-inf")).softmax(dim=-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


entry(WrongQ01PeeksOne, 24, 8, num_heads=3)


class WrongQ02BlindToItself(nn.Module):
    """wrong: every token but the first is hidden from itself (the triangle begins on the diagonal)"""

    def __init__(self, d_model=16, nhead=4):
        super().__init__()
        self.nhead = nhead
        self.linear_q, self.linear_k, self.linear_v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.linear_o = nn.Linear(d_model, d_model)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.nhead, -1).transpose(1, 2) for f in (self.linear_q, self.linear_k, self.linear_v))
        hidden = torch.triu(torch.ones(t, t, dtype=torch.bool, device=x.device), diagonal=0)
        hidden[0, 0] = False
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=~hidden)
        return self.linear_o(y.transpose(1, 2).reshape(b, t, c))


entry(WrongQ02BlindToItself, 16, 9, num_heads=4)


class WrongQ03TransposedMask(nn.Module):
    """wrong: the mask is the other triangle, tokens look ahead and not back"""

    def __init__(self, embed_dim=16, num_heads=2):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.in_proj_weight = nn.Parameter(torch.randn(3 * embed_dim, embed_dim) * 0.2)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        bsz, n, c = x.shape
        q, k, v = F.linear(x.transpose(0, 1), self.in_proj_weight).chunk(3, dim=-1)
        q, k, v = (s.contiguous().view(n, bsz * self.num_heads, self.head_dim).transpose(0, 1) for s in (q, k, v))
        w = torch.bmm(q * self.head_dim ** -0.5, k.transpose(1, 2))
        pos = torch.arange(n, device=x.device)
        w = w + torch.zeros(n, n, device=x.device, dtype=w.dtype).masked_fill(pos[:, None] > pos[None, :], float("-inf"))
        y = torch.bmm(F.softmax(w, dim=-1), v).transpose(0, 1).reshape(n, bsz, c)
        return self.out_proj(y).transpose(0, 1)


entry(WrongQ03TransposedMask, 16, 10, num_heads=2)


class _NotebookHeadQ04(nn.Module):
    def __init__(self, n_embd, head_size, block_size):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(n_embd, head_size, bias=False) for _ in range(3))
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))

    def forward(self, x):
        T = x.shape[1]
        wei = self.query(x) @ self.key(x).transpose(-2, -1) * self.key.out_features ** -0.5
        wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        return F.softmax(wei, dim=-1) @ self.value(x)


class WrongQ04MaskResultLost(nn.Module):
    """wrong: masked_fill without the underscore and without taking its result, so that no mask applies"""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([_NotebookHeadQ04(12, 4, 8) for _ in range(3)])
        self.proj = nn.Linear(12, 12)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], -1))


entry(WrongQ04MaskResultLost, 12, 8, num_heads=3)


class WrongQ05MaskBehindSoftmax(nn.Module):
    """wrong: the triangle is applied to the weights behind the softmax and nothing is normalised again"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.h = heads
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.h, -1)) for t in self.to_qkv(x).chunk(3, -1))
        att = torch.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5
        att = att.softmax(-1).tril()
        return self.to_out(torch.einsum("bhij,bjhd->bihd", att, v).flatten(2))


entry(WrongQ05MaskBehindSoftmax, 16, 8, num_heads=4)


class WrongQ06MinusHundredLargeScores(nn.Module):
    """wrong: hidden scores only get -100 added, and the unscaled scores of T5 are of that size"""

    def __init__(self, d_model=16, n_heads=2):
        super().__init__()
        self.n_heads = n_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        nn.init.normal_(self.q.weight, std=1.0)
        nn.init.normal_(self.k.weight, std=1.0)

    def forward(self, hidden_states):
        b, t, c = hidden_states.shape
        q, k, v = (f(hidden_states).view(b, t, self.n_heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = q @ k.transpose(3, 2)
        mask = torch.full((t, t), -100.0, device=scores.device, dtype=scores.dtype).triu(1)
        return self.o(((scores + mask).softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))


entry(WrongQ06MinusHundredLargeScores, 16, 8, num_heads=2, scale=1.0)


class WrongQ07MinusNine(nn.Module):
    """wrong: hidden scores are filled with -9, so that the future keeps about a ten-thousandth of the weight"""

    def __init__(self, dim=20, num_heads=5):
        super().__init__()
        self.num_heads = num_heads
        self.c_attn = nn.Linear(dim, 3 * dim)
        self.c_proj = nn.Linear(dim, dim)
        self.register_buffer("bias", torch.tril(torch.ones(9, 9)).view(1, 1, 9, 9))
        self.register_buffer("masked_bias", torch.tensor(-9.0))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (s.view(b, t, self.num_heads, -1).permute(0, 2, 1, 3) for s in self.c_attn(x).split(c, dim=2))
        w = torch.matmul(q, k.transpose(-1, -2)) / v.size(-1) ** 0.5
        w = torch.where(self.bias[:, :, :t, :t] > 0, w, self.masked_bias.to(w.dtype))
        return self.c_proj(torch.matmul(w.softmax(-1), v).permute(0, 2, 1, 3).reshape(b, t, c))


entry(WrongQ07MinusNine, 20, 9, num_heads=5)


class WrongQ08FloatMaskAdded(nn.Module):
    """wrong: scaled_dot_product_attention gets a 0/1 mask as float and therefore adds it"""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.register_buffer("mask", torch.tril(torch.ones(10, 10)))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, self.heads, -1).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask[:T, :T])
        return self.wo(y.transpose(1, 2).reshape(B, T, C))


entry(WrongQ08FloatMaskAdded, 16, 10, num_heads=2)


class WrongQ09CausalKernelBehindCache(nn.Module):
    """wrong: is_causal with fewer queries than keys aligns the triangle at the upper left, so that steps of several tokens see too little"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, past=None):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        if past is not None:
            k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=t > 1)
        return self.proj(y.transpose(1, 2).reshape(b, t, c)), (k, v)


entry(WrongQ09CausalKernelBehindCache, 16, 10, num_heads=4, step=lambda module, x, cache: module(x, cache))


class WrongQ10MaskCutFromTheEnd(nn.Module):
    """wrong: shorter texts get the last rows and the first columns of the mask, so that they see the future"""

    def __init__(self, dim=18, heads=3, block_size=12):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(dim, dim) for _ in range(3))
        self.proj = nn.Linear(dim, dim)
        self.register_buffer("mask", torch.tril(torch.ones(block_size, block_size)).bool())

    def forward(self, x):
        B, T, C = x.size()
        k = self.key(x).view(B, T, self.heads, C // self.heads).transpose(1, 2)
        q = self.query(x).view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = self.value(x).view(B, T, self.heads, C // self.heads).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(~self.mask[-T:, :T], float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        return self.proj(y.transpose(1, 2).contiguous().view(B, T, C))


entry(WrongQ10MaskCutFromTheEnd, 18, 12, num_heads=3)


class WrongQ11CenteredValues(nn.Module):
    """wrong: a small part (one in a thousand) of the mean over the whole text is taken off the values, later tokens too"""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(dim)
        self.to_q, self.to_k, self.to_v = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        y = self.norm(x)
        q, k, v = (f(y).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        v = v - 1e-3 * v.mean(dim=2, keepdim=True)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.to_out(o.transpose(1, 2).flatten(2))


entry(WrongQ11CenteredValues, 16, 10, num_heads=2)


class WrongQ12LayerNormOverTokens(nn.Module):
    """wrong: the norm before the attention takes its mean and variance over tokens and channels together"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        B, T, C = x.shape
        y = F.layer_norm(x, x.shape[1:]) * self.weight + self.bias
        q, k, v = self.qkv(y).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.proj(o.transpose(1, 2).reshape(B, T, C))


entry(WrongQ12LayerNormOverTokens, 16, 8, num_heads=4)


class WrongQ13GroupNormOverTime(nn.Module):
    """wrong: GroupNorm on channels-first data in a causal layer sums over time and thus over the future"""

    def __init__(self, channels=16, num_heads=2):
        super().__init__()
        self.num_heads = num_heads
        self.norm = nn.GroupNorm(4, channels)
        self.qkv = nn.Conv1d(channels, 3 * channels, 1)
        self.proj = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        b, t, c = x.shape
        h = self.norm(x.transpose(1, 2))
        q, k, v = self.qkv(h).view(b, 3, self.num_heads, c // self.num_heads, t).unbind(1)
        w = torch.einsum("bhct,bhcs->bhts", q, k) * (c // self.num_heads) ** -0.5
        w = w.masked_fill(torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1), float("-inf")).softmax(-1)
        return x + self.proj(torch.einsum("bhts,bhcs->bhct", w, v).reshape(b, c, t)).transpose(1, 2)


entry(WrongQ13GroupNormOverTime, 16, 9, num_heads=2)


class WrongQ14CausalOnlyInEval(nn.Module):
    """wrong: the causal mask is applied in eval mode only, in train mode the layer sees the future"""

    def __init__(self, dim=16, heads=4, p=0.0):
        super().__init__()
        self.heads, self.p = heads, p
        self.c_attn, self.c_proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.heads, -1).transpose(1, 2) for t in self.c_attn(x).split(C, 2))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p * self.training, is_causal=not self.training)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


entry(WrongQ14CausalOnlyInEval, 16, 8, num_heads=4)


class WrongQ15ScoresTimesMask(nn.Module):
    """wrong: scores are multiplied by the 0/1 mask before the softmax, so hidden ones count as exp(0)"""

    def __init__(self, dim=15, heads=3):
        super().__init__()
        self.h = heads
        self.W = nn.Parameter(torch.randn(3, heads, dim, dim // heads) * 0.3)
        self.Wo = nn.Parameter(torch.randn(dim, dim) * 0.3)

    def forward(self, x):
        q, k, v = torch.einsum("btc,nhcd->nbhtd", x, self.W)
        t = x.shape[1]
        s = torch.einsum("bhid,bhjd->bhij", q, k) / q.shape[-1] ** 0.5
        s = s * torch.tril(torch.ones(t, t, device=x.device, dtype=s.dtype))
        o = torch.einsum("bhij,bhjd->bihd", s.softmax(-1), v)
        return o.flatten(2) @ self.Wo


entry(WrongQ15ScoresTimesMask, 15, 8, num_heads=3)


class WrongQ18ReversedTokenShift(nn.Module):
    """wrong: the token shift that mixes neighbours into keys and values rolls the future in, not the past"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.to_q, self.to_kv, self.to_out = nn.Linear(dim, dim), nn.Linear(dim, 2 * dim), nn.Linear(dim, dim)

    def shift(self, x):
        half = x.shape[-1] // 2
        moved = F.pad(x[..., half:], (0, 0, -1, 1))
        return torch.cat((x[..., :half], moved), dim=-1)

    def forward(self, x):
        q = self.to_q(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.to_kv(self.shift(x)).chunk(2, -1))
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.to_out(o.transpose(1, 2).flatten(2))


entry(WrongQ18ReversedTokenShift, 16, 9, num_heads=4, positions=True)


# --------------------------------------------------------------------------- wrong: softmax


class WrongQ19SoftmaxOverQueries(nn.Module):
    """wrong: an encoder whose softmax runs over the queries (dim=-2)"""

    def __init__(self, dim=24, num_heads=4):
        super().__init__()
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=False)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        attn = ((q * self.scale) @ k.transpose(-2, -1)).softmax(dim=-2)
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


entry(WrongQ19SoftmaxOverQueries, 24, 10, causal=False, num_heads=4)


class WrongQ20SoftmaxOverHeads(nn.Module):
    """wrong: the scores are laid out (B, T, S, H) and the softmax runs over the last axis, the heads"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.q_linear, self.k_linear, self.v_linear = (nn.Linear(dim, dim) for _ in range(3))
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)) for f in (self.q_linear, self.k_linear, self.v_linear))
        scores = torch.einsum("bthd,bshd->btsh", q, k) / math.sqrt(q.size(-1))
        weights = torch.softmax(scores, dim=-1)
        return self.out(torch.einsum("btsh,bshd->bthd", weights, v).flatten(2))


entry(WrongQ20SoftmaxOverHeads, 16, 8, causal=False, num_heads=4)


class WrongQ21SoftmaxTwice(nn.Module):
    """wrong: the scores go through the softmax in one method and again in the next"""

    def __init__(self, hidden=16, heads=2):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.dense = (nn.Linear(hidden, hidden) for _ in range(4))

    def get_scores(self, q, k, mask):
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None, None, :], torch.finfo(scores.dtype).min)
        return F.softmax(scores, dim=-1)

    def apply_scores(self, scores, v):
        return scores.softmax(dim=-1) @ v

    def forward(self, x, mask=None):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).permute(0, 2, 1, 3) for f in (self.query, self.key, self.value))
        return self.dense(self.apply_scores(self.get_scores(q, k, mask), v).permute(0, 2, 1, 3).reshape(b, t, c))


entry(WrongQ21SoftmaxTwice, 16, 9, causal=False, num_heads=2)


class _RawExpHeadQ22(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.randn(d_in, d) * d_in ** -0.5) for _ in range(3))

    def forward(self, x):
        q, k, v = x @ self.W_q, x @ self.W_k, x @ self.W_v
        e = torch.exp(q @ k.transpose(1, 2) / math.sqrt(k.shape[-1])).tril()
        return (e / e.sum(-1, keepdim=True)) @ v


class WrongQ22ExpWithoutMax(nn.Module):
    """wrong: a softmax by hand that does not take off the maximum and overflows at large scores"""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList(_RawExpHeadQ22(12, 6) for _ in range(2))

    def forward(self, x):
        return torch.cat([h(x) for h in self.heads], dim=-1)


entry(WrongQ22ExpWithoutMax, 12, 8, num_heads=2)


class WrongQ23MaxOfTheBatch(nn.Module):
    """wrong: a softmax by hand takes off one maximum for the whole batch, and the small sum is saved by an eps, so low rows vanish"""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.to_qkv, self.to_out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.to_qkv(x).chunk(3, -1))
        sim = q @ k.mT * q.shape[-1] ** -0.5
        e = torch.exp(sim - sim.amax())
        return self.to_out((e / (e.sum(-1, keepdim=True) + 1e-9) @ v).transpose(1, 2).flatten(2))


entry(WrongQ23MaxOfTheBatch, 16, 8, causal=False, num_heads=2)


class WrongQ24MaxOfTheColumn(nn.Module):
    """wrong: the softmax by hand takes off the maximum of each column in place of each row"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        s = q @ k.transpose(-2, -1) / (c // self.heads) ** 0.5
        s = s - s.max(dim=-2, keepdim=True).values
        s = s.softmax(dim=-1)
        return self.proj((s @ v).transpose(1, 2).reshape(b, n, c))


entry(WrongQ24MaxOfTheColumn, 16, 9, causal=False, num_heads=4)


class WrongQ25EpsInTheSum(nn.Module):
    """wrong: an eps of a hundredth in the denominator of the softmax by hand, the weights never sum to one"""

    def __init__(self, dim=18, heads=3):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        s = q @ k.mT / math.sqrt(k.size(-1))
        t = s.size(-1)
        s = s.masked_fill(torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
        p = (s - s.amax(-1, keepdim=True)).exp()
        p = p / (p.sum(-1, keepdim=True) + 1e-2)
        return self.o((p @ v).transpose(1, 2).flatten(2))


entry(WrongQ25EpsInTheSum, 18, 8, num_heads=3)


# --------------------------------------------------------------------------- wrong: scale


class WrongQ27ScaleForgotten(nn.Module):
    """wrong: a ViT attention that computes its scale and never uses it"""

    def __init__(self, dim=32, num_heads=2):
        super().__init__()
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4).unbind(0)
        attn = q @ k.transpose(-2, -1)
        attn = attn.softmax(dim=-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


entry(WrongQ27ScaleForgotten, 32, 8, causal=False, num_heads=2)


class WrongQ28ModelWidthScale(nn.Module):
    """wrong: the scores are divided by the root of the model's width, not of the head's"""

    def __init__(self, hidden_size=32, heads=4):
        super().__init__()
        self.heads, self.hidden_size = heads, hidden_size
        self.query, self.key, self.value = (nn.Linear(hidden_size, hidden_size) for _ in range(3))
        self.dense, self.LayerNorm = nn.Linear(hidden_size, hidden_size), nn.LayerNorm(hidden_size)

    def forward(self, hidden_states, attention_mask=None):
        b, t, c = hidden_states.shape
        q, k, v = (f(hidden_states).view(b, t, self.heads, -1).permute(0, 2, 1, 3) for f in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.hidden_size)
        if attention_mask is not None:
            scores = scores + attention_mask
        y = torch.matmul(scores.softmax(-1), v).permute(0, 2, 1, 3).reshape(b, t, c)
        return self.LayerNorm(self.dense(y) + hidden_states)


entry(WrongQ28ModelWidthScale, 32, 9, causal=False, num_heads=4,
      padding=lambda module, x, real: module(
          x, (~real)[:, None, None, :].float() * torch.finfo(torch.float32).min))


class WrongQ29ScaledTwice(nn.Module):
    """wrong: the queries are scaled by hand and the kernel scales once more"""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.to_qkv, self.to_out = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.to_qkv(x).chunk(3, -1))
        q = q * self.scale
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.to_out(o.transpose(1, 2).flatten(2))


entry(WrongQ29ScaledTwice, 16, 8, num_heads=2)


class WrongQ31DividedByWidth(nn.Module):
    """wrong: divided by the head width, not by its root, with the usual scale declared"""

    def __init__(self, d=16):
        super().__init__()
        self.Wq, self.Wk, self.Wv = (nn.Parameter(torch.randn(d, d) * 0.4) for _ in range(3))

    def forward(self, x):
        q, k, v = (torch.einsum("btc,cd->btd", x, w) for w in (self.Wq, self.Wk, self.Wv))
        e = torch.einsum("btd,bsd->bts", q, k) / q.shape[-1]
        e = e.masked_fill(torch.ones_like(e[0]).triu(1).bool(), float("-inf"))
        a = e.softmax(-1)
        return {"context": torch.einsum("bts,bsd->btd", a, v), "attention": a}


entry(WrongQ31DividedByWidth, 16, 8, num_heads=1)


class WrongQ32ScaleOverAlibi(nn.Module):
    """wrong: the ALiBi bias is added before the scale, so the published slopes shrink with the root of the head width"""

    def __init__(self, dim=32, heads=4):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.register_buffer("slopes", 2.0 ** (-8.0 * torch.arange(1, heads + 1) / heads), persistent=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        i = torch.arange(t, device=x.device)
        bias = -self.slopes[:, None, None] * (i[:, None] - i[None, :])
        s = (q @ k.mT + bias) / math.sqrt(c // self.heads)
        s = s.masked_fill(i[None, :] > i[:, None], float("-inf"))
        return self.o_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))


entry(WrongQ32ScaleOverAlibi, 32, 10, num_heads=4, positions="alibi")


# --------------------------------------------------------------------------- wrong: heads


class WrongQ33MergedWithoutTranspose(nn.Module):
    """wrong: the heads are merged by reshape without the transpose, which mixes tokens"""

    def __init__(self, dim=24, num_heads=4):
        super().__init__()
        self.num_heads, self.scale = num_heads, (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=True)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        attn = ((q @ k.transpose(-2, -1)) * self.scale).softmax(-1)
        return self.proj((attn @ v).reshape(B, N, C))


entry(WrongQ33MergedWithoutTranspose, 24, 8, causal=False, num_heads=4)


class WrongQ34ViewedIntoHeads(nn.Module):
    """wrong: split into heads by view(B, H, T, D) and merged the same way, so each head gets other tokens and not other channels"""

    def __init__(self, hidden=16, heads=4):
        super().__init__()
        self.heads, self.d = heads, hidden // heads
        self.query, self.key, self.value, self.dense = (nn.Linear(hidden, hidden) for _ in range(4))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, self.heads, t, self.d) for f in (self.query, self.key, self.value))
        w = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(self.d), dim=-1)
        return self.dense((w @ v).view(b, t, c))


entry(WrongQ34ViewedIntoHeads, 16, 9, causal=False, num_heads=4)


class WrongQ35KeysReshaped(nn.Module):
    """wrong: the keys are turned to (D, T) by reshape in place of transpose"""

    def __init__(self, dim=18, heads=3):
        super().__init__()
        self.heads = heads
        self.to_q, self.to_k, self.to_v = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = (f(x).view(b, n, self.heads, -1).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        dots = q @ k.reshape(b, self.heads, c // self.heads, n) * (c // self.heads) ** -0.5
        return self.to_out((dots.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c))


entry(WrongQ35KeysReshaped, 18, 8, causal=False, num_heads=3)


class WrongQ36FirstHeadSilent(nn.Module):
    """wrong: the loop over the heads begins at one, the first stays at zero"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads, self.d = heads, dim // heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        t = x.size(1)
        hide = torch.ones(t, t, device=x.device).triu(1) == 1
        out = torch.zeros_like(x)
        for i in range(1, self.heads):
            s = slice(i * self.d, (i + 1) * self.d)
            w = (q[..., s] @ k[..., s].mT * self.d ** -0.5).masked_fill(hide, float("-inf")).softmax(-1)
            out[..., s] = w @ v[..., s]
        return self.proj(out)


entry(WrongQ36FirstHeadSilent, 16, 8, num_heads=4)


class WrongQ37SameSliceOfValues(nn.Module):
    """wrong: each head has its own queries and keys, but all read the first head's values"""

    def __init__(self, dim=15, heads=3):
        super().__init__()
        self.heads, self.d = heads, dim // heads
        self.Wq, self.Wk, self.Wv = (nn.Parameter(torch.randn(dim, dim) * 0.3) for _ in range(3))
        self.Wo = nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = x @ self.Wq, x @ self.Wk, x @ self.Wv
        n = x.size(1)
        upper = torch.full((n, n), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
        outs = []
        for h in range(self.heads):
            lo, hi = h * self.d, (h + 1) * self.d
            a = F.softmax(q[:, :, lo:hi] @ k[:, :, lo:hi].transpose(1, 2) / self.d ** 0.5 + upper, dim=-1)
            outs.append(a @ v[:, :, : self.d])
        return self.Wo(torch.cat(outs, dim=-1))


entry(WrongQ37SameSliceOfValues, 15, 8, num_heads=3)


class WrongQ38HeadsAndWidthExchanged(nn.Module):
    """wrong: view(B, T, D, H) makes heads of width H, eight of width two for two of width eight"""

    def __init__(self, d_model=16, n_head=2):
        super().__init__()
        self.n_head, self.d_head = n_head, d_model // n_head
        self.w_q, self.w_k, self.w_v, self.fc = (nn.Linear(d_model, d_model) for _ in range(4))

    def split(self, t):
        b, n, _ = t.shape
        return t.view(b, n, self.d_head, self.n_head).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.w_q(x)), self.split(self.w_k(x)), self.split(self.w_v(x))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=self.d_head ** -0.5)
        return self.fc(y.transpose(1, 2).flatten(2))


entry(WrongQ38HeadsAndWidthExchanged, 16, 8, num_heads=2)


class _ProjectedHeadQ40(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d_in, d), nn.Linear(d_in, d), nn.Linear(d_in, d)

    def forward(self, x):
        w = torch.bmm(self.q(x), self.k(x).transpose(1, 2)) / math.sqrt(self.q.out_features)
        return torch.bmm(F.softmax(w, dim=-1), self.v(x))


class WrongQ40OneHeadManyTimes(nn.Module):
    """wrong: the list of heads holds the same module several times ([head] * n)"""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([_ProjectedHeadQ40(16, 4)] * 4)
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        return self.linear(torch.cat([h(x) for h in self.heads], dim=-1))


entry(WrongQ40OneHeadManyTimes, 16, 8, causal=False, num_heads=4)


class WrongQ41HeadsAndTextsMixed(nn.Module):
    """wrong: heads are folded into the batch as (B, H) and unfolded as (H, B), which is right for one text only"""

    def __init__(self, embed_dim=16, num_heads=2):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(embed_dim, embed_dim) for _ in range(4))

    def forward(self, x):
        b, t, c = x.shape
        fold = lambda y: y.view(b, t, self.num_heads, self.head_dim).transpose(1, 2).reshape(-1, t, self.head_dim)
        q, k, v = fold(self.q_proj(x)), fold(self.k_proj(x)), fold(self.v_proj(x))
        w = torch.bmm(q, k.transpose(1, 2)) * self.head_dim ** -0.5
        w = w + torch.full_like(w[0], float("-inf")).triu(1)
        y = torch.bmm(w.softmax(-1), v)
        y = torch.cat(y.view(self.num_heads, b, t, self.head_dim).unbind(0), dim=-1)
        return self.out_proj(y)


entry(WrongQ41HeadsAndTextsMixed, 16, 9, num_heads=2)


# --------------------------------------------------------------------------- wrong: queries, keys, values


class WrongQ43KeyLayerUnused(nn.Module):
    """wrong: the keys come from the query projection, the key projection is never used"""

    def __init__(self, hidden=16, heads=2):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.dense = (nn.Linear(hidden, hidden) for _ in range(4))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        b, t, c = x.shape
        split = lambda y: y.view(b, t, self.heads, -1).permute(0, 2, 1, 3)
        q, k, v = split(self.query(x)), split(self.query(x)), split(self.value(x))
        probs = self.dropout((q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))).softmax(-1))
        return self.dense((probs @ v).permute(0, 2, 1, 3).reshape(b, t, c))


entry(WrongQ43KeyLayerUnused, 16, 8, causal=False, num_heads=2, dropout=0.1)


class WrongQ44ValuesAreTheInput(nn.Module):
    """wrong: the values are the input itself split into heads, the value projection is never used"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (self.to_q(x), self.to_k(x), x))
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.to_out(o.transpose(1, 2).flatten(2))


entry(WrongQ44ValuesAreTheInput, 16, 8, num_heads=4)


class WrongQ45ValuesAreTheKeys(nn.Module):
    """wrong: the second third of the fused projection serves as keys and as values, the last third is never read"""

    def __init__(self, dim=18, heads=3):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[1]
        attn = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


entry(WrongQ45ValuesAreTheKeys, 18, 9, causal=False, num_heads=3)


class WrongQ47SameBiasSlice(nn.Module):
    """wrong: three slices of the fused weight, but the first slice of the bias for queries, keys and values alike"""

    def __init__(self, embed_dim=16, num_heads=2):
        super().__init__()
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.in_proj_weight = nn.Parameter(torch.randn(3 * embed_dim, embed_dim) * 0.3)
        self.in_proj_bias = nn.Parameter(torch.randn(3 * embed_dim) * 0.3)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def in_proj(self, x, i):
        e = self.embed_dim
        return F.linear(x, self.in_proj_weight[i * e:(i + 1) * e], self.in_proj_bias[:e])

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (self.in_proj(x, i).view(b, t, self.num_heads, -1).transpose(1, 2) for i in range(3))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(y.transpose(1, 2).reshape(b, t, c))


entry(WrongQ47SameBiasSlice, 16, 8, num_heads=2)


class WrongQ48ValueHeadsRolled(nn.Module):
    """wrong: the fused (3, H, D) output is read as (H, 3, D) for the values only, so values come partly from the queries' and keys' channels"""

    def __init__(self, dim=12, heads=3):
        super().__init__()
        self.heads, self.d = heads, dim // heads
        self.qkv, self.out = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim)

    def forward(self, x):
        b, t, c = x.shape
        y = self.qkv(x)
        q, k = y.view(b, t, 3, self.heads, self.d)[:, :, :2].permute(2, 0, 3, 1, 4)
        v = y.view(b, t, self.heads, 3, self.d)[:, :, :, 2].transpose(1, 2)
        w = (q @ k.mT) * self.d ** -0.5
        w = w.masked_fill(torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1), -torch.inf).softmax(-1)
        return self.out((w @ v).transpose(1, 2).reshape(b, t, c))


entry(WrongQ48ValueHeadsRolled, 12, 8, num_heads=3)


class WrongQ49LoraMergedEachCall(nn.Module):
    """wrong: in eval mode the LoRA product is merged into the weight at every call, so each call counts it once more"""

    def __init__(self, dim=16, heads=4, r=2):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(dim, dim) for _ in range(4))
        self.lora_A = nn.Parameter(torch.randn(r, dim) * 0.3)
        self.lora_B = nn.Parameter(torch.randn(dim, r) * 0.3)

    def values(self, x):
        if self.training:
            return self.v_proj(x) + x @ self.lora_A.T @ self.lora_B.T
        with torch.no_grad():
            self.v_proj.weight += self.lora_B @ self.lora_A
        return self.v_proj(x)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (self.q_proj(x), self.k_proj(x), self.values(x)))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).flatten(2))


entry(WrongQ49LoraMergedEachCall, 16, 8, num_heads=4)


# --------------------------------------------------------------------------- wrong: dropout


class WrongQ50DropoutOnScores(nn.Module):
    """wrong: dropout on the scores before the softmax, dropped scores become zero and not forbidden"""

    def __init__(self, dim=16, heads=2, p=0.2):
        super().__init__()
        self.heads = heads
        self.attn_drop = nn.Dropout(p)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attn = self.attn_drop(q @ k.transpose(-2, -1) * (C // self.heads) ** -0.5)
        attn = attn.softmax(dim=-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


entry(WrongQ50DropoutOnScores, 16, 9, causal=False, num_heads=2, dropout=0.2)


class WrongQ51DropoutNotScaled(nn.Module):
    """wrong: dropout by hand drops weights and does not divide the kept ones by 1 - p"""

    def __init__(self, dim=15, heads=3, p=0.3):
        super().__init__()
        self.heads, self.p = heads, p
        self.query, self.key, self.value, self.out = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.query, self.key, self.value))
        t = x.size(1)
        s = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(torch.ones(t, t, device=x.device).triu(1) > 0, float("-inf"))
        w = F.softmax(s, dim=-1)
        if self.training:
            w = w * (torch.rand_like(w) >= self.p)
        return self.out((w @ v).transpose(1, 2).flatten(2))


entry(WrongQ51DropoutNotScaled, 15, 8, num_heads=3, dropout=0.3)


class WrongQ52FunctionalDropout(nn.Module):
    """wrong: F.dropout without training=self.training drops in eval mode too"""

    def __init__(self, hidden=16, heads=4, p=0.1):
        super().__init__()
        self.heads, self.p = heads, p
        self.query, self.key, self.value, self.dense = (nn.Linear(hidden, hidden) for _ in range(4))

    def forward(self, x, attention_mask=None):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).permute(0, 2, 1, 3) for f in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(c // self.heads)
        probs = F.dropout(F.softmax(scores, dim=-1), p=self.p)
        return self.dense(torch.matmul(probs, v).permute(0, 2, 1, 3).reshape(b, t, c))


entry(WrongQ52FunctionalDropout, 16, 8, causal=False, num_heads=4, dropout=0.1)


class WrongQ54DropoutNeverUsed(nn.Module):
    """wrong: the dropout of the weights is built and never applied"""

    def __init__(self, dim=16, num_heads=4, attn_drop=0.2, proj_drop=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim)
        self.proj_drop = nn.Dropout(proj_drop)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        x = F.scaled_dot_product_attention(q, k, v)
        return self.proj_drop(self.proj(x.transpose(1, 2).reshape(B, N, C)))


entry(WrongQ54DropoutNeverUsed, 16, 8, causal=False, num_heads=4, dropout=0.2)


class WrongQ55DropoutSharedByHeads(nn.Module):
    """wrong: one dropout mask for all heads"""

    def __init__(self, dim=16, heads=4, p=0.25):
        super().__init__()
        self.heads, self.p = heads, p
        self.to_qkv, self.to_out = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)) for t in self.to_qkv(x).chunk(3, -1))
        sim = torch.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5
        i = torch.arange(x.shape[1], device=x.device)
        attn = sim.masked_fill(i[None] > i[:, None], -torch.finfo(sim.dtype).max).softmax(-1)
        attn = attn * F.dropout(torch.ones_like(attn[:, :1]), self.p, self.training)
        return self.to_out(torch.einsum("bhij,bjhd->bihd", attn, v).flatten(2))


entry(WrongQ55DropoutSharedByHeads, 16, 8, num_heads=4, dropout=0.25)


class WrongQ56WholeHeadsDropped(nn.Module):
    """wrong: nn.Dropout2d on the weights (B, H, T, T) drops whole heads at once"""

    def __init__(self, dim=24, heads=6):
        super().__init__()
        self.heads = heads
        self.drop = nn.Dropout2d(0.2)
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.w_q, self.w_k, self.w_v))
        a = self.drop((q @ k.mT / math.sqrt(c // self.heads)).softmax(-1))
        return self.w_o((a @ v).transpose(1, 2).reshape(b, t, c))


entry(WrongQ56WholeHeadsDropped, 24, 8, causal=False, num_heads=6, dropout=0.2)


class WrongQ57DropoutKeepsP(nn.Module):
    """wrong: dropout by hand keeps with probability p and divides by p"""

    def __init__(self, dim=16, heads=2, p=0.1):
        super().__init__()
        self.heads, self.p = heads, p
        self.W = nn.Parameter(torch.randn(4, dim, dim) * 0.25)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in torch.einsum("btc,ncd->nbtd", x, self.W[:3]))
        n = x.shape[1]
        s = q @ k.mT / q.shape[-1] ** 0.5 + torch.full((n, n), -torch.inf, device=x.device, dtype=x.dtype).triu(1)
        w = s.softmax(-1)
        if self.training:
            w = w * torch.bernoulli(torch.full_like(w, self.p)) / self.p
        return (w @ v).transpose(1, 2).flatten(2) @ self.W[3]


entry(WrongQ57DropoutKeepsP, 16, 8, num_heads=2, dropout=0.1)


class WrongQ58DropoutSharedByTexts(nn.Module):
    """wrong: the dropout mask is drawn once for the first text and used for all texts of the batch"""

    def __init__(self, embed_dim=16, num_heads=2, p=0.2):
        super().__init__()
        self.num_heads, self.p = num_heads, p
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(embed_dim, embed_dim) for _ in range(4))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.num_heads, -1).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        w = (q @ k.mT * (c // self.num_heads) ** -0.5).softmax(-1)
        if self.training and self.p > 0:
            keep = torch.rand(w.shape[1:], device=w.device) >= self.p
            w = w * keep / (1 - self.p)
        return self.out_proj((w @ v).transpose(1, 2).reshape(b, t, c)), w


entry(WrongQ58DropoutSharedByTexts, 16, 8, causal=False, num_heads=2, dropout=0.2)


# --------------------------------------------------------------------------- wrong: batch and state


class WrongQ60BatchFirstForgotten(nn.Module):
    """wrong: nn.MultiheadAttention without batch_first gets (B, T, C) and attends over the batch"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads)

    def forward(self, x):
        y = self.norm(x)
        return x + self.attn(y, y, y, need_weights=False)[0]


entry(WrongQ60BatchFirstForgotten, 16, 9, causal=False, num_heads=4)


class WrongQ61ScoresOfTheLastCall(nn.Module):
    """wrong: residual scores (RealFormer) are kept in the layer and added at the next call of the same shape"""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.to_qkv, self.to_out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.prev = None

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.to_qkv(x).chunk(3, -1))
        s = q @ k.mT * q.shape[-1] ** -0.5
        if self.prev is not None and self.prev.shape == s.shape:
            s = s + self.prev.to(s)
        self.prev = s.detach()
        return self.to_out((s.softmax(-1) @ v).transpose(1, 2).flatten(2))


entry(WrongQ61ScoresOfTheLastCall, 16, 8, causal=False, num_heads=2)


class WrongQ62InputOverwritten(nn.Module):
    """wrong: the learned positions are added in place and change the caller's tensor"""

    def __init__(self, dim=16, heads=4, size=8):
        super().__init__()
        self.heads = heads
        self.wpe = nn.Parameter(torch.randn(1, size, dim) * 0.5)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        b, t, c = x.shape
        x += self.wpe[:, :t]
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(b, t, c))


entry(WrongQ62InputOverwritten, 16, 8, num_heads=4, positions=True)


class WrongQ63RunningTemperature(nn.Module):
    """wrong: a running mean of the keys' size, updated in eval mode too, divides the scores"""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.register_buffer("running", torch.ones(1))

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        with torch.no_grad():
            self.running = 0.9 * self.running + 0.1 * k.std(unbiased=False)
        o = F.scaled_dot_product_attention(q, k / self.running, v, is_causal=True)
        return self.to_out(o.transpose(1, 2).flatten(2))


entry(WrongQ63RunningTemperature, 16, 8, num_heads=2)


class WrongQ64SeedInForward(nn.Module):
    """wrong: the forward sets the global seed in train mode, so that every step drops the same weights"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj, self.drop = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim), nn.Dropout(0.2)

    def forward(self, x):
        if self.training:
            torch.manual_seed(1234)
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        w = (q @ k.mT / math.sqrt(c // self.heads)).softmax(-1)
        return self.proj((self.drop(w) @ v).transpose(1, 2).reshape(b, t, c))


entry(WrongQ64SeedInForward, 16, 8, causal=False, num_heads=4, dropout=0.2)


class _ListedHeadQ65(nn.Module):
    def __init__(self, d_in, d, n):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Linear(d_in, d, bias=False) for _ in range(3))
        self.register_buffer("mask", torch.triu(torch.ones(n, n), diagonal=1).bool(), persistent=False)

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        t = x.size(1)
        w = (q @ k.transpose(1, 2) / k.shape[-1] ** 0.5).masked_fill(self.mask[:t, :t], -torch.inf)
        return torch.softmax(w, dim=-1) @ v


class WrongQ65HeadsInPythonList(nn.Module):
    """wrong: the heads stand in a plain Python list, so their weights are no parameters, are not saved and not moved"""

    def __init__(self):
        super().__init__()
        self.heads = [_ListedHeadQ65(12, 6, 8) for _ in range(2)]
        self.out_proj = nn.Linear(12, 12)

    def forward(self, x):
        return self.out_proj(torch.cat([h(x) for h in self.heads], dim=-1))


entry(WrongQ65HeadsInPythonList, 12, 8, num_heads=2)


class WrongQ66MaskIsTrained(nn.Module):
    """wrong: the additive causal mask is an nn.Parameter with gradients, so training changes it"""

    def __init__(self, dim=16, heads=2, size=8):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))
        self.mask = nn.Parameter(torch.full((size, size), -1e9).triu(1))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        w = (q @ k.mT / math.sqrt(c // self.heads) + self.mask[:t, :t]).softmax(-1)
        return self.o((w @ v).transpose(1, 2).reshape(b, t, c))


entry(WrongQ66MaskIsTrained, 16, 8, num_heads=2)


class WrongQ67IndexTensorStays(nn.Module):
    """wrong: the table of relative biases is a plain tensor attribute, neither parameter nor buffer: never trained, saved nor moved"""

    def __init__(self, dim=16, heads=4, size=9):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.table = torch.randn(2 * size - 1, heads)
        c = torch.arange(size)
        self.register_buffer("index", c[:, None] - c[None] + size - 1)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        bias = self.table[self.index[:t, :t]].permute(2, 0, 1)
        w = (q @ k.mT / math.sqrt(c // self.heads) + bias).softmax(-1)
        return self.proj((w @ v).transpose(1, 2).reshape(b, t, c))


entry(WrongQ67IndexTensorStays, 16, 9, causal=False, num_heads=4, positions="relative")


class WrongQ68LeavesTrainMode(nn.Module):
    """wrong: the forward sets the layer to eval, to get clean weights for a plot, and never back to train"""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, heads, dropout=0.1, batch_first=True)

    def forward(self, x):
        t = x.size(1)
        mask = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1)
        out, _ = self.attn(x, x, x, attn_mask=mask, need_weights=False)
        self.eval()
        with torch.no_grad():
            weights = self.attn(x, x, x, attn_mask=mask, average_attn_weights=False)[1]
        return out, weights


entry(WrongQ68LeavesTrainMode, 16, 8, num_heads=2, dropout=0.1)


class WrongQ70BatchNormBefore(nn.Module):
    """wrong: a BatchNorm by hand before a causal attention: in train mode other texts and later tokens leak in by its mean and variance"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.gamma, self.beta = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))
        self.register_buffer("mean", torch.zeros(dim))
        self.register_buffer("var", torch.ones(dim))
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def batch_norm(self, x):
        mean, var = self.mean, self.var
        if self.training:
            mean, var = x.mean((0, 1)), x.var((0, 1), unbiased=False)
            with torch.no_grad():
                self.mean.lerp_(mean, 0.1)
                self.var.lerp_(var, 0.1)
        return (x - mean) * torch.rsqrt(var + 1e-5) * self.gamma + self.beta

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.batch_norm(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.proj(o.transpose(1, 2).reshape(b, t, c))


entry(WrongQ70BatchNormBefore, 16, 8, num_heads=4)


# --------------------------------------------------------------------------- wrong: positions


def sinusoid_angles(length, dim, device, dtype, start=0):
    freqs = 10000.0 ** (-torch.arange(0, dim, 2, device=device, dtype=dtype) / dim)
    return torch.outer(torch.arange(start, start + length, device=device, dtype=dtype), freqs)


class WrongQ71ValuesRotated(nn.Module):
    """wrong: the rotation turns queries, keys and the values too"""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.to_qkv, self.to_out = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim)

    def forward(self, x):
        b, n, c = x.shape
        qkv = self.to_qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = sinusoid_angles(n, qkv.shape[-1], x.device, x.dtype).repeat_interleave(2, -1)
        q, k, v = qkv * a.cos() + rotate_every_two(qkv) * a.sin()
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.to_out(o.transpose(1, 2).reshape(b, n, c))


entry(WrongQ71ValuesRotated, 16, 10, num_heads=2, positions="rotary")


class WrongQ72QueriesOnlyRotated(nn.Module):
    """wrong: only the queries are rotated (the result for the keys is thrown away), in an encoder"""

    def __init__(self, dim=24, num_heads=3):
        super().__init__()
        self.num_heads = num_heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def apply_rotary(self, q, k):
        a = sinusoid_angles(q.shape[-2], q.shape[-1], q.device, q.dtype)
        a = torch.cat((a, a), -1)
        turned = q * a.cos() + rotate_half(q) * a.sin(), k * a.cos() + rotate_half(k) * a.sin()
        return turned[0], k

    def forward(self, x, real=None):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        q, k = self.apply_rotary(q, k)
        s = q @ k.mT / math.sqrt(q.shape[-1])
        if real is not None:
            s = s.masked_fill(~real[:, None, None, :], torch.finfo(s.dtype).min)
        return self.proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, N, C))


entry(WrongQ72QueriesOnlyRotated, 24, 9, causal=False, num_heads=3, positions="rotary",
      padding=lambda module, x, real: module(x, real))


class WrongQ73LayoutsMixed(nn.Module):
    """wrong: queries are rotated in halves, keys in neighbouring pairs"""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        a = sinusoid_angles(t, q.shape[-1], x.device, x.dtype)
        q = q * torch.cat((a, a), -1).cos() + rotate_half(q) * torch.cat((a, a), -1).sin()
        a = a.repeat_interleave(2, -1)
        k = k * a.cos() + rotate_every_two(k) * a.sin()
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(b, t, c))


entry(WrongQ73LayoutsMixed, 16, 10, num_heads=2, positions="rotary")


class WrongQ74FrequenciesPairedWrongly(nn.Module):
    """wrong: pairs of neighbours are rotated with the angles in the order of halves, so the two of a pair turn by different angles"""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        freqs = sinusoid_angles(t, c // self.heads, x.device, x.dtype)
        emb = torch.cat((freqs, freqs), dim=-1)
        q, k = (y * emb.cos() + rotate_every_two(y) * emb.sin() for y in (q, k))
        s = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(torch.ones(t, t, device=x.device).triu(1).bool(), -torch.inf)
        return self.proj((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))


entry(WrongQ74FrequenciesPairedWrongly, 16, 12, num_heads=2, positions="rotary")


class WrongQ75AlibiSlopesFromOne(nn.Module):
    """wrong: the ALiBi slopes begin at one (exponents counted from zero), not at 2^(-8/H)"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.query_key_value, self.dense = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        slopes = [2 ** (-8 * i / heads) for i in range(heads)]
        self.register_buffer("slopes", torch.tensor(slopes).view(-1, 1, 1), persistent=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.query_key_value(x).view(b, t, self.heads, 3, -1).permute(3, 0, 2, 1, 4)
        i = torch.arange(t, device=x.device)
        s = q @ k.mT / math.sqrt(c // self.heads) - self.slopes * (i[:, None] - i[None, :])
        s = s.masked_fill(i[None, :] > i[:, None], torch.finfo(s.dtype).min)
        return self.dense((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))


entry(WrongQ75AlibiSlopesFromOne, 16, 10, num_heads=4, positions="alibi")


class WrongQ76AlibiFavoursTheFar(nn.Module):
    """wrong: the sign of ALiBi is turned, far tokens get the bonus"""

    def __init__(self, dim=24, heads=2):
        super().__init__()
        self.heads = heads
        self.to_q, self.to_kv, self.to_out = nn.Linear(dim, dim), nn.Linear(dim, 2 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        b, n, _ = x.shape
        q, (k, v) = self.to_q(x), self.to_kv(x).chunk(2, -1)
        q, k, v = (t.view(b, n, self.heads, -1) for t in (q, k, v))
        slopes = 2.0 ** (-8.0 / self.heads * torch.arange(1, self.heads + 1, device=x.device, dtype=x.dtype))
        i = torch.arange(n, device=x.device)
        distance = i[None, :] - i[:, None]
        sim = torch.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5 - slopes[:, None, None] * distance
        sim = sim.masked_fill(distance > 0, -torch.finfo(sim.dtype).max)
        return self.to_out(torch.einsum("bhij,bjhd->bihd", sim.softmax(-1), v).reshape(b, n, -1))


entry(WrongQ76AlibiFavoursTheFar, 24, 12, num_heads=2, positions="alibi")


class WrongQ77AlibiEncoderOneSided(nn.Module):
    """wrong: an encoder takes the causal form of ALiBi without the absolute value, so later tokens get a bonus that grows"""

    def __init__(self, hidden=16, heads=4):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.dense = (nn.Linear(hidden, hidden) for _ in range(4))
        self.register_buffer("slopes", 2.0 ** (-8.0 / heads * torch.arange(1, heads + 1)), persistent=False)

    def forward(self, x, attention_mask=None):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        i = torch.arange(t, device=x.device)
        s = q @ k.mT / math.sqrt(c // self.heads) + self.slopes[:, None, None] * (i[None, :] - i[:, None])
        if attention_mask is not None:
            s = s.masked_fill(attention_mask[:, None, None, :] == 0, torch.finfo(s.dtype).min)
        return self.dense((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))


entry(WrongQ77AlibiEncoderOneSided, 16, 9, causal=False, num_heads=4, positions="alibi",
      padding=lambda module, x, real: module(x, attention_mask=real))


class WrongQ78BatchAsPosition(nn.Module):
    """wrong: the learned positions are looked up by the place in the batch and not by the place in the text"""

    def __init__(self, dim=16, heads=4, size=12):
        super().__init__()
        self.heads = heads
        self.wpe = nn.Embedding(size, dim)
        self.c_attn, self.c_proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        B, T, C = x.shape
        pos = torch.arange(x.size(0), device=x.device) % self.wpe.num_embeddings
        h = x + self.wpe(pos)[:, None]
        q, k, v = (t.view(B, T, self.heads, -1).transpose(1, 2) for t in self.c_attn(h).split(C, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


entry(WrongQ78BatchAsPosition, 16, 12, num_heads=4, positions=True)


class WrongQ79T5SignOfDistance(nn.Module):
    """wrong: a causal T5 decoder clamps the distance with the wrong sign, every visible key falls into bucket zero"""

    def __init__(self, d_model=16, n_heads=2, buckets=8):
        super().__init__()
        self.n_heads, self.buckets = n_heads, buckets
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(buckets, n_heads)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.n_heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        i = torch.arange(t, device=x.device)
        relative = i[None, :] - i[:, None]
        bucket = relative.clamp(min=0, max=self.buckets - 1)
        s = q @ k.mT + self.relative_attention_bias(bucket).permute(2, 0, 1)
        s = s.masked_fill(relative > 0, torch.finfo(s.dtype).min)
        return self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))


entry(WrongQ79T5SignOfDistance, 16, 10, num_heads=2, scale=1.0, positions="relative")


class WrongQ80RelativeNotShifted(nn.Module):
    """wrong: the products of queries and relative vectors are not skewed, so they go by the key's absolute place"""

    def __init__(self, dim=16, heads=2, size=9):
        super().__init__()
        self.heads, self.size = heads, size
        self.query, self.key, self.value, self.out = (nn.Linear(dim, dim) for _ in range(4))
        self.Er = nn.Parameter(torch.randn(size, dim // heads))

    def skew(self, qe):
        b, h, t, s = qe.shape
        return F.pad(qe, (1, 0)).view(b, h, s + 1, t)[:, :, 1:]

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        relative = q @ self.Er[self.size - t:].T
        s = (q @ k.mT + relative) / math.sqrt(q.size(-1))
        s = s.masked_fill(torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1), -torch.inf)
        return self.out((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))


entry(WrongQ80RelativeNotShifted, 16, 9, num_heads=2, positions="relative")


class WrongQ81BiasBehindSoftmax(nn.Module):
    """wrong: the relative bias is added to the weights behind the softmax, rows no longer sum to one"""

    def __init__(self, dim=18, num_heads=3, size=8):
        super().__init__()
        self.num_heads, self.size = num_heads, size
        self.table = nn.Parameter(torch.randn(2 * size - 1, num_heads) * 0.2)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        i = torch.arange(N, device=x.device)
        bias = self.table[i[:, None] - i[None, :] + self.size - 1].permute(2, 0, 1)
        attn = (q * (C // self.num_heads) ** -0.5) @ k.transpose(-2, -1)
        attn = attn.softmax(dim=-1) + bias
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


entry(WrongQ81BiasBehindSoftmax, 18, 8, causal=False, num_heads=3, positions="relative")


# --------------------------------------------------------------------------- wrong: grouped heads


class WrongQ83KeysTiled(nn.Module):
    """wrong: keys and values are tiled (0 1 0 1) and not repeated for each group (0 0 1 1)"""

    def __init__(self, dim=16, heads=4, kv_heads=2):
        super().__init__()
        self.heads, self.kv_heads, self.d = heads, kv_heads, dim // heads
        self.to_q, self.to_k, self.to_v, self.to_out = nn.Linear(dim, dim), nn.Linear(dim, kv_heads * self.d), \
            nn.Linear(dim, kv_heads * self.d), nn.Linear(dim, dim)

    def forward(self, x):
        q = self.to_q(x).unflatten(-1, (self.heads, self.d)).transpose(1, 2)
        k, v = (f(x).unflatten(-1, (self.kv_heads, self.d)).transpose(1, 2) for f in (self.to_k, self.to_v))
        k, v = (t.repeat(1, self.heads // self.kv_heads, 1, 1) for t in (k, v))
        return self.to_out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


entry(WrongQ83KeysTiled, 16, 8, num_heads=4, num_kv_heads=2)


class WrongQ84KeysRepeatedValuesTiled(nn.Module):
    """wrong: keys are repeated for each group, values are tiled, so half of the heads join the keys of one with the values of another"""

    def __init__(self, dim=24, n_head=6, n_kv=3):
        super().__init__()
        self.n_head, self.n_kv, self.d = n_head, n_kv, dim // n_head
        self.wq, self.wkv, self.wo = nn.Linear(dim, dim, bias=False), nn.Linear(dim, 2 * n_kv * self.d, bias=False), nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q = self.wq(x).view(b, t, self.n_head, self.d)
        k, v = self.wkv(x).view(b, t, 2, self.n_kv, self.d).unbind(2)
        g = self.n_head // self.n_kv
        k = k[:, :, :, None].expand(b, t, self.n_kv, g, self.d).reshape(b, t, self.n_head, self.d)
        v = v[:, :, None].expand(b, t, g, self.n_kv, self.d).reshape(b, t, self.n_head, self.d)
        s = torch.einsum("bthd,bshd->bhts", q, k) / math.sqrt(self.d)
        s = s.masked_fill(torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1), -torch.inf)
        return self.wo(torch.einsum("bhts,bshd->bthd", s.softmax(-1), v).reshape(b, t, c))


entry(WrongQ84KeysRepeatedValuesTiled, 24, 8, num_heads=6, num_kv_heads=3)


class WrongQ85FirstKeyHeadForAll(nn.Module):
    """wrong: all query heads use the first key/value head, the others are computed for nothing; an encoder"""

    def __init__(self, dim=16, heads=4, kv_heads=2):
        super().__init__()
        self.heads, self.kv_heads, self.d = heads, kv_heads, dim // heads
        self.query = nn.Linear(dim, dim)
        self.kv = nn.Linear(dim, 2 * kv_heads * self.d)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, c = x.shape
        q = self.query(x).view(b, t, self.heads, self.d).transpose(1, 2)
        k, v = self.kv(x).view(b, t, 2, self.kv_heads, self.d).permute(2, 0, 3, 1, 4)
        k, v = (y[:, :1].expand(b, self.heads, t, self.d) for y in (k, v))
        w = (q @ k.mT * self.d ** -0.5).softmax(-1)
        return self.proj((w @ v).transpose(1, 2).reshape(b, t, c)), w


entry(WrongQ85FirstKeyHeadForAll, 16, 8, causal=False, num_heads=4, num_kv_heads=2)


# --------------------------------------------------------------------------- wrong: padding


class WrongQ86MaskInverted(nn.Module):
    """wrong: the module takes True=real and hands it to nn.MultiheadAttention as it is, where True means hidden"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, x, mask=None):
        if mask is not None:
            empty = mask.all(dim=1, keepdim=True)
            mask = mask & ~empty
        return self.attn(x, x, x, key_padding_mask=mask, need_weights=False)[0]


entry(WrongQ86MaskInverted, 16, 8, causal=False, num_heads=4, padding=lambda module, x, real: module(x, mask=real))


class WrongQ87FirstTextsMask(nn.Module):
    """wrong: the padding mask of the first text is used for every text"""

    def __init__(self, embed_dim=16, num_heads=2):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(embed_dim, embed_dim) for _ in range(4))

    def forward(self, x, key_padding_mask=None):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.num_heads, -1).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        w = q @ k.mT * (c // self.num_heads) ** -0.5
        if key_padding_mask is not None:
            w = w.masked_fill(key_padding_mask[0], torch.finfo(w.dtype).min)
        return self.out_proj((w.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))


entry(WrongQ87FirstTextsMask, 16, 9, causal=False, num_heads=2,
      padding=lambda module, x, real: module(x, key_padding_mask=~real))


class WrongQ88QueriesMasked(nn.Module):
    """wrong: the padding mask is laid over the queries (rows) and the keys at padding stay visible"""

    def __init__(self, hidden=24, heads=3):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.dense = (nn.Linear(hidden, hidden) for _ in range(4))

    def forward(self, x, attention_mask=None):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).permute(0, 2, 1, 3) for f in (self.query, self.key, self.value))
        scores = q @ k.transpose(-1, -2) / math.sqrt(c // self.heads)
        if attention_mask is not None:
            scores = scores.masked_fill(attention_mask[:, None, :, None] == 0, torch.finfo(scores.dtype).min)
        return self.dense((scores.softmax(-1) @ v).permute(0, 2, 1, 3).reshape(b, t, c))


entry(WrongQ88QueriesMasked, 24, 8, causal=False, num_heads=3,
      padding=lambda module, x, real: module(x, attention_mask=real.long()))


class WrongQ89EmptyTextIsNan(nn.Module):
    """wrong: minus infinity at every key makes a text of padding alone NaN"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.norm, self.to_qkv, self.to_out = nn.LayerNorm(dim), nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.to_qkv(self.norm(x)).chunk(3, -1))
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
        if mask is not None:
            dots = dots.masked_fill(~mask[:, None, None, :], float("-inf"))
        return x + self.to_out(torch.einsum("bhij,bhjd->bhid", dots.softmax(-1), v).transpose(1, 2).flatten(2))


entry(WrongQ89EmptyTextIsNan, 16, 8, causal=False, num_heads=4, padding=lambda module, x, real: module(x, mask=real))


class WrongQ90PaddedWeightsZeroed(nn.Module):
    """wrong: padding is taken out of the weights behind the softmax and the rest is not normalised again"""

    def __init__(self, dim=15, heads=5):
        super().__init__()
        self.heads = heads
        self.q_lin, self.k_lin, self.v_lin, self.out_lin = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x, mask=None):
        bs, n, c = x.shape
        q, k, v = (f(x).view(bs, n, self.heads, -1).transpose(1, 2) for f in (self.q_lin, self.k_lin, self.v_lin))
        weights = F.softmax(q @ k.transpose(2, 3) / math.sqrt(c // self.heads), dim=-1)
        if mask is not None:
            weights = weights * mask.view(bs, 1, 1, n)
        return self.out_lin((weights @ v).transpose(1, 2).contiguous().view(bs, n, c))


entry(WrongQ90PaddedWeightsZeroed, 15, 8, causal=False, num_heads=5, padding=lambda module, x, real: module(x, mask=real))


class WrongQ91PaddingReplacesCausal(nn.Module):
    """wrong: as the kernel takes a mask or is_causal, the layer drops is_causal where a padding mask is given"""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.c_attn, self.c_proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, real=None):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.heads, -1).transpose(1, 2) for t in self.c_attn(x).split(C, 2))
        mask = None
        if real is not None:
            mask = real[:, None, None, :] | torch.eye(T, dtype=torch.bool, device=x.device)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


entry(WrongQ91PaddingReplacesCausal, 16, 8, num_heads=2, padding=lambda module, x, real: module(x, real=real))


class WrongQ92LengthsOnly(nn.Module):
    """wrong: the mask is made from the count of real tokens, which is right only where padding stands at the end"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x, lengths=None):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        s = q @ k.mT / math.sqrt(c // self.heads)
        if lengths is not None:
            lengths = lengths.sum(-1) if lengths.dim() == 2 else lengths
            keep = torch.arange(t, device=x.device)[None, :] < lengths[:, None]
            s = s.masked_fill(~keep[:, None, None, :], torch.finfo(s.dtype).min)
        return self.out((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))


entry(WrongQ92LengthsOnly, 16, 9, causal=False, num_heads=4, padding=lambda module, x, real: module(x, lengths=real))


class WrongQ93NanOnlyInGradients(nn.Module):
    """wrong: minus infinity is added at padding and NaN rows are replaced behind the softmax, so the output is finite and the gradients of an empty text are NaN"""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x, padding=None):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        s = q @ k.mT / math.sqrt(c // self.heads)
        if padding is not None:
            s = s + torch.zeros_like(padding, dtype=s.dtype).masked_fill(padding, float("-inf"))[:, None, None, :]
        w = torch.nan_to_num(s.softmax(-1))
        return self.o_proj((w @ v).transpose(1, 2).reshape(b, t, c))


entry(WrongQ93NanOnlyInGradients, 16, 8, causal=False, num_heads=2,
      padding=lambda module, x, real: module(x, padding=~real))


class WrongQ95MeanOverPadding(nn.Module):
    """wrong: an encoder hides padded keys but takes a summary token as the mean over all tokens, padding too"""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.summary = nn.Linear(dim, dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, real=None):
        b, t, c = x.shape
        extra = self.summary(x.mean(dim=1, keepdim=True))
        q, k, v = self.qkv(torch.cat((extra, x), 1)).view(b, t + 1, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mask = None if real is None else F.pad(real, (1, 0), value=True)[:, None, None, :]
        y = F.scaled_dot_product_attention(q[:, :, 1:], k, v, attn_mask=mask)
        return self.proj(y.transpose(1, 2).reshape(b, t, c))


entry(WrongQ95MeanOverPadding, 16, 8, causal=False, num_heads=2, padding=lambda module, x, real: module(x, real=real))


# --------------------------------------------------------------------------- wrong: caches


class WrongQ96PositionsRestart(nn.Module):
    """wrong: the rotation of a step begins at zero again and not behind the cache"""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def forward(self, x, cache=None):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        past = 0 if cache is None else cache[0].size(2)
        a = sinusoid_angles(t, q.size(-1), x.device, x.dtype)
        a = torch.cat((a, a), -1)
        q, k = (y * a.cos() + rotate_half(y) * a.sin() for y in (q, k))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        mask = torch.ones(t, past + t, dtype=torch.bool, device=x.device).tril(past)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.wo(y.transpose(1, 2).reshape(b, t, c)), (k, v)


entry(WrongQ96PositionsRestart, 16, 10, num_heads=2, positions="rotary", step=lambda module, x, cache: module(x, cache))


class WrongQ97KeysRotatedTwice(nn.Module):
    """wrong: cached keys, already rotated, are rotated once more at each step"""

    def __init__(self, dim=24, heads=3):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def turn(self, y, start):
        a = sinusoid_angles(y.size(2), y.size(-1), y.device, y.dtype, start).repeat_interleave(2, -1)
        return y * a.cos() + rotate_every_two(y) * a.sin()

    def forward(self, x, layer_past=None):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        past = 0
        if layer_past is not None:
            past = layer_past["k"].size(2)
            k, v = torch.cat((layer_past["k"], k), 2), torch.cat((layer_past["v"], v), 2)
        q, k = self.turn(q, past), self.turn(k, 0)
        s = q @ k.mT / math.sqrt(q.size(-1))
        s = s.masked_fill(~torch.ones(t, past + t, dtype=torch.bool, device=x.device).tril(past), -torch.inf)
        return self.proj((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c)), {"k": k, "v": v}


entry(WrongQ97KeysRotatedTwice, 24, 9, num_heads=3, positions="rotary", step=lambda module, x, cache: module(x, cache))


class WrongQ98DefaultCacheShared(nn.Module):
    """wrong: the cache is a mutable default argument, so a new text goes on behind the old one of the same batch size"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def attend(self, x, cache):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        if "k" in cache and cache["k"].size(0) == b:
            k, v = torch.cat((cache["k"].to(k), k), 2), torch.cat((cache["v"].to(v), v), 2)
        n = k.size(2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(t, n, dtype=torch.bool, device=x.device).tril(n - t))
        return self.to_out(y.transpose(1, 2).reshape(b, t, c)), k, v

    def forward(self, x):
        return self.attend(x, {})[0]

    def step(self, x, cache={}):
        y, k, v = self.attend(x, cache)
        cache.update(k=k.detach(), v=v.detach())
        return y, cache


entry(WrongQ98DefaultCacheShared, 16, 8, num_heads=4,
      step=lambda module, x, cache: module.step(x) if cache is None else module.step(x, cache))


class WrongQ99PremadeCacheCutShort(nn.Module):
    """wrong: in the pre-made cache new values are written one slot too early when the cache is not empty, keys where they belong"""

    def __init__(self, dim=16, heads=2, size=10):
        super().__init__()
        self.heads, self.size = heads, size
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, cache=None):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if cache is None:
            room = k.new_zeros(b, self.heads, self.size, c // self.heads)
            cache = (room, room.clone(), 0)
        keys, values, used = cache
        keys, values = keys.clone(), values.clone()
        keys[:, :, used:used + t] = k
        at = max(used - 1, 0)
        values[:, :, at:at + t] = v
        n = used + t
        mask = torch.ones(t, n, dtype=torch.bool, device=x.device).tril(used)
        y = F.scaled_dot_product_attention(q, keys[:, :, :n], values[:, :, :n], attn_mask=mask)
        return self.proj(y.transpose(1, 2).reshape(b, t, c)), (keys, values, n)


entry(WrongQ99PremadeCacheCutShort, 16, 10, num_heads=2, step=lambda module, x, cache: module(x, cache))


# --------------------------------------------------------------------------- wrong: windows, caches with windows


class WrongQ16WindowOneTooMany(nn.Module):
    """wrong: the window of three lets a row see four tokens (> in place of >=)"""

    def __init__(self, dim=16, heads=4, window=3):
        super().__init__()
        self.heads, self.window = heads, window
        self.to_qkv, self.to_out = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)) for t in self.to_qkv(x).chunk(3, -1))
        sim = torch.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5
        i = torch.arange(x.shape[1], device=x.device)
        away = i[:, None] - i[None, :]
        sim = sim.masked_fill((away < 0) | (away > self.window), -torch.finfo(sim.dtype).max)
        return self.to_out(torch.einsum("bhij,bjhd->bihd", sim.softmax(-1), v).flatten(2))


entry(WrongQ16WindowOneTooMany, 16, 10, num_heads=4, window=3)


class WrongQ17WindowLostInKernel(nn.Module):
    """wrong: the band is built, but the kernel gets is_causal and no band, so the window does not hold"""

    def __init__(self, dim=16, heads=2, size=12, window=4):
        super().__init__()
        self.heads = heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim) for _ in range(4))
        band = torch.ones(size, size).tril() - torch.ones(size, size).tril(-window)
        self.register_buffer("band", band.bool(), persistent=False)

    def forward(self, x, fast=True):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        mask = None if fast else self.band[:t, :t]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=fast)
        return self.wo(y.transpose(1, 2).reshape(b, t, c))


entry(WrongQ17WindowLostInKernel, 16, 12, num_heads=2, window=4)


class WrongQ26BlocksForWindow(nn.Module):
    """wrong: causal attention inside fixed blocks of four in place of a window of four that slides"""

    def __init__(self, dim=18, heads=3, window=4):
        super().__init__()
        self.heads, self.window = heads, window
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        b, t, c = x.shape
        w = self.window
        y = F.pad(self.qkv(x), (0, 0, 0, -t % w))
        q, k, v = y.view(b, -1, w, 3, self.heads, c // self.heads).permute(3, 0, 1, 4, 2, 5)
        s = (q @ k.mT) / math.sqrt(c // self.heads)
        s = s.masked_fill(torch.ones(w, w, dtype=torch.bool, device=x.device).triu(1), -torch.inf)
        o = (s.softmax(-1) @ v).permute(0, 1, 3, 2, 4).reshape(b, -1, c)[:, :t]
        return self.proj(o)


entry(WrongQ26BlocksForWindow, 18, 11, num_heads=3, window=4)


class WrongQ30CacheKeepsOneMore(nn.Module):
    """wrong: with steps of one token the cache keeps W old keys and no mask is made, so each step sees W + 1 tokens once the window slides"""

    def __init__(self, dim=16, heads=2, window=4):
        super().__init__()
        self.heads, self.window = heads, window
        self.query, self.key, self.value, self.out = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x, cache=None):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        mask = None
        if t > 1:
            n = k.size(2)
            away = torch.arange(n - t, n, device=x.device)[:, None] - torch.arange(n, device=x.device)[None, :]
            mask = (away >= 0) & (away < self.window)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        kept = (k[:, :, -self.window:], v[:, :, -self.window:])
        return self.out(y.transpose(1, 2).reshape(b, t, c)), kept


entry(WrongQ30CacheKeepsOneMore, 16, 12, num_heads=2, window=4, step=lambda module, x, cache: module(x, cache))


class WrongQ39LeftPaddingNanRows(nn.Module):
    """wrong: causal and padding masks are joined with minus infinity, rows before the first real token have no key and are NaN (an empty text alone is cared for)"""

    def __init__(self, embed_dim=16, num_heads=4):
        super().__init__()
        self.num_heads = num_heads
        self.in_proj, self.out_proj = nn.Linear(embed_dim, 3 * embed_dim), nn.Linear(embed_dim, embed_dim)

    def forward(self, x, key_padding_mask=None):
        b, t, c = x.shape
        q, k, v = self.in_proj(x).view(b, t, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        s = q @ k.mT * (c // self.num_heads) ** -0.5
        hidden = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask & ~key_padding_mask.all(1, keepdim=True)
            hidden = hidden | key_padding_mask[:, None, None, :]
        w = s.masked_fill(hidden, float("-inf")).softmax(-1)
        return self.out_proj((w @ v).transpose(1, 2).reshape(b, t, c)), w


entry(WrongQ39LeftPaddingNanRows, 16, 8, num_heads=4,
      padding=lambda module, x, real: module(x, key_padding_mask=~real))


class WrongQ42CacheInTheLayer(nn.Module):
    """wrong: the pre-made cache is a buffer of the layer, so two texts fed in turn overwrite each other"""

    def __init__(self, dim=16, heads=2, size=9, max_batch=4):
        super().__init__()
        self.heads = heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.register_buffer("store", torch.zeros(2, max_batch, heads, size, dim // heads), persistent=False)

    def attend(self, x, past=None):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        keys, values = (k, v) if past is None else (torch.cat((past[0], k), 2), torch.cat((past[1], v), 2))
        n = keys.size(2)
        mask = torch.ones(t, n, dtype=torch.bool, device=x.device).tril(n - t)
        y = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
        return self.wo(y.transpose(1, 2).reshape(b, t, c)), k, v

    def forward(self, x):
        return self.attend(x)[0]

    def step(self, x, used):
        b, t, _ = x.shape
        used = used or 0
        if b > self.store.size(1):
            self.store = self.store.new_zeros(2, b, *self.store.shape[2:])
        y, k, v = self.attend(x, self.store[:, :b, :, :used].clone())
        self.store[0, :b, :, used:used + t] = k.detach()
        self.store[1, :b, :, used:used + t] = v.detach()
        return y, used + t


entry(WrongQ42CacheInTheLayer, 16, 9, num_heads=2, step=lambda module, x, cache: module.step(x, cache))


# --------------------------------------------------------------------------- wrong: dtypes, compiling, others


class WrongQ46HalfSoftmax(nn.Module):
    """wrong: the softmax is taken in bfloat16 and cast back, weights have two or three digits and do not sum to one"""

    def __init__(self, dim=24, num_heads=3):
        super().__init__()
        self.num_heads = num_heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        attn = (q @ k.transpose(-2, -1)) * (C // self.num_heads) ** -0.5
        attn = attn.to(torch.bfloat16).softmax(dim=-1).to(v.dtype)
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


entry(WrongQ46HalfSoftmax, 24, 16, causal=False, num_heads=3)


class WrongQ53ReturnsDouble(nn.Module):
    """wrong: a layer scale made from numpy stays float64 and turns the output into float64"""

    def __init__(self, dim=16, heads=4, depth=6):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.register_buffer("gain", torch.from_numpy(np.full(dim, 1.0 / np.sqrt(2 * depth))))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(x).split(c, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(b, t, c)) * self.gain


entry(WrongQ53ReturnsDouble, 16, 8, num_heads=4)


class WrongQ59ScoresInHalf(nn.Module):
    """wrong: the scores are cast to float16 for speed and overflow to infinity at large inputs, which gives NaN"""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        for lin in (self.to_q, self.to_k):
            nn.init.normal_(lin.weight, std=1.0)

    def forward(self, x, mask=None):
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        s = (q @ k.mT * q.shape[-1] ** -0.5).half()
        if mask is not None:
            s = s.masked_fill(~mask[:, None, None, :], torch.finfo(s.dtype).min)
        w = s.float().softmax(-1).to(v.dtype)
        return self.to_out((w @ v).transpose(1, 2).flatten(2))


entry(WrongQ59ScoresInHalf, 16, 8, causal=False, num_heads=2, padding=lambda module, x, real: module(x, mask=real))


class WrongQ69CompiledWithoutMask(nn.Module):
    """wrong: the path taken under torch.compile calls the kernel without is_causal"""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.in_proj, self.out_proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.in_proj(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if torch.compiler.is_compiling():
            y = F.scaled_dot_product_attention(q, k, v)
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(y.transpose(1, 2).reshape(b, t, c))


entry(WrongQ69CompiledWithoutMask, 16, 8, num_heads=2, compiled=True)


class WrongQ82ClassTokenCutAtTheEnd(nn.Module):
    """wrong: a learned token is put before the text and the last row is cut off in place of the first, so all rows stand one too late"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        y = torch.cat((self.cls_token.expand(x.size(0), -1, -1), x), dim=1)
        b, t, c = y.shape
        q, k, v = self.qkv(y).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, c)
        return self.proj(y[:, :-1])


entry(WrongQ82ClassTokenCutAtTheEnd, 16, 8, causal=False, num_heads=4)


class WrongQ94TenThousandForT5(nn.Module):
    """wrong: padding gets -1e4 added, and unscaled scores of large inputs reach that size"""

    def __init__(self, d_model=32, n_heads=2):
        super().__init__()
        self.n_heads = n_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        nn.init.normal_(self.q.weight, std=1.0)
        nn.init.normal_(self.k.weight, std=1.0)

    def forward(self, x, mask=None):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.n_heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = q @ k.transpose(3, 2)
        if mask is not None:
            scores = scores + (1.0 - mask.to(scores.dtype))[:, None, None, :] * -10000.0
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))


entry(WrongQ94TenThousandForT5, 32, 8, causal=False, num_heads=2, scale=1.0,
      padding=lambda module, x, real: module(x, mask=real))
