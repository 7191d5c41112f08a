"""Further layers of transformers, most of them close to Llama's or BERT's."""

from public_layers.hugging_face import Adapter, decoder, encoder
from public_layers.hugging_face_layers import (
    BERT,
    FIRST,
    GROUPED,
    GROUPED_ROTARY,
    HEADS,
    PARTLY,
    ROTARY,
    SIZES,
    SLIDING,
    WIDE,
)
from public_layers.layer import D_MODEL, DROPOUT, NUM_HEADS, WINDOW

PADDED = {**GROUPED, "pad_token_id": 0}
WIDE_PADDED = {**WIDE, "pad_token_id": 0}
DISTILBERT = {"dim": D_MODEL, "n_heads": NUM_HEADS, "attention_dropout": DROPOUT}

# Rotary ones, with two queries for each key: name, module, prefix, settings.
LIKE_LLAMA = (
    ("SmolLM3", "smollm3", "SmolLM3", {**PADDED, "no_rope_layers": [1]}),
    ("Mixtral", "mixtral", "Mixtral", GROUPED),
    ("StarCoder 2", "starcoder2", "Starcoder2", GROUPED),
    ("StableLM", "stablelm", "StableLm", {**GROUPED, "rope_parameters": PARTLY}),
    ("Cohere", "cohere", "Cohere", PADDED),
    ("GLM", "glm", "Glm", {**WIDE_PADDED, "rope_parameters": PARTLY}),
    ("OLMo", "olmo", "Olmo", GROUPED),
    ("OLMoE", "olmoe", "Olmoe", GROUPED),
    ("Nemotron", "nemotron", "Nemotron", {**WIDE, "rope_parameters": PARTLY}),
    ("Arcee", "arcee", "Arcee", WIDE_PADDED),
    ("Apertus", "apertus", "Apertus", PADDED),
    ("Helium", "helium", "Helium", WIDE_PADDED),
    ("nanochat", "nanochat", "NanoChat", PADDED),
    ("Qwen3-MoE", "qwen3_moe", "Qwen3Moe", WIDE),
    ("PhiMoE", "phimoe", "Phimoe", GROUPED),
)
LIKE_BERT = (
    ("RoBERTa", "roberta", "Roberta", "SelfAttention", BERT),
    ("ELECTRA", "electra", "Electra", "SelfAttention", BERT),
    ("DistilBERT", "distilbert", "DistilBert", "SelfAttention", DISTILBERT),
    ("ALBERT", "albert", "Albert", "Attention", {**BERT, "hidden_dropout_prob": 0.0}),
)

LAYERS = [
    *(
        decoder(name, Adapter, *classes, declared=GROUPED_ROTARY, **FIRST)
        for name, *classes in LIKE_LLAMA
    ),
    decoder(
        "Persimmon",
        Adapter,
        "persimmon",
        "Persimmon",
        {**SIZES, "rope_parameters": PARTLY},
        declared=ROTARY,
        **FIRST,
    ),
    decoder(
        "Ministral, sliding",
        Adapter,
        "ministral",
        "Ministral",
        {**WIDE, "sliding_window": WINDOW, "layer_types": ["sliding_attention"]},
        declared={**GROUPED_ROTARY, "window": WINDOW},
        **SLIDING,
        **FIRST,
    ),
    *(
        encoder(name, Adapter, *model, settings, attention=kind, declared=HEADS)
        for name, *model, kind, settings in LIKE_BERT
    ),
]
