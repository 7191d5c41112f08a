"""A TransformerLM with one head switched off, for comparison with the page's model."""

import contextlib


@contextlib.contextmanager
def silenced(model, layer, head):
    """Inside the block, one head of one layer adds nothing."""
    width = model.config.d_model // model.config.num_heads

    def silence(module, inputs):
        context = inputs[0].clone()
        context[..., head * width : (head + 1) * width] = 0
        return (context,)

    out_proj = model.blocks[layer].attention.out_proj
    hook = out_proj.register_forward_pre_hook(silence)
    try:
        yield
    finally:
        hook.remove()
