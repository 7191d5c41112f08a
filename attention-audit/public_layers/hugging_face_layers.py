"""The layers of transformers: their sizes in each configuration's own words."""

from public_layers.hugging_face import (
    T5,
    Adapter,
    Bloom,
    Falcon,
    GptOss,
    Mpt,
    decoder,
    encoder,
)
from public_layers.layer import (
    CONTEXT_LENGTH,
    D_MODEL,
    DROPOUT,
    NUM_HEADS,
    NUM_KV_HEADS,
    WINDOW,
)

HEAD_DIM = D_MODEL // NUM_HEADS
HEADS = {"num_heads": NUM_HEADS}
ROTARY = {"positions": "rotary", **HEADS}
GROUPED_ROTARY = {**ROTARY, "num_kv_heads": NUM_KV_HEADS}
ALIBI = {"positions": "alibi", **HEADS}
RELATIVE = {"positions": "relative", **HEADS, "scale": 1.0}

SIZES = {
    "hidden_size": D_MODEL,
    "num_attention_heads": NUM_HEADS,
    "max_position_embeddings": CONTEXT_LENGTH,
    "num_hidden_layers": 1,
    "attention_dropout": DROPOUT,
}
GROUPED = {**SIZES, "num_key_value_heads": NUM_KV_HEADS}
WIDE = {**GROUPED, "head_dim": HEAD_DIM}
GPT = {
    "n_embd": D_MODEL,
    "n_head": NUM_HEADS,
    "n_positions": CONTEXT_LENGTH,
    "attn_pdrop": DROPOUT,
    "resid_pdrop": 0.0,
}
GPT_NEO = {
    "hidden_size": D_MODEL,
    "num_heads": NUM_HEADS,
    "num_layers": 1,
    "max_position_embeddings": CONTEXT_LENGTH,
    "attention_dropout": DROPOUT,
    "resid_dropout": 0.0,
    "window_size": WINDOW,
    "attention_types": [[["local"], 1]],
}
BERT = {
    "hidden_size": D_MODEL,
    "num_attention_heads": NUM_HEADS,
    "attention_probs_dropout_prob": DROPOUT,
}
T5_SIZES = {
    "d_model": D_MODEL,
    "d_kv": HEAD_DIM,
    "num_heads": NUM_HEADS,
    "dropout_rate": DROPOUT,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": CONTEXT_LENGTH,
}
BLOOM = {
    "hidden_size": D_MODEL,
    "n_head": NUM_HEADS,
    "attention_dropout": DROPOUT,
    "hidden_dropout": 0.0,
}
MPT = {"d_model": D_MODEL, "n_heads": NUM_HEADS, "max_seq_len": CONTEXT_LENGTH}
FALCON = {**SIZES, "multi_query": False, "bias": True}
GEMMA_2 = {
    **WIDE,
    "query_pre_attn_scalar": HEAD_DIM,
    "attn_logit_softcapping": 50.0,
    "sliding_window": WINDOW,
}
WHOLLY = {"rope_type": "default", "rope_theta": 10000.0}
PARTLY = {**WHOLLY, "partial_rotary_factor": 0.7}  # of 6 features, 4

# Where a layer must be told which of the model's layers it is, it is the first.
FIRST = {"layer_idx": 0}
EAGER = {"implementation": "eager", **FIRST}
# Some layers call their cache so.
PAST = {"cache": "layer_past", **FIRST}
EAGER_PAST = {**EAGER, **PAST}
EAGER_CACHE = {**EAGER, "cache": "cache"}
SLIDING = {"mask": "sliding_window_causal"}

# Rotary ones, with two queries for each key: name, module, prefix, settings.
LIKE_LLAMA = (
    ("Llama", "llama", "Llama", GROUPED),
    ("Gemma", "gemma", "Gemma", WIDE),
    ("Qwen2", "qwen2", "Qwen2", GROUPED),
    ("Qwen3", "qwen3", "Qwen3", WIDE),
    ("OLMo 2", "olmo2", "Olmo2", GROUPED),
    ("Phi", "phi", "Phi", {**GROUPED, "rope_parameters": PARTLY}),
    ("Phi-3", "phi3", "Phi3", {**GROUPED, "pad_token_id": 0}),
)

