"""The slopes of ALiBi, as they were published."""

import math


def published_slopes(num_heads: int) -> list[float]:
    """How fast each head's scores fall with the distance.

    For H a power of two, head h, counted from 0, has the slope 2^(-8 (h + 1) / H). For
    any other H: the slopes of the next lower power of two, then every other one of the
    next higher.

    Source: Press et al. 2022, section 3, and the code beside it for other H.
    """

    def of_a_power(H: int) -> list[float]:
        return [2.0 ** (-8 * (h + 1) / H) for h in range(H)]

    lower = 2 ** int(math.log2(num_heads))
    extra = of_a_power(2 * lower)[0::2][: num_heads - lower]
    return [*of_a_power(lower), *extra]
