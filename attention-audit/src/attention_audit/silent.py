"""What of a parameter learns for some heads and not for others."""

from torch import Tensor

from attention_audit.inside import Inside


def silent_heads(learned: dict[str, Tensor], inside: Inside, kv_heads: int) -> str:
    """What of a vector or a table learns for some heads and not for others; or "".

    Args:
        learned: for each parameter, where it ever got a gradient that isn't 0.
    """
    H, D = inside.H, inside.D
    for name, one in learned.items():
        is_key = "k" in name.rpartition(".")[0].lower().rpartition(".")[2]
        if one.dim() == 1 and "bias" in name and not is_key:
            if H < 2 or len(one) % D or len(one) < H * D:
                continue
            silent = int((~one.unflatten(0, (-1, D)).any(1)).sum())
            # Softmax takes no notice of the biases of keys.
            if silent not in (0, kv_heads):
                return f"{name} gets no gradient for {silent} of {len(one) // D} heads"
        if one.dim() >= 1 and H > 1 and name not in inside.trace.used:
            for axis, size in enumerate(one.shape):
                if size != H or [*one.shape].count(H) > 1:
                    continue
                rest = [a for a in range(one.dim()) if a != axis]
                heads = one.any(dim=tuple(rest)) if rest else one
                if heads.any() and not heads.all():
                    count = int((~heads).sum())
                    return f"{name} gets no gradient for {count} of {H} heads"
    return ""
