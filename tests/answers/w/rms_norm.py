import torch


def rms_plain(x, weight, eps):
    """right: the root of the mean square plus eps, then a division and the weight."""
    rms = torch.sqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps)
    return x / rms * weight


def rms_einsum(x, weight, eps):
    """right: the mean square by einsum, and rsqrt."""
    mean_square = torch.einsum("...c,...c->...", x, x) / x.shape[-1]
    return x * torch.rsqrt(mean_square + eps).unsqueeze(-1) * weight


def rms_eps_outside(x, weight, eps):
    """wrong: adds eps after the root instead of to the mean of the squares, which shows for vectors of small numbers."""
    rms = x.pow(2).mean(-1, keepdim=True).sqrt()
    return weight * x / (rms + eps)


def rms_square_of_mean(x, weight, eps):
    """wrong: squares the mean instead of averaging the squares."""
    ms = x.mean(dim=-1, keepdim=True) ** 2
    return x / torch.sqrt(ms + eps) * weight


def rms_whole_tensor(x, weight, eps):
    """wrong: one mean over the whole tensor instead of one for each vector (right for a single vector)."""
    rms = torch.sqrt((x ** 2).mean() + eps)
    return (x / rms) * weight


def rms_in_place(x, weight, eps):
    """wrong: divides x in place, so the caller's tensor changes (the result is right)."""
    norm = (x.square().mean(-1, keepdim=True) + eps).sqrt()
    x /= norm
    return x * weight


def rms_weight_first(x, weight, eps):
    """wrong: multiplies by weight before the norm, so the mean of the squares is that of the weighted vector."""
    h = x * weight
    variance = h.pow(2).mean(-1, keepdim=True)
    return h * torch.rsqrt(variance + eps)


def rms_variance(x, weight, eps):
    """wrong: takes the variance, which subtracts the mean first, for the mean of the squares (right where the mean is 0)."""
    var = x.var(dim=-1, keepdim=True, unbiased=False)
    x_norm = x / torch.sqrt(var + eps)
    return weight * x_norm


ANSWERS = [
    rms_plain,
    rms_einsum,
    rms_eps_outside,
    rms_square_of_mean,
    rms_whole_tensor,
    rms_in_place,
    rms_weight_first,
    rms_variance,
]
