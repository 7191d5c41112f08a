"""Hugging Face's transformers: each layer with the mask that its model makes for it."""

import functools
import importlib

import torch
from torch import nn

from public_layers.layer import (
    CONTEXT_LENGTH,
    DROPOUT,
    NUM_HEADS,
    Layer,
    padded,
)

PACKAGE = "transformers"


class Adapter(nn.Module):
    """A layer of transformers as a function of x, with mask and angles from its model.

    Args:
        model: the module in ``transformers.models``.
        prefix: what the names of its classes begin with.
        settings: of its configuration.
        attention: how the class's name goes on.
        implementation: "eager" or "sdpa".
        mask: the kind of mask that the model asks ``masking_utils`` for.
        cache: what the layer calls its cache.
        arguments: further ones of the class, beside the configuration.
    """

    def __init__(
        self,
        model,
        prefix,
        settings,
        *,
        attention="Attention",
        implementation="sdpa",
        mask="causal",
        cache="past_key_values",
        **arguments,
    ):
        super().__init__()
        package = f"transformers.models.{model}"
        configurations = importlib.import_module(f"{package}.configuration_{model}")
        classes = importlib.import_module(f"{package}.modeling_{model}")
        self.config = getattr(configurations, f"{prefix}Config")(**settings)
        self.config._attn_implementation = implementation
        layer = getattr(classes, f"{prefix}{attention}")
        self.attention = layer(self.config, **arguments)
        rotary = getattr(classes, f"{prefix}RotaryEmbedding", None)
        self.rotary = rotary and rotary(self.config)
        self.mask, self.cache = mask, cache

    def forward(self, x, real=None, cache=None):
        from transformers import masking_utils

        known = {} if self.mask == "bidirectional" else {"past_key_values": cache}
        mask = getattr(masking_utils, f"create_{self.mask}_mask")(
            config=self.config, inputs_embeds=x, attention_mask=real, **known
        )
        return self.attention(x, **self.further(x, real, cache, mask))

    def further(self, x, real, cache, mask):
        """The layer's arguments beside x."""
        past = 0 if cache is None else cache.get_seq_length()
        positions = past + torch.arange(x.shape[1], device=x.device)[None]
        given = {"attention_mask": mask, self.cache: cache, "position_ids": positions}
        if self.rotary:
            given["position_embeddings"] = self.rotary(x, positions)
        return given


class T5(Adapter):
    """T5's layer has other names, and returns its bias before its weights."""

    def forward(self, x, real=None, cache=None):
        context, _, *weights = super().forward(x, real, cache)
        return context, *weights

    def further(self, x, real, cache, mask):
        return {"mask": mask, self.cache: cache}


class Bloom(Adapter):
    """BLOOM's model makes the biases; its layer adds the residual stream, here 0."""

    def further(self, x, real, cache, mask):
        from transformers.models.bloom.modeling_bloom import build_alibi_tensor

        real = _all_real(x, real, cache)
        alibi = build_alibi_tensor(real.long(), NUM_HEADS, x.dtype)
        given = {"attention_mask": mask, self.cache: cache, "alibi": alibi}
        return {**given, "residual": torch.zeros_like(x)}


class Falcon(Adapter):
    """Falcon's model makes the biases, where its configuration has any."""

    def further(self, x, real, cache, mask):
        from transformers.models.falcon.modeling_falcon import build_alibi_tensor

        alibi = None
        if self.config.alibi:
            real = _all_real(x, real, cache)
            alibi = build_alibi_tensor(real.long(), NUM_HEADS, x.dtype)
        return {**super().further(x, real, cache, mask), "alibi": alibi}


class Mpt(Adapter):
    """MPT's model makes the biases, and turns the mask into True = hidden.

    Its configuration takes whole numbers alone as probability of dropout.
    """

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.attention.attn_dropout_p = DROPOUT

    def further(self, x, real, cache, mask):
        from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

        alibi = build_mpt_alibi_tensor(NUM_HEADS, CONTEXT_LENGTH, device=x.device)
        given = {"attention_mask": mask.bool(), self.cache: cache}
        return {**given, "position_bias": alibi}


class GptOss(Adapter):
    """GPT-OSS's layer leaves its sinks, one number a head, to its model to draw."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        nn.init.normal_(self.attention.sinks, std=0.02)


def _all_real(x, real, cache):
    """A padding mask for the cache and x, where none is given."""
    if real is not None:
        return real
    past = 0 if cache is None else cache.get_seq_length()
    return torch.ones(x.shape[0], past + x.shape[1], device=x.device)


def step(module, x, cache):
    """Feed x behind what is in the package's own cache, which grows in place."""
    from transformers import DynamicCache

    cache = DynamicCache(config=module.config) if cache is None else cache
    return module(x, cache=cache)[0], cache


def decoder(name, make, model, prefix, settings, *, declared=None, **options):
    """A causal Layer with padding and a cache; ``declared`` is what else it has."""
    usual = {"dropout": DROPOUT, "padding": padded, "step": step}
    make = functools.partial(make, model, prefix, settings, **options)
    return Layer(name, PACKAGE, make, {**(declared or {}), **usual})


def encoder(name, make, model, prefix, settings, *, declared, **options):
    """A Layer that sees the whole text, with padding."""
    usual = {"causal": False, "dropout": DROPOUT, "padding": padded}
    options["mask"] = "bidirectional"
    make = functools.partial(make, model, prefix, settings, **options)
    return Layer(name, PACKAGE, make, {**declared, **usual})
