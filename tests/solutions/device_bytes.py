"""Bytes that a device holds while a model is trained."""

from fractions import Fraction


def formula(parameters, block_parameters, devices, sharded):
    if not sharded:
        return 16 * parameters
    others = (devices - 1) / devices
    return 16 * parameters / devices + 2 * block_parameters * others


def exact(parameters, block_parameters, devices, sharded):
    if not sharded:
        return Fraction(16 * parameters)
    bytes_of_all = 16 * parameters + 2 * block_parameters * (devices - 1)
    return Fraction(bytes_of_all, devices)


def whole_block_without_its_share(parameters, block_parameters, devices, sharded):
    share = devices if sharded else 1
    weights, gradients, optimizer = (size * parameters / share for size in (2, 2, 12))
    if sharded:
        weights += 2 * block_parameters - 2 * block_parameters / devices
    return weights + gradients + optimizer


def inside_and_outside_the_block(parameters, block_parameters, devices, sharded):
    N = devices if sharded else 1
    outside = 2 * (parameters - block_parameters) / N
    return outside + 2 * block_parameters + 14 * parameters / N


def device_after_device(parameters, block_parameters, devices, sharded):
    held = [16 * parameters / (devices if sharded else 1)] * devices
    for other in range(1, devices) if sharded else ():
        held[0] += held[other] / (16 * parameters) * 2 * block_parameters
    return held[0]


def block_not_seen(parameters, block_parameters, devices, sharded):
    return 16 * parameters / devices if sharded else 16 * parameters


def all_of_the_block(parameters, block_parameters, devices, sharded):
    held = 16 * parameters
    if sharded:
        held = held / devices + 2 * block_parameters
    return held


def block_with_everything(parameters, block_parameters, devices, sharded):
    if not sharded:
        return 16 * parameters
    mine = 16 * parameters / devices
    return mine + 16 * block_parameters * (1 - 1 / devices)


def zero_one(parameters, block_parameters, devices, sharded):
    optimizer = 12 * parameters
    return 4 * parameters + (optimizer / devices if sharded else optimizer)


def always_sharded(parameters, block_parameters, devices, sharded):
    others = (devices - 1) / devices
    return 16 * parameters / devices + 2 * block_parameters * others


def other_way_round(parameters, block_parameters, devices, sharded):
    if sharded:
        return 16 * parameters
    return (16 * parameters + 2 * block_parameters * (devices - 1)) / devices


def floored(parameters, block_parameters, devices, sharded):
    if not sharded:
        return 16 * parameters
    return (16 * parameters + 2 * block_parameters * (devices - 1)) // devices


def whole_model_gathered(parameters, block_parameters, devices, sharded):
    if not sharded:
        return 16 * parameters
    return 2 * parameters + 14 * parameters / devices


def block_shared_too(parameters, block_parameters, devices, sharded):
    if not sharded:
        return 16 * parameters
    return (16 * parameters + 2 * block_parameters) / devices


def block_set_aside(parameters, block_parameters, devices, sharded):
    if not sharded:
        return 16 * parameters
    return 16 * (parameters - block_parameters) / devices + 2 * block_parameters


def block_in_both(parameters, block_parameters, devices, sharded):
    mine = 16 * parameters / (devices if sharded else 1)
    return mine + 2 * block_parameters * (devices - 1) / devices


def weights_of_the_block_only(parameters, block_parameters, devices, sharded):
    if not sharded:
        return 16 * parameters
    return 2 * block_parameters + (2 + 12) * parameters / devices


RIGHT = [
    formula,
    exact,
    whole_block_without_its_share,
    inside_and_outside_the_block,
    device_after_device,
]
WRONG = [
    (block_not_seen, "nothing of a block"),
    (all_of_the_block, "the whole block on top"),
    (block_with_everything, "an optimizer that is gathered, too"),
    (zero_one, "only the optimizer divided"),
    (always_sharded, "divided, though not sharded"),
    (other_way_round, "the two ways exchanged"),
    (floored, "a share that is cut off"),
    (whole_model_gathered, "all weights at once"),
    (block_shared_too, "an N-th of the block"),
    (block_set_aside, "a block taken out of what is divided"),
    (block_in_both, "a block gathered, though not sharded"),
    (weights_of_the_block_only, "no weights but the block's"),
]
