"""What the failing checks mean, each looked into in the package's source."""

from dataclasses import dataclass

# The kinds in the order of the page: a heading, and what the kind means.
KINDS = {
    "bug": (
        "Bugs",
        "The layer does something else than it says, or than its other path does.",
    ),
    "NaN": (
        "NaN where a row may see nothing but padding: {layers} layers",
        "The scores of such a row are all −∞. Softmax first subtracts the largest of "
        "them, and −∞ − (−∞) is NaN. Rows of padding are thrown away, but not before "
        "the next layer: there the NaN is a value, and a weight of 0 times NaN is NaN, "
        "so it reaches all positions of the sequence. Whether this is a bug depends on "
        "the layer.",
    ),
    "design": (
        "Designs",
        "The layer means to do it, and its readers should know.",
    ),
    "false alarm": (
        "False alarms",
        "The layer is right, and the audit errs.",
    ),
}


@dataclass(frozen=True)
class Verdict:
    """What one or several failing checks mean.

    Args:
        kind: one of KINDS.
        layers: names of layers.
        checks: those that fail in each of them.
        words: what the source does.
        source: the file of the package.
        mended: pairs (old, new) of its text. With these exchanged, ``mending`` asks
            whether the checks pass.
        quoted: further parts of its text. The page says in which lines of the file
            these stand, and the old ones.
    """

    kind: str
    layers: tuple[str, ...]
    checks: tuple[str, ...]
    words: str
    source: str
    mended: tuple[tuple[str, str], ...] = ()
    quoted: tuple[str, ...] = ()


