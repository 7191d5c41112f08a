"""What other people's models are called in this book's layers: Llama, GPT-2, BERT.

A file names its tensors as its authors did. Here stands which layer of a TransformerLM
or TransformerEncoder each of them belongs to, and which of the many options of a
``config.json`` those layers can do.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from torch import Tensor

from helpers import validation
from helpers.models.transformer_block import TransformerConfig

Tensors = Mapping[str, Tensor]
Settings = Mapping[str, Any]


class Architecture(NamedTuple):
    """How to read one kind of model.

    Attributes:
        config: from ``config.json`` to a TransformerConfig.
        state: from the file's tensors to a state dict, and the names of the tensors
            that were not needed.
        causal: whether it is a TransformerLM.
    """

    config: Callable[[Settings], TransformerConfig]
    state: Callable[[Tensors, TransformerConfig], tuple[dict[str, Tensor], list[str]]]
    causal: bool


def architecture(settings: Settings) -> Architecture:
    """Choose by ``model_type``.

    Args:
        settings: a ``config.json``.

    Returns:
        architecture: an Architecture.

    Raises:
        ValueError: another kind of model; the message says what it would need.
    """
    kind = settings.get("model_type")
    if isinstance(kind, str) and kind in ARCHITECTURES:
        return ARCHITECTURES[kind]
    lacks = LACKING.get(str(kind), "it would need a table of its tensors' names")
    raise ValueError(
        f"model_type must be one of {list(ARCHITECTURES)}, got {kind!r}: {lacks}"
    )


def llama_names(num_layers: int) -> dict[str, str]:
    """What a Llama's tensors are called in a TransformerLM.

    Args:
        num_layers: of the model.

    Returns:
        names: a dict from our names to those of its authors.
    """
    return _names(LLAMA, LLAMA_BLOCK, num_layers)


def _names(
    outer: Mapping[str, str], inner: Mapping[str, str], num_layers: int
) -> dict[str, str]:
    """Our name to theirs, block by block; {} of ``inner`` is the block's number."""
    names = {ours: theirs for ours, theirs in outer.items() if ours != "blocks"}
    for i in range(num_layers):
        prefix = outer["blocks"].format(i)
        names |= {
            f"blocks.{i}.{ours}": f"{prefix}.{theirs}" for ours, theirs in inner.items()
        }
    return names


def _weights_and_biases(layers: Mapping[str, str]) -> dict[str, str]:
    """Layers' names, ours to theirs, with both of the tensors that each has."""
    return {
        f"{ours}.{part}": f"{theirs}.{part}"
        for ours, theirs in layers.items()
        for part in ("weight", "bias")
    }


def _take(
    tensors: Tensors, names: Mapping[str, str], blocks: str, spare: tuple[str, ...]
) -> tuple[dict[str, Tensor], list[str]]:
    """Tensors under our names, and what is left over; ``spare`` says nothing new.

    A tensor left over within a block is part of what the model computes.
    """
    for theirs in names.values():
        if theirs not in tensors:
            raise ValueError(f"the file lacks the tensor {theirs}")
        if not tensors[theirs].is_floating_point():
            raise ValueError(
                f"{theirs} must be floating point, got {tensors[theirs].dtype}"
            )
    left = sorted(tensors.keys() - set(names.values()))
    unused = [name for name in left if not name.endswith(spare)]
    for name in unused:
        if name.startswith(blocks.format("")):
            raise ValueError(
                f"the file must hold nothing in a block that its layers don't use, got "
                f"the tensor {name}"
            )
    return {ours: tensors[theirs] for ours, theirs in names.items()}, unused


def _refuse(settings: Settings, allowed: Mapping[str, tuple[Any, ...]]) -> None:
    """Settings that would compute something else than these layers do."""
    for name, values in {**allowed, "quantization_config": (None,)}.items():
        if settings.get(name, values[0]) not in values:
            listed = " or ".join(repr(value) for value in values)
            raise ValueError(
                f"{name} must be {listed}, got {settings[name]!r}: the layers of this "
                "book don't have that"
            )


def _size(settings: Settings, name: str) -> int:
    """A whole number of at least 1."""
    if name not in settings:
        raise ValueError(f"config.json lacks {name}")
    validation.require_integers(**{name: settings[name]})
    return int(settings[name])


