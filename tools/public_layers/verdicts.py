"""What the failing lines mean, each looked into in the package's source."""

from dataclasses import dataclass

KINDS = {
    "bug": "The layer does something else than it says, or than its other path does.",
    "design": "The layer means to do it, and its readers should know.",
    "false alarm": "The layer is right, and the audit errs.",
}


@dataclass(frozen=True)
class Verdict:
    """What one or several failing lines mean.

    Args:
        kind: one of KINDS.
        layers: names of layers.
        checks: the lines that fail in each of them.
        words: what the source does.
        source: the file of the package.
        mended: pairs (old, new) of its text. With these exchanged, ``mending`` asks
            whether the lines pass.
    """

    kind: str
    layers: tuple[str, ...]
    checks: tuple[str, ...]
    words: str
    source: str
    mended: tuple[tuple[str, str], ...] = ()


VERDICTS = (
    Verdict(
        "bug",
        ("torch-multi-head-attention", "torch-multi-head-attention, causal"),
        ("padding",),
        "`mask.repeat(head_num, 1, 1)` puts the masks of all texts one behind the "
        "other, and then again, but the heads of one text stand next to each other. "
        "So heads get the masks of other texts of the batch. `repeat_interleave` would "
        "be right; a batch of one hides it.",
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
        ("local-attention",),
        ("cache",),
        "With a cache, `LocalMHA` calls the rotated keys `k` again, and then puts `k` "
        "into the new cache; the next step rotates them once more. The second step is "
        "the first that is wrong, and without rotary positions all are right.",
        "local_attention/transformer.py",
        (
            ("q, k = apply_rotary_pos_emb(", "q, turned = apply_rotary_pos_emb("),
            ("sim = einsum(q, k, ", "sim = einsum(q, turned, "),
        ),
    ),
    Verdict(
        "bug",
        ("local-attention",),
        ("dropout",),
        "`LocalMHA` takes a `dropout` and hands it to nobody.",
        "local_attention/transformer.py",
        (("causal = causal,", "causal = causal, dropout = dropout,"),),
    ),
    Verdict(
        "bug",
        ("Falcon, rotary",),
        ("dropped weights", "dropout"),
        "PyTorch's function is called with `dropout_p=0.0`, whatever the configuration "
        "says; with linear biases the configuration counts. The other path's comment "
        "finds it “unclear why dropout is not applied here”.",
        "transformers/models/falcon/modeling_falcon.py",
        (
            (
                "dropout_p=0.0",
                "dropout_p=self.attention_dropout.p if self.training else 0.0",
            ),
        ),
    ),
    Verdict(
        "bug",
        ("curated, fused",),
        ("future changed", "dropout", "mode kept"),
        "Under `enable_torch_sdp`, train mode reads `self.dropout_prob`, but the class "
        "keeps a module `self.dropout`.",
        "curated_transformers/layers/attention.py",
        (("self.dropout_prob if", "self.dropout.p if"),),
    ),
    Verdict(
        "bug",
        ("curated, fused",),
        ("cache",),
        "Padding is set to 0 by a mask that has one row for each key. With a cache "
        "there are more keys than queries, and one new token becomes as many rows as "
        "there are keys.",
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
        (
            "nn.MultiheadAttention",
            "nn.MultiheadAttention, causal",
            "nn.TransformerEncoderLayer",
        ),
        ("padding",),
        "Where all that a row may see is padding, every score is −∞, and softmax "
        "divides 0 by 0. The next layer carries the NaN to all rows of the text. With "
        "`need_weights=False`, as in an encoder layer, it happens in eval mode without "
        "gradients alone. "
        "Reported in [2020](https://github.com/pytorch/pytorch/issues/41508) and "
        "[2025](https://github.com/pytorch/pytorch/issues/160064).",
        "torch/nn/functional.py",
    ),
    Verdict(
        "bug",
        ("timm, unfused", "fightingcv-attention"),
        ("padding",),
        "The same division. timm's fused path gives finite numbers, so that one layer "
        "behaves in two ways.",
        "timm/layers/attention.py",
    ),
    Verdict(
        "design",
        ("ESM-1b", "ESM-2"),
        ("padding",),
        "The same once more, but the package's batches begin every text with a token "
        "of its own, so that none is padding alone.",
        "esm/multihead_attention.py",
    ),
    Verdict(
        "design",
        ("Falcon, ALiBi",),
        ("distances",),
        "The biases are added before the scores are divided by √D, in both paths, so "
        "that a token loses less by the same factor than Press et al. published. "
        "Weights trained so need it so.",
        "transformers/models/falcon/modeling_falcon.py",
        (
            (
                "= attention_scores + alibi.",
                "= attention_scores + math.sqrt(self.head_dim) * alibi.",
            ),
        ),
    ),
    Verdict(
        "design",
        ("x-transformers, grouped",),
        ("heads",),
        "`(r kvh)` shares keys in turns: of four query heads, 0 and 2 have the first "
        "key head, 1 and 3 the second. In Llama it is 0 and 1. The layer itself is as "
        "good; weights from the one kind don't fit the other.",
        "x_transformers/attend.py",
        (("-> b (r kvh) n d", "-> b (kvh r) n d"),),
    ),
)
