"""An audit of the attention layers of public packages.

    python -m public_layers          all layers; writes the record and the page
    python -m public_layers GPT-2    one, with its table; writes nothing

in the folder ``attention-audit``.

Each module with a list LAYERS is about one package. It imports that package only when a
layer is made, so that the list can be read without it. The packages belong into an
environment of their own, with the audit:

    python -m venv .venv-public
    .venv-public/bin/python -m pip install . -r public_layers/requirements.txt
    .venv-public/bin/python -m pip install --no-deps \\
        -r public_layers/without_dependencies.txt

No weights are downloaded: each layer is made small, with random ones. All together take
some minutes.
"""

import pathlib

from public_layers import (
    curated_transformers,
    fair_esm,
    fightingcv_attention,
    flash_linear_attention,
    hugging_face_layers,
    hugging_face_others,
    linear_attention_transformer,
    litgpt,
    local_attention,
    memory_efficient_attention,
    performer,
    pytorch,
    rotary_embedding_torch,
    timm,
    torch_multi_head_attention,
    torchscale,
    torchtune,
    vit_pytorch,
    x_transformers,
)

RECORD = pathlib.Path(__file__).parent / "record.json"
LAYERS = [
    *pytorch.LAYERS,
    *hugging_face_layers.LAYERS,
    *hugging_face_others.LAYERS,
    *x_transformers.LAYERS,
    *litgpt.LAYERS,
    *torchtune.LAYERS,
    *torchscale.LAYERS,
    *timm.LAYERS,
    *curated_transformers.LAYERS,
    *fair_esm.LAYERS,
    *local_attention.LAYERS,
    *rotary_embedding_torch.LAYERS,
    *flash_linear_attention.LAYERS,
    *linear_attention_transformer.LAYERS,
    *performer.LAYERS,
    *memory_efficient_attention.LAYERS,
    *vit_pytorch.LAYERS,
    *torch_multi_head_attention.LAYERS,
    *fightingcv_attention.LAYERS,
]
