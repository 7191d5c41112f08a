"""What a token costs after a long text: a KV cache beside a state of fixed size.

One layer's attention alone, without its projections, which cost both sides the same.
Decoding: one new token after S earlier ones. A time is what one thread has computed,
whatever else the machine does. Both ways are timed in turns, each after a call of its
own that isn't timed, so that neither finds the processor's cache full of what the other
has read; and of each the shortest time counts.
"""

import json
import platform
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from experiments import many, running
from helpers.linear_attention import recurrent_delta_rule
from helpers.recorded import results
from helpers.validation import unchecked

H, D = 4, 64
DECODING = tuple(2**i for i in range(4, 16))  # earlier tokens
ROUNDS = 30
_step = unchecked(recurrent_delta_rule)


def _drawn(T: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    queries, keys, values = torch.randn(3, 1, H, T, D)
    return queries, F.normalize(keys, dim=-1), values


def decoding(S: int, rounds: int) -> dict[str, Any]:
    """Milliseconds for one new token after S others, on each side."""
    queries, keys, values = _drawn(S + 1)
    new = queries[:, :, -1:], keys[:, :, -1:], values[:, :, -1:]
    beta, state = torch.rand(1, H, 1), torch.randn(1, H, D, D)
    sides = {
        "softmax": lambda: F.scaled_dot_product_attention(new[0], keys, values),
        "delta": lambda: _step(*new, beta, initial_state=state),
    }
    return {"study": "decoding", "length": S, "ms": _shortest(sides, rounds)}


def _shortest(sides: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in sides}
    with torch.inference_mode():
        for _ in range(rounds):
            for name, side in sides.items():
                side()
                start = time.thread_time()
                side()
                taken[name].append(time.thread_time() - start)
    return {name: running.rounded(1e3 * min(one)) for name, one in taken.items()}


def measure(rounds: int = ROUNDS) -> list[dict[str, Any]]:
    """All times, as "runs" of a record."""
    torch.manual_seed(0)
    return [decoding(S, 4 * rounds) for S in DECODING]


def main() -> None:
    """Measure, and rewrite the record."""
    running.require_no_arguments("experiments.memory_cost", __doc__ or "")
    torch.set_num_threads(1)
    record = {"torch": torch.__version__, "machine": platform.machine()}
    many.write(results.path("memory_cost"), record | {"runs": measure()})
    print(json.dumps(results.record("memory_cost")["runs"], indent=1))


if __name__ == "__main__":
    main()
