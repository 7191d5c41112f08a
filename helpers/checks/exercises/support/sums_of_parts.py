"""Ways to put a batch's gradient together from those of its parts."""


def weighted(weigh, divide=lambda counts: 1.0):
    """The parts' gradients, each times a weight, then divided.

    Args:
        weigh: from a part's number of characters to its weight.
        divide: from all numbers of characters to what the sum is divided by.
    """

    def gradient(gradients, counts):
        pairs = zip(gradients, counts, strict=True)
        return sum(weigh(count) * one for one, count in pairs) / divide(counts)

    return gradient


def itself(count):
    """The weight of a part."""
    return count


def only(part, weigh=lambda count: 1.0, divide=lambda counts: 1.0):
    """One part alone, by its position, times a weight and divided."""

    def gradient(gradients, counts):
        return weigh(counts[part]) * gradients[part] / divide(counts)

    return gradient


def without(part):
    """The right sum, but for one part."""

    def gradient(gradients, counts):
        mean = weighted(itself, sum)(gradients, counts)
        return mean - counts[part] * gradients[part] / sum(counts)

    return gradient


def running(step):
    """A result that is changed with each part after the first.

    Args:
        step: from the result, the next gradient, the first part's number of
            characters and the next one's to the next result.
    """

    def gradient(gradients, counts):
        result = 1.0 * gradients[0]
        for one, count in zip(gradients[1:], counts[1:], strict=True):
            result = step(result, one, counts[0], count)
        return result

    return gradient