VERDICTS = (
    Verdict(
        "bug",
        ("torch-multi-head-attention", "torch-multi-head-attention, causal"),
        ("padding",),
        "`mask.repeat(head_num, 1, 1)` repeats the masks as text 0, 1, 0, 1; the heads "
        "are ordered as text 0, 0, 1, 1. So heads get the masks of other texts of the "
        "batch. `repeat_interleave` would be right; a batch of one hides it. The same "
        "slip was reported in "
        "[CLIP4Clip in 2021](https://github.com/ArrowLuo/CLIP4Clip/issues/22).",
        "torch_multi_head_attention/multi_head_attention.py",
        (
            (
                "mask.repeat(self.head_num, 1, 1)",
                "mask.repeat_interleave(self.head_num, 0)",
            ),
        ),
    ),
    Verdict(
        "bug",
        ("torch-multi-head-attention, causal",),
        ("devices",),
        "`gen_history_mask(x)` makes its mask on the CPU, wherever x is.",
        "torch_multi_head_attention/multi_head_attention.py",
        (
            (
                "torch.ones(seq_len, seq_len)",
                "torch.ones(seq_len, seq_len, device=x.device)",
            ),
        ),
    ),
    Verdict(
        "bug",
        ("torch-multi-head-attention, causal",),
        ("dtypes",),
        "Hidden scores are filled with −1e9, which float16, whose largest number is "
        "65,504, can't hold.",
        "torch_multi_head_attention/multi_head_attention.py",
        (("masked_fill(mask == 0, -1e9)", "masked_fill(mask == 0, -torch.inf)"),),
    ),
    Verdict(
        "bug",
        ("local-attention",),
        ("cache",),
        "With a cache, `LocalMHA` overwrites `k` with the rotated keys, and then puts "
        "`k` into the new cache; the next step rotates them once more. The second step "
        "is the first that is wrong, and without rotary positions all are right.",
        "local_attention/transformer.py",
        (
            ("q, k = apply_rotary_pos_emb(", "q, turned = apply_rotary_pos_emb("),
            ("sim = einsum(q, k, ", "sim = einsum(q, turned, "),
        ),
        ("kv = torch.stack((k, v))",),
    ),
    Verdict(
        "bug",
        ("local-attention",),
        ("dropout",),
        "`LocalMHA` takes a `dropout` and never uses it.",
        "local_attention/transformer.py",
        (("causal = causal,", "causal = causal, dropout = dropout,"),),
    ),
    Verdict(
        "bug",
        ("Falcon, rotary",),
        ("dropped weights", "dropout"),
        "PyTorch's function is called with `dropout_p=0.0`, whatever the configuration "
        "says; with linear biases the configuration counts. A comment in the unfused "
        "rotary path, which doesn't drop either, finds it “unclear why dropout is not "
        "applied here”.",
        "transformers/models/falcon/modeling_falcon.py",
        (
            (
                "dropout_p=0.0",
                "dropout_p=self.attention_dropout.p if self.training else 0.0",
            ),
        ),
        (
            "It is unclear why dropout is not applied here",
            "dropout_p=self.attention_dropout.p if",
        ),
    ),
    Verdict(
        "bug",
        ("curated, fused",),
        ("future changed", "input kept", "dropout", "mode kept"),
        "Under `enable_torch_sdp`, train mode reads `self.dropout_prob`, but the class "
        "keeps a module `self.dropout`. A pull request of "
        "[2024](https://github.com/explosion/curated-transformers/pull/378) mends it. "
        "Then this path drops weights, which the other one doesn't: see the designs.",
        "curated_transformers/layers/attention.py",
        (("self.dropout_prob if", "self.dropout.p if"),),
    ),
    Verdict(
        "bug",
        ("curated, fused",),
        ("cache",),
        "Padding is set to 0 by a mask that has one row for each key. With a cache "
        "there are more keys than queries, and one new token becomes as many rows as "
        "there are keys. The comment above it says that masks need to be redesigned.",
        "curated_transformers/layers/attention.py",
        (
            (
                "bool_mask.transpose(-1, -2), attn",
                "bool_mask.mT[:, :, -query.shape[-2] :], attn",
            ),
        ),
    ),
    Verdict(
        "bug",
        ("ESM-2",),
        ("dtypes",),
        "The tables of angles are made anew for another length or device, as the "
        "comment says, but not for another dtype. After a call in bfloat16, a float32 "
        "call of the same length rotates by the bfloat16 tables.",
        "esm/rotary_embedding.py",
        (
            (
                "or self._cos_cached.device != x.device:",
                "or self._cos_cached.device != x.device "
                "or self._cos_cached.dtype != self.inv_freq.dtype:",
            ),
        ),
        ("or if we're on a new device",),
    ),
    Verdict(
        "bug",
        ("torchtune, Gemma 2", "torchtune, Gemma 2 sliding"),
        ("dropped weights", "dropout"),
        "`Gemma2Attention` takes `attn_dropout`, which its docstring says is passed "
        "on, and never uses it. The other attention of the package does.",
        "torchtune/models/gemma2/_attention.py",
        (
            (
                "output = F.softmax(output.float(), dim=-1).type_as(q)",
                "output = F.softmax(output.float(), dim=-1).type_as(q); "
                "output = F.dropout(output, self.attn_dropout, self.training)",
            ),
        ),
        ("dropout value passed onto the",),
    ),
    Verdict(
        "bug",
        ("torchtune, Gemma 2 sliding",),
        ("cache",),
        "The window is laid along the diagonal from the mask's first corner. With a "
        "cache, the first row of the mask is a later position: a text longer than the "
        "window gives each new token the first W tokens in place of the last W. "
        "Another framework had the same slip, for the same model, until "
        "[2026](https://github.com/NVIDIA-NeMo/Megatron-Bridge/pull/5259).",
        "torchtune/models/gemma2/_attention.py",
        (
            (
                "all_ones = torch.ones_like(mask)",
                "past = 0 if self.kv_cache is None else self.kv_cache.size - s_x; "
                "all_ones = torch.ones_like(mask)",
            ),
            (
                "all_ones, -1 * self.sliding_window_size + 1",
                "all_ones, past - self.sliding_window_size + 1",
            ),
            (
                "torch.tril(all_ones, self.sliding_window_size - 1)",
                "torch.tril(all_ones, past + self.sliding_window_size - 1)",
            ),
        ),
    ),
    Verdict(
        "bug",
        ("TorchScale, xPos",),
        ("cache",),
        "With a cache, the queries' first position is `src_len - 1`, which is right "
        "for a single new token. Of several, each is counted too high, by one less "
        "than how many there are, and without an error. The package's own decoder "
        "feeds one token a step; a caller who feeds several, as after a second prompt "
        "or in speculative decoding, gets other numbers than in one pass. Without "
        "xPos, the same steps are right.",
        "torchscale/component/multihead_attention.py",
        (("offset = src_len - 1", "offset = src_len - tgt_len"),),
    ),
    Verdict(
        "bug",
        ("rotary-embedding-torch, xPos",),
        ("cache",),
        "xPos lets each feature of a query grow with its position less half the "
        "length, and each of a key shrink, so that the difference alone counts. "
        "`rotate_queries_with_cached_keys` takes half the number of queries for "
        "queries, and half the number of keys for keys. The error grows with the text. "
        "The README describes `use_xpos` and this function, and doesn't forbid them "
        "together.",
        "rotary_embedding_torch/rotary_embedding_torch.py",
        (
            (
                "self.get_scale(seq[-q_len:]).type(dtype)",
                "self.get_scale(seq)[-q_len:].type(dtype)",
            ),
        ),
        ("power = (t - len(t) // 2)",),
    ),
    Verdict(
        "bug",
        ("rotary-embedding-torch", "rotary-embedding-torch, xPos"),
        ("dtypes", "state dict"),
        "The angles of the longest text so far stay in a table, which is asked for its "
        "length alone. So a layer that was called, and then loads other frequencies, "
        "which are a parameter, goes on with the old ones; and float32 goes on with "
        "angles that were made in bfloat16.",
        "rotary_embedding_torch/rotary_embedding_torch.py",
        (
            (
                "self.cache_if_possible = cache_if_possible",
                "self.cache_if_possible = False",
            ),
        ),
        ("return self.cached_freqs[offset:(offset + seq_len)].detach()",),
    ),
    Verdict(
        "bug",
        ("memory-efficient, whole",),
        ("dropped weights", "dropout"),
        "`Attention` hands its `dropout` to one of two functions. With "
        "`memory_efficient=False`, the default, that function swallows it in "
        "`**kwargs`; the other one drops.",
        "memory_efficient_attention_pytorch/memory_efficient_attention.py",
        (
            (
                "attn = sim.softmax(dim = -1)",
                "attn = sim.softmax(dim = -1); "
                "attn = F.dropout(attn, kwargs['dropout'], kwargs['training'])",
            ),
        ),
        ("**kwargs",),
    ),
    Verdict(
        "bug",
        ("Performer", "Performer, causal", "Performer, ReLU", "Performer, ReLU causal"),
        ("padding",),
        "The mask sets values of padding to 0, and leaves their keys in the sum by "
        "which all is divided. So padding counts as tokens whose value is 0. With "
        "features of softmax, padding also has a say in the largest of all keys, as "
        "below.",
        "performer_pytorch/performer_pytorch.py",
        (
            (
                "out = self.fast_attention(q, k, v)",
                "out = self.fast_attention(q, k, v, context_mask)",
            ),
            ("def forward(self, q, k, v):", "def forward(self, q, k, v, real=None):"),
            (
                "attn_fn = linear_attention if",
                "k = k if real is None else k * real[:, None, :, None]; "
                "attn_fn = linear_attention if",
            ),
            ("k_cumsum = k.sum(dim = -2)", "k_cumsum = k.sum(dim = -2) + 1e-6"),
            (
                "torch.amax(data_dash, dim=(-1, -2), keepdim=True).detach()) + eps",
                "0.0) + eps",
            ),
        ),
        ("v.masked_fill_(~global_mask, 0.)",),
    ),
    Verdict(
        "bug",
        ("Performer, causal",),
        ("short sequences", "one token", "future changed"),
        "Before the exponential, the largest of all keys is subtracted, later ones "
        "too. It would cancel but for the `eps` that is added behind it.",
        "performer_pytorch/performer_pytorch.py",
        (
            (
                "torch.amax(data_dash, dim=(-1, -2), keepdim=True).detach()) + eps",
                "0.0) + eps",
            ),
        ),
    ),
    Verdict(
        "bug",
        ("linear-attention-transformer, causal",),
        ("large inputs",),
        "The causal function takes the exponential of keys as they are, which is "
        "infinite above 88; the other function takes a softmax, which isn't.",
        "linear_attention_transformer/linear_attention_transformer.py",
        (("torch.exp(k).type(dtype)", "torch.exp(k.clamp(max=60)).type(dtype)"),),
        ("k = k.softmax(dim=-2)",),
    ),
    Verdict(
        "NaN",
        (
            "nn.MultiheadAttention",
            "nn.MultiheadAttention, causal",
        ),
        ("padding",),
        "A bug, since two paths of one layer differ. With `need_weights=True` the rows "
        "are NaN. With `need_weights=False`, as in an encoder layer, they are NaN only "
        "in eval mode without gradients, and else finite. Reported in "
        "[2020](https://github.com/pytorch/pytorch/issues/41508) for rows of which all "
        "is masked, and in [2025](https://github.com/pytorch/pytorch/issues/160064) "
        "for a mask that hides all from one head.",
        "torch/nn/functional.py",
        quoted=("attn_output_weights = softmax(attn_output_weights, dim=-1)",),
    ),
    Verdict(
        "NaN",
        ("timm, unfused",),
        ("padding",),
        "A bug, too: the fused path gives finite numbers.",
        "timm/layers/attention.py",
        quoted=(
            "attn_bias.masked_fill_(~attn_mask, float('-inf'))",
            "attn = attn.softmax(dim=-1)",
        ),
    ),
    Verdict(
        "NaN",
        ("fightingcv-attention",),
        ("padding",),
        "The layer has one path, and says nothing of such rows: no bug by the meaning "
        "above, but its callers have to replace the NaN themselves.",
        "fightingcv_attention/attention/SelfAttention.py",
        quoted=(
            "att = att.masked_fill(attention_mask, -np.inf)",
            "att = torch.softmax(att, -1)",
        ),
    ),
    Verdict(
        "NaN",
        ("ESM-1b", "ESM-2"),
        ("padding",),
        "By design, such a text never comes: the package's batches begin every text "
        "with a token of its own. (With `need_weights=False`, ESM-1b calls PyTorch's "
        "function, and all rows are finite; ESM-2 has no such path.)",
        "esm/multihead_attention.py",
        quoted=(
            'key_padding_mask.unsqueeze(1).unsqueeze(2).to(torch.bool), float("-inf")',
        ),
    ),
    Verdict(
        "NaN",
        ("TorchScale, encoder", "TorchScale, decoder", "TorchScale, xPos"),
        ("padding",),
        "The layer has one path. It replaces NaN in the scores, but before padding is "
        "hidden, so this doesn't help. In an encoder only a text of padding alone is "
        "NaN; in a decoder also the padding on the left of a text.",
        "torchscale/component/multihead_attention.py",
        quoted=(
            "attn_weights = torch.nan_to_num(attn_weights)",
            "key_padding_mask.unsqueeze(1).unsqueeze(2).to(torch.bool)",
        ),
    ),
    Verdict(
        "design",
        ("curated, rotary", "curated, ALiBi", "curated, ALiBi encoder"),
        ("dropped weights",),
        "What is dropped are features of the averaged values, behind the weights. The "
        "docstring says so: “Dropout to apply to the final hidden representation”. "
        "But the fused path hands the same probability to PyTorch's function, which "
        "drops weights; so the two paths don't drop the same.",
        "curated_transformers/layers/attention.py",
        (
            (
                "self.dropout(attn_weights @ value)",
                "self.dropout(attn_weights) @ value",
            ),
        ),
        ("Dropout to apply to the final", "dropout_p=self.dropout_prob"),
    ),
    Verdict(
        "design",
        ("Falcon, ALiBi",),
        ("distances",),
        "The biases are added before the scores are divided by √D, in both paths, so "
        "that a token loses less by the same factor than Press et al. published. "
        "Models trained this way need it: an engine that divided the scores alone "
        "[wrote other texts](https://github.com/NVIDIA/TensorRT-Model-Connect/pull/32) "
        "with Falcon's weights, until it was mended in 2026.",
        "transformers/models/falcon/modeling_falcon.py",
        (
            (
                "= attention_scores + alibi.",
                "= attention_scores + math.sqrt(self.head_dim) * alibi.",
            ),
        ),
        ("alibi / math.sqrt(",),
    ),
    Verdict(
        "design",
        ("x-transformers, grouped",),
        ("heads",),
        "`(r kvh)` shares keys in turns: of four query heads, 0 and 2 have the first "
        "key head, 1 and 3 the second. In Llama, 0 and 1 have the first. The layer "
        "itself is as good; weights from the one kind don't fit the other.",
        "x_transformers/attend.py",
        (("-> b (r kvh) n d", "-> b (kvh r) n d"),),
    ),
    Verdict(
        "design",
        ("ViT, small datasets",),
        ("tokens reached",),
        "Its attention hides each token from itself, as the paper on small datasets "
        "proposes that it follows.",
        "vit_pytorch/vit_for_small_dataset.py",
        (
            (
                "dots = dots.masked_fill(mask, mask_value)",
                "dots = dots.masked_fill(mask & False, mask_value)",
            ),
        ),
    ),
)
