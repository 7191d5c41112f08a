"""Muon: steps whose directions all have the same size, for the matrices of a model."""

import math
from collections.abc import Callable, Iterable
from typing import Any, cast

import torch
from torch import Tensor

from helpers import validation
from helpers.parallel.shards import full_tensor, shard_like

# What Newton and Schulz's iteration multiplies a matrix, its cube and its fifth power
# by. Small singular values grow by 3.4445 at each step; those near 1 sway around 0.9.
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
SMALLEST = 1e-7
# What torch.optim.Muon lets one choose, and is fixed here.
PYTORCHS = {
    "nesterov": True,
    "ns_coefficients": COEFFICIENTS,
    "ns_steps": 5,
    "eps": SMALLEST,
}
# What a matrix's rate is multiplied by, from its shape (M, N), by PyTorch's names.
ADJUSTMENTS: dict[str, Callable[[int, int], float]] = {
    "original": lambda M, N: math.sqrt(max(1, M / N)),
    "match_rms_adamw": lambda M, N: 0.2 * math.sqrt(max(M, N)),
}


def orthogonalise(matrices: Tensor, steps: int = 5) -> Tensor:
    """Keep the directions of a matrix, and bring its singular values near 1.

    Where the matrix is U S Vᵀ, the result is not far from U Vᵀ. After five steps in
    float32, singular values that were more than a hundredth of the matrix's length lie
    between 0.68 and 1.14, those down to 0.0015 of it below 1.21, and smaller ones
    stay small. More steps lift those, but narrow the range no further. Only matrix
    products are needed.

    Args:
        matrices: (..., M, N) floating point; each is treated alone.
        steps: of the iteration, at least 1.

    Returns:
        result: (..., M, N), of the same dtype.

    Raises:
        ValueError: fewer than two axes, another dtype, or steps below 1.

    Source: Jordan et al. 2024 (Muon), after Björck and Bowie 1971.
    """
    validation.require_tensor("matrices", matrices)
    validation.require_integers(steps=steps)
    shape = validation.shape_of(matrices)
    if len(shape) < 2 or not matrices.is_floating_point():
        raise ValueError(
            "matrices must be floating point of shape (..., M, N), got "
            f"{matrices.dtype} with shape {shape}"
        )
    x = matrices.flatten(0, -3) if len(shape) > 2 else matrices[None]
    tall = shape[-2] > shape[-1]
    x = x.mT if tall else x  # the products below are then of the smaller size
    # No singular value is larger than the length, and 1 is where the iteration begins.
    wide = torch.promote_types(x.dtype, torch.float32)  # squares overflow float16
    length = torch.linalg.vector_norm(x, dim=(-2, -1), keepdim=True, dtype=wide)
    x = (x / length.clamp(min=SMALLEST)).to(x.dtype)
    a, b, c = COEFFICIENTS
    for _ in range(steps):
        square = x @ x.mT
        odd = torch.baddbmm(square, square, square, beta=b, alpha=c)
        x = torch.baddbmm(x, odd, x, beta=a)
    return (x.mT if tall else x).reshape(shape)


class Muon(torch.optim.Optimizer):
    """Momentum whose steps are orthogonalised, for matrices (M, N).

    A step is ``torch.optim.Muon``'s: as long as the learning rate, times a factor of
    the matrix's shape, in every direction that isn't too faint. Matrices of one shape
    are orthogonalised together, in bfloat16, which is faster.

    Args:
        params: matrices.
        lr: the learning rate, at least 0.
        weight_decay: what a step takes off each matrix, as a multiple of ``lr``.
        momentum: decay rate of the running mean of the gradients, in [0, 1).
        adjust_lr_fn: the factor, "original" for √(M / N) where that is more than 1, or
            "match_rms_adamw" for 0.2 √max(M, N): the root mean square of a step is then
            0.2 times the rate, about that of AdamW's, whose rate can be kept.

    Raises:
        ValueError: a parameter that isn't a matrix of floating point numbers, a rate or
            decay out of range, a momentum outside [0, 1), an unknown factor, or the
            state of an optimizer that steps otherwise.

    Source: Jordan et al. 2024; Liu et al. 2025 for the decay and the second factor.
    Built by hand on the page on Muon.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float,
        *,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        adjust_lr_fn: str = "original",
    ) -> None:
        validation.require_probability("momentum", momentum)
        if adjust_lr_fn not in ADJUSTMENTS:
            listed = ", ".join(map(repr, ADJUSTMENTS))
            raise ValueError(
                f"adjust_lr_fn must be one of {listed}, got {adjust_lr_fn!r}"
            )
        for name, number in {"lr": lr, "weight_decay": weight_decay}.items():
            validation.require_number(name, number, or_0=True)
        options = {"lr": lr, "weight_decay": weight_decay, "momentum": momentum}
        super().__init__(params, options | {"adjust_lr_fn": adjust_lr_fn})
        for matrix in (p for group in self.param_groups for p in group["params"]):
            if matrix.ndim != 2 or not matrix.is_floating_point():
                raise ValueError(
                    "params must be floating point matrices, got "
                    f"{matrix.dtype} with shape {validation.shape_of(matrix)}"
                )

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a saved state, also from one of ``torch.optim.Muon``."""
        for group in state_dict["param_groups"]:
            for name, ours in PYTORCHS.items():
                if group.get(name, ours) != ours:
                    raise ValueError(f"{name} must be {ours!r}, got {group[name]!r}")
        super().load_state_dict(state_dict)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update of all matrices that have a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            alike: dict[Any, list[Tensor]] = {}
            for matrix in group["params"]:
                if matrix.grad is not None:
                    kind = (matrix.shape, matrix.dtype, matrix.device)
                    alike.setdefault(kind, []).append(matrix)
            for matrices in alike.values():
                self._update(matrices, **group)
        return loss

    def _update(
        self,
        matrices: list[Tensor],
        lr: float,
        weight_decay: float,
        momentum: float,
        adjust_lr_fn: str | None = None,  # a state from before there was a choice
        **_: Any,
    ) -> None:
        """The update of matrices of one shape."""
        gradients = [cast(Tensor, matrix.grad) for matrix in matrices]
        means = [self._mean(matrix) for matrix in matrices]
        torch._foreach_lerp_(means, gradients, 1 - momentum)
        # A part of a matrix can't be orthogonalised alone: sharded ones are gathered.
        looks = torch._foreach_lerp(gradients, means, momentum)
        ahead = torch.stack([full_tensor(look) for look in looks])
        M, N = ahead.shape[-2:]
        updates = orthogonalise(ahead.bfloat16()).to(ahead.dtype).unbind()
        torch._foreach_mul_(matrices, 1 - lr * weight_decay)
        longer = ADJUSTMENTS[adjust_lr_fn or "original"](M, N)
        pairs = zip(updates, matrices, strict=True)
        parts = [shard_like(update, matrix) for update, matrix in pairs]
        torch._foreach_add_(matrices, parts, alpha=-lr * longer)

    def _mean(self, matrix: Tensor) -> Tensor:
        """The running mean of a matrix's gradients."""
        state = self.state[matrix]
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.zeros_like(matrix)
        return cast(Tensor, state["momentum_buffer"])
