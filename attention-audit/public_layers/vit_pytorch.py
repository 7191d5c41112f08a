"""Phil Wang's vit-pytorch: some of its many vision transformers' attention."""

import functools
import importlib

from public_layers.layer import D_MODEL, DROPOUT, NUM_HEADS, Layer

PACKAGE = "vit-pytorch"


def made(module, kind="Attention", **settings):
    """A layer of the package's module; each begins with a norm of its own."""
    package = importlib.import_module(f"vit_pytorch.{module}")
    return getattr(package, kind)(
        D_MODEL, heads=NUM_HEADS, dim_head=D_MODEL // NUM_HEADS, **settings
    )


def layer(name, declared, *classes, **settings):
    """A Layer of this package, which sees the whole image."""
    usual = {"causal": False, "num_heads": NUM_HEADS}
    make = functools.partial(made, *classes, **settings)
    return Layer(name, PACKAGE, make, {**usual, **declared})


DROPPED = {"dropout": DROPOUT}
LAYERS = [
    layer("ViT", DROPPED, "vit", **DROPPED),
    layer("SimpleViT", {}, "simple_vit"),
    layer("SimpleViT, QK-norm", {"scale": 1.0}, "simple_vit_with_qk_norm"),
    layer("ViT, small datasets", DROPPED, "vit_for_small_dataset", "LSA", **DROPPED),
    layer("DeepViT", {**DROPPED, "softmax": False}, "deepvit", **DROPPED),
]