LLAMA = {
    "token_embedding.weight": "model.embed_tokens.weight",
    "blocks": "model.layers.{}",
    "final_norm.weight": "model.norm.weight",
}
LLAMA_BLOCK = {
    "attention_norm.weight": "input_layernorm.weight",
    "attention.W_query.weight": "self_attn.q_proj.weight",
    "attention.W_key.weight": "self_attn.k_proj.weight",
    "attention.W_value.weight": "self_attn.v_proj.weight",
    "attention.out_proj.weight": "self_attn.o_proj.weight",
    "mlp_norm.weight": "post_attention_layernorm.weight",
    "mlp.gate.weight": "mlp.gate_proj.weight",
    "mlp.up.weight": "mlp.up_proj.weight",
    "mlp.down.weight": "mlp.down_proj.weight",
}


UNSCALED = {
    "rope_type": ("default",),
    "type": ("default",),
    "partial_rotary_factor": (1.0,),
}


def _llama_config(settings: Settings) -> TransformerConfig:
    # Newer files keep everything about the rotation in one place.
    places = [settings.get(name) or {} for name in ("rope_scaling", "rope_parameters")]
    for place in places:
        if not isinstance(place, Mapping):
            raise ValueError(
                f"rope_scaling and rope_parameters must be objects, got {place!r}"
            )
        _refuse(place, UNSCALED)
    rotary = places[0] or places[1]
    _refuse(
        settings,
        {
            "hidden_act": ("silu",),
            "attention_bias": (False,),
            "mlp_bias": (False,),
            "rope_interleaved": (False,),
            "partial_rotary_factor": (1.0,),
            "sliding_window": (None,),
        },
    )
    C, H = _size(settings, "hidden_size"), _size(settings, "num_attention_heads")
    _refuse(settings, {"head_dim": (C // H, None)})
    base = rotary.get("rope_theta") or settings.get("rope_theta") or 10_000.0
    return TransformerConfig(
        vocab_size=_size(settings, "vocab_size"),
        context_length=_size(settings, "max_position_embeddings"),
        d_model=C,
        num_heads=H,
        num_layers=_size(settings, "num_hidden_layers"),
        num_kv_heads=settings.get("num_key_value_heads"),
        positions="rotary",
        rotary_base=base,
        norm="rms",
        norm_eps=settings.get("rms_norm_eps", 1e-6),
        activation="swiglu",
        mlp_hidden=_size(settings, "intermediate_size"),
        tie_weights=settings.get("tie_word_embeddings", False),
        bias=False,
    )


def _llama_state(
    tensors: Tensors, config: TransformerConfig
) -> tuple[dict[str, Tensor], list[str]]:
    names = llama_names(config.num_layers)
    if not config.tie_weights:
        names["head.weight"] = "lm_head.weight"
    # A model without a head has no prefix.
    outer = ("model.", "lm_head.")
    tensors = {
        name if name.startswith(outer) else f"model.{name}": one
        for name, one in tensors.items()
    }
    # Some files keep the angles, and the shared table twice.
    spare = ("rotary_emb.inv_freq", "lm_head.weight")
    return _take(tensors, names, LLAMA["blocks"], spare)


GPT2 = {
    "token_embedding.weight": "wte.weight",
    "position_embedding.weight": "wpe.weight",
    "blocks": "h.{}",
    "final_norm.weight": "ln_f.weight",
    "final_norm.bias": "ln_f.bias",
}
GPT2_BLOCK = _weights_and_biases(
    {
        "attention_norm": "ln_1",
        "attention.W_query": "attn.c_attn.q",
        "attention.W_key": "attn.c_attn.k",
        "attention.W_value": "attn.c_attn.v",
        "attention.out_proj": "attn.c_proj",
        "mlp_norm": "ln_2",
        "mlp.0": "mlp.c_fc",
        "mlp.2": "mlp.c_proj",
    }
)


def _gpt2_config(settings: Settings) -> TransformerConfig:
    _refuse(
        settings,
        {
            "activation_function": ("gelu_new", "gelu_pytorch_tanh"),
            "scale_attn_weights": (True,),
            "scale_attn_by_inverse_layer_idx": (False,),
            "add_cross_attention": (False,),
            "tie_word_embeddings": (True,),
        },
    )
    return TransformerConfig(
        vocab_size=_size(settings, "vocab_size"),
        context_length=_size(settings, "n_positions"),
        d_model=_size(settings, "n_embd"),
        num_heads=_size(settings, "n_head"),
        num_layers=_size(settings, "n_layer"),
        norm_eps=settings.get("layer_norm_epsilon", 1e-5),
        activation="gelu_tanh",
        mlp_hidden=settings.get("n_inner"),
        tie_weights=True,
        qkv_bias=True,
    )


def _gpt2_state(
    tensors: Tensors, config: TransformerConfig
) -> tuple[dict[str, Tensor], list[str]]:
    split: dict[str, Tensor] = {}
    for name, one in _without_prefix(tensors, "transformer.").items():
        # Its linear layers keep their weights transposed: (in, out).
        one = one.T.contiguous() if ".c_" in name and one.ndim == 2 else one
        if ".c_attn." in name and one.ndim:
            # Queries, keys and values stand side by side.
            for part, rows in zip("qkv", one.tensor_split(3), strict=True):
                split[name.replace("c_attn", f"c_attn.{part}")] = rows
        else:
            split[name] = one
    names = _names(GPT2, GPT2_BLOCK, config.num_layers)
    return _take(split, names, GPT2["blocks"], GPT2_SPARE)


# Masks, and the shared table twice.
GPT2_SPARE = (".attn.bias", ".attn.masked_bias", "lm_head.weight")

BERT = {
    "token_embedding.weight": "embeddings.word_embeddings.weight",
    "position_embedding.weight": "embeddings.position_embeddings.weight",
    "segment_embedding.weight": "embeddings.token_type_embeddings.weight",
    "embedding_norm.weight": "embeddings.LayerNorm.weight",
    "embedding_norm.bias": "embeddings.LayerNorm.bias",
    "blocks": "encoder.layer.{}",
}
BERT_BLOCK = _weights_and_biases(
    {
        "attention.W_query": "attention.self.query",
        "attention.W_key": "attention.self.key",
        "attention.W_value": "attention.self.value",
        "attention.out_proj": "attention.output.dense",
        "attention_norm": "attention.output.LayerNorm",
        "mlp.0": "intermediate.dense",
        "mlp.2": "output.dense",
        "mlp_norm": "output.LayerNorm",
    }
)


def _bert_config(settings: Settings) -> TransformerConfig:
    _refuse(
        settings,
        {
            "hidden_act": ("gelu",),
            "position_embedding_type": ("absolute",),
            "is_decoder": (False,),
            "add_cross_attention": (False,),
        },
    )
    return TransformerConfig(
        vocab_size=_size(settings, "vocab_size"),
        context_length=_size(settings, "max_position_embeddings"),
        d_model=_size(settings, "hidden_size"),
        num_heads=_size(settings, "num_attention_heads"),
        num_layers=_size(settings, "num_hidden_layers"),
        norm_eps=settings.get("layer_norm_eps", 1e-12),
        norm_first=False,
        mlp_hidden=_size(settings, "intermediate_size"),
        qkv_bias=True,
        causal=False,
    )


def _bert_state(
    tensors: Tensors, config: TransformerConfig
) -> tuple[dict[str, Tensor], list[str]]:
    # Older files have the first authors' names of a norm's weight and bias.
    for old, new in (("gamma", "weight"), ("beta", "bias")):
        tensors = {
            name.replace(f"LayerNorm.{old}", f"LayerNorm.{new}"): one
            for name, one in tensors.items()
        }
    tensors = _without_prefix(tensors, "bert.")
    names = _names(BERT, BERT_BLOCK, config.num_layers)
    state, unused = _take(tensors, names, BERT["blocks"], ("embeddings.position_ids",))
    # One text is read at a time: the first of the two segments.
    state["segment_embedding.weight"] = state["segment_embedding.weight"][:1].clone()
    return state, unused


def _without_prefix(tensors: Tensors, prefix: str) -> Tensors:
    return {name.removeprefix(prefix): one for name, one in tensors.items()}


ARCHITECTURES: Mapping[str, Architecture] = {
    "llama": Architecture(_llama_config, _llama_state, causal=True),
    "gpt2": Architecture(_gpt2_config, _gpt2_state, causal=True),
    "bert": Architecture(_bert_config, _bert_state, causal=False),
}
# What others would need, for the message.
LACKING: Mapping[str, str] = {
    "mistral": "its layers are Llama's, with a window in some versions; if "
    "sliding_window is null, set model_type to 'llama' in config.json",
    "qwen2": "queries, keys and values have a bias there",
    "qwen3": "queries and keys have a norm there, and heads may be wider than C / H",
    "gemma2": "it has norms behind its layers, too, and caps scores and logits",
    "gemma3": "it has norms behind its layers, too, and windows in most of them",
    "phi3": "its queries, keys and values are one tensor, and so are gate and up",
    "gpt_neox": "it adds attention and MLP side by side, and turns a part of a head",
    "mixtral": "it has several MLPs a block, of which each token takes some",
    "deepseek_v3": "it has latent attention, and several MLPs a block",
    "roberta": "its positions begin at 2, behind those of padding",
    "distilbert": "it has no segments, and its tensors have other names",
    "t5": "it has an encoder and a decoder, and biases by distance",
}
