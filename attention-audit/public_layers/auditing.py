"""One audit of one layer."""

import torch
from torch import library as operators

import attention_audit
from public_layers.layer import CONTEXT_LENGTH, D_MODEL


def audit(layer):
    """What the audit finds in a layer."""
    torch.manual_seed(0)
    return attention_audit.audit(
        layer.make(), D_MODEL, CONTEXT_LENGTH, make=layer.make, **layer.declared
    )


def compiled_torchvision():
    """Declare the operators of torchvision where its compiled part can't be loaded.

    timm and LitGPT import torchvision, whose wheel from PyPI fits PyTorch with CUDA
    alone. No attention needs its operators.
    """
    try:
        import torchvision  # noqa: F401
    except RuntimeError:
        for name in ("nms", "qnms"):
            schema = "(Tensor dets, Tensor scores, float least) -> Tensor"
            operators.define(f"torchvision::{name}", schema)
