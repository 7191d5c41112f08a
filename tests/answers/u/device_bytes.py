"""Answers to my_device_bytes as different students might write them."""

from fractions import Fraction


def right_formula(parameters, block_parameters, devices, sharded):
    """right: one formula per case, with the missing part of the block as (N - 1) / N"""
    if not sharded:
        return 16 * parameters
    return (16 * parameters + 2 * block_parameters * (devices - 1)) / devices


def right_loop(parameters, block_parameters, devices, sharded):
    """right: adds up the kinds of bytes, then what each other device sends"""
    held = 0
    for size in (2, 2, 12):
        if sharded:
            held += size * parameters / devices
        else:
            held += size * parameters
    if sharded:
        for device in range(devices):
            if device != 0:
                held += 2 * block_parameters / devices
    return held


def right_helpers(parameters, block_parameters, devices, sharded):
    """right: small inner functions for the share and for the gathered weights"""

    def share(amount):
        return amount / devices if sharded else amount

    def weights(count):
        return 2 * count

    def everything(count):
        return weights(count) + 2 * count + 12 * count

    def gathered():
        return weights(block_parameters) - share(weights(block_parameters))

    return share(everything(parameters)) + gathered()


def right_fraction(parameters, block_parameters, devices, sharded):
    """right: exact, as a Fraction, with own and missing as parts of one"""
    own = 1 / Fraction(devices) if sharded else Fraction(1)
    missing = 1 - own
    return 16 * Fraction(parameters) * own + 2 * Fraction(block_parameters) * missing


def right_algebra(parameters, block_parameters, devices, sharded):
    """right: no if at all, the block's weights whole and all other bytes divided"""
    n = devices**sharded
    return 2 * (block_parameters + (8 * parameters - block_parameters) / n)


def right_table(parameters, block_parameters, devices, sharded):
    """right: a table of what lies on the device, rest of the model and block apart"""
    if sharded:
        held = {
            "weights of the block": 2 * block_parameters,
            "weights of the rest": 2 * (parameters - block_parameters) / devices,
            "gradients": 2 * parameters / devices,
            "optimizer": 12 * parameters / devices,
        }
    else:
        held = {
            "weights": 2 * parameters,
            "gradients": 2 * parameters,
            "optimizer": 12 * parameters,
        }
    return sum(held.values())


def wrong_own_share_twice(parameters, block_parameters, devices, sharded):
    """wrong: adds the whole block, so its own share of the block counts twice"""
    if sharded:
        return 16 * parameters / devices + 2 * block_parameters
    return 16 * parameters


def wrong_no_block(parameters, block_parameters, devices, sharded):
    """wrong: forgets the gathered block"""
    if sharded:
        return 16 * parameters / devices
    return 16 * parameters


def wrong_one_share_arrives(parameters, block_parameters, devices, sharded):
    """wrong: adds 1/N of the block, not the missing (N - 1)/N (right for N = 2)"""
    if sharded:
        return 16 * parameters / devices + 2 * block_parameters / devices
    return 16 * parameters


def wrong_block_with_all_bytes(parameters, block_parameters, devices, sharded):
    """wrong: gathers the block's gradients and optimizer too, 16 bytes and not 2"""
    if not sharded:
        return 16 * parameters
    missing = block_parameters * (devices - 1) / devices
    return 16 * (parameters / devices + missing)


def wrong_gathers_model(parameters, block_parameters, devices, sharded):
    """wrong: gathers the weights of the whole model, not of one block"""
    if not sharded:
        return 16 * parameters
    return 16 * parameters / devices + 2 * parameters * (devices - 1) / devices


def wrong_only_optimizer_divided(parameters, block_parameters, devices, sharded):
    """wrong: divides only the optimizer, weights and gradients stay whole"""
    optimizer = 12 * parameters
    if sharded:
        optimizer /= devices
    return 4 * parameters + optimizer


def wrong_no_gradient(parameters, block_parameters, devices, sharded):
    """wrong: forgets the gradients, 14 bytes a parameter in both cases"""
    each = 2 + 12
    if not sharded:
        return each * parameters
    extra = 2 * block_parameters * (devices - 1) / devices
    return each * parameters / devices + extra


def wrong_floor(parameters, block_parameters, devices, sharded):
    """wrong: divides with // at the end and so rounds down to whole bytes"""
    if not sharded:
        return 16 * parameters
    return (16 * parameters + 2 * block_parameters * (devices - 1)) // devices


def wrong_round(parameters, block_parameters, devices, sharded):
    """wrong: rounds the result to the nearest whole byte, as the task forbids"""
    if not sharded:
        return 16 * parameters
    share = 16 * parameters / devices
    return round(share + 2 * block_parameters * (1 - 1 / devices))