LAYERS = [
    decoder("GPT-2", Adapter, "gpt2", "GPT2", GPT, **FIRST),
    decoder("GPT-2, eager", Adapter, "gpt2", "GPT2", GPT, **EAGER),
    encoder(
        "BERT",
        Adapter,
        "bert",
        "Bert",
        BERT,
        attention="SelfAttention",
        declared=HEADS,
    ),
    encoder(
        "T5, encoder",
        T5,
        "t5",
        "T5",
        T5_SIZES,
        has_relative_attention_bias=True,
        declared=RELATIVE,
        **FIRST,
    ),
    decoder(
        "T5, decoder",
        T5,
        "t5",
        "T5",
        {**T5_SIZES, "is_decoder": True},
        has_relative_attention_bias=True,
        is_causal=True,
        declared=RELATIVE,
        **FIRST,
    ),
    decoder("OPT", Adapter, "opt", "OPT", SIZES, declared=HEADS, **FIRST),
    decoder(
        "GPT-Neo, local",
        Adapter,
        "gpt_neo",
        "GPTNeo",
        GPT_NEO,
        implementation="eager",
        cache="layer_past",
        declared={"window": WINDOW, "scale": 1.0, **HEADS},
    ),
    decoder(
        "GPT-BigCode",
        Adapter,
        "gpt_bigcode",
        "GPTBigCode",
        {**GPT, "multi_query": True},
        declared={**HEADS, "num_kv_heads": 1},
        **PAST,
    ),
    decoder(
        "GPT-J",
        Adapter,
        "gptj",
        "GPTJ",
        {**GPT, "rotary_dim": 4},
        declared=ROTARY,
        **EAGER_CACHE,
    ),
    decoder(
        "CodeGen",
        Adapter,
        "codegen",
        "CodeGen",
        {**GPT, "rotary_dim": 4},
        declared=ROTARY,
        **EAGER_CACHE,
    ),
    decoder(
        "GPT-NeoX",
        Adapter,
        "gpt_neox",
        "GPTNeoX",
        {**SIZES, "rope_parameters": PARTLY},
        declared=ROTARY,
        **PAST,
    ),
    decoder("BLOOM", Bloom, "bloom", "Bloom", BLOOM, declared=ALIBI, **EAGER_PAST),
    decoder(
        "MPT",
        Mpt,
        "mpt",
        "Mpt",
        MPT,
        declared=ALIBI,
        **EAGER,
    ),
    decoder(
        "Falcon, ALiBi",
        Falcon,
        "falcon",
        "Falcon",
        {**FALCON, "alibi": True},
        declared=ALIBI,
        **EAGER_PAST,
    ),
    decoder(
        "Falcon, rotary",
        Falcon,
        "falcon",
        "Falcon",
        {**FALCON, "alibi": False},
        declared=ROTARY,
        **PAST,
    ),
    *(
        decoder(name, Adapter, *classes, declared=GROUPED_ROTARY, **FIRST)
        for name, *classes in LIKE_LLAMA
    ),
    decoder(
        "Llama, eager",
        Adapter,
        "llama",
        "Llama",
        GROUPED,
        declared=GROUPED_ROTARY,
        **EAGER,
    ),
    decoder(
        "Granite",
        Adapter,
        "granite",
        "Granite",
        {**GROUPED, "attention_multiplier": 0.3},
        declared={**GROUPED_ROTARY, "scale": 0.3},
        **FIRST,
    ),
    decoder(
        "Mistral, sliding",
        Adapter,
        "mistral",
        "Mistral",
        {**GROUPED, "sliding_window": WINDOW},
        declared={**GROUPED_ROTARY, "window": WINDOW},
        **SLIDING,
        **FIRST,
    ),
    decoder(
        "Gemma 2, soft cap",
        Adapter,
        "gemma2",
        "Gemma2",
        {**GEMMA_2, "layer_types": ["full_attention"]},
        declared=GROUPED_ROTARY,
        **EAGER,
    ),
    decoder(
        "Gemma 2, sliding",
        Adapter,
        "gemma2",
        "Gemma2",
        {**GEMMA_2, "layer_types": ["sliding_attention"]},
        declared={**GROUPED_ROTARY, "window": WINDOW},
        **SLIDING,
        **EAGER,
    ),
    decoder(
        "GPT-OSS, sinks",
        GptOss,
        "gpt_oss",
        "GptOss",
        {**WIDE, "layer_types": ["full_attention"], "rope_parameters": WHOLLY},
        declared=GROUPED_ROTARY,
        **EAGER,
    ),
]