def wrong_whole_parameters(parameters, block_parameters, devices, sharded):
    """wrong: own share of the block in whole parameters, off if N doesn't divide it"""
    if not sharded:
        return 16 * parameters
    own = block_parameters // devices
    return 16 * parameters / devices + 2 * (block_parameters - own)


def wrong_missing_brackets(parameters, block_parameters, devices, sharded):
    """wrong: no brackets around N - 1, so only 1/N is taken off 2 * block * N"""
    if not sharded:
        return 16 * parameters
    return 16 * parameters / devices + 2 * block_parameters * devices - 1 / devices


def wrong_integer_part(parameters, block_parameters, devices, sharded):
    """wrong: the own part is 1 // N, which is 0 unless N = 1"""
    if not sharded:
        return 16 * parameters
    own = 1 // devices
    return 16 * parameters / devices + 2 * block_parameters * (1 - own)


def wrong_cases_exchanged(parameters, block_parameters, devices, sharded):
    """wrong: divides and gathers without sharding, holds all with it"""
    if sharded:
        return 16 * parameters
    return (16 * parameters + 2 * block_parameters * (devices - 1)) / devices


def wrong_always_sharded(parameters, block_parameters, devices, sharded):
    """wrong: ignores sharded and uses the sharded formula for both cases"""
    own = 1 / devices
    return 16 * parameters * own + 2 * block_parameters * (1 - own)


def wrong_block_without_sharding(parameters, block_parameters, devices, sharded):
    """wrong: adds a gathered block without sharding too"""
    result = 16 * parameters
    if sharded:
        result /= devices
    result += 2 * block_parameters
    if sharded:
        result -= 2 * block_parameters / devices
    return result


def wrong_all_devices(parameters, block_parameters, devices, sharded):
    """wrong: gives what all devices hold together, not one of them"""
    total = 0
    for _ in range(devices):
        if sharded:
            total += 16 * parameters / devices
            total += 2 * block_parameters * (devices - 1) / devices
        else:
            total += 16 * parameters
    return total


def wrong_block_taken_out(parameters, block_parameters, devices, sharded):
    """wrong: divides only the rest of the model, loses the block's other 14 bytes"""
    if not sharded:
        return 16 * parameters
    rest = parameters - block_parameters
    return 16 * rest / devices + 2 * block_parameters


def wrong_larger_part(parameters, block_parameters, devices, sharded):
    """wrong: takes the larger of share and missing weights, not their sum"""
    if not sharded:
        return 16 * parameters
    share = 16 * parameters / devices
    return max(share, 2 * block_parameters * (devices - 1) / devices)


def wrong_from_three_devices(parameters, block_parameters, devices, sharded):
    """wrong: off by one, treats N = 2 as if nothing was divided"""
    if sharded and devices > 2:
        return (16 * parameters + 2 * block_parameters * (devices - 1)) / devices
    return 16 * parameters


def wrong_shares_exchanged(parameters, block_parameters, devices, sharded):
    """wrong: two mistakes, (N - 1)/N of the model and 1/N of the block"""
    if not sharded:
        return 16 * parameters
    own = (devices - 1) / devices
    return 16 * parameters * own + 2 * block_parameters * (1 - own)


def wrong_two_parts(parameters, block_parameters, devices, sharded):
    """wrong: two mistakes, with sharding no gradients and a whole block added"""
    if not sharded:
        return (2 + 2 + 12) * parameters
    return (2 + 12) * parameters / devices + 2 * block_parameters


def wrong_text(parameters, block_parameters, devices, sharded):
    """wrong: gives a text with the unit in place of a number"""
    held = 16 * parameters
    if sharded:
        held = (held + 2 * block_parameters * (devices - 1)) / devices
    return f"{held} bytes"


ANSWERS = [
    right_formula,
    right_loop,
    right_helpers,
    right_fraction,
    right_algebra,
    right_table,
    wrong_own_share_twice,
    wrong_no_block,
    wrong_one_share_arrives,
    wrong_block_with_all_bytes,
    wrong_gathers_model,
    wrong_only_optimizer_divided,
    wrong_no_gradient,
    wrong_floor,
    wrong_round,
    wrong_whole_parameters,
    wrong_missing_brackets,
    wrong_integer_part,
    wrong_cases_exchanged,
    wrong_always_sharded,
    wrong_block_without_sharding,
    wrong_all_devices,
    wrong_block_taken_out,
    wrong_larger_part,
    wrong_from_three_devices,
    wrong_shares_exchanged,
    wrong_two_parts,
    wrong_text,
]
