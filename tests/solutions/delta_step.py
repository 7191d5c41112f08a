"""One step of the delta rule."""

import torch


def step_by_outer(state, key, value, beta):
    return state + beta * torch.outer(key, value - key @ state)


def step_by_matrices(state, key, value, beta):
    D = len(key)
    keep = torch.eye(D) - beta * key[:, None] @ key[None, :]
    return keep @ state + beta * key[:, None] * value[None, :]


def step_by_loops(state, key, value, beta):
    D, D_v = state.shape
    new = state.clone()
    for j in range(D_v):
        found = sum(key[i] * state[i, j] for i in range(D))
        for i in range(D):
            new[i, j] += beta * key[i] * (value[j] - found)
    return new


def step_by_transposes(state, key, value, beta):
    S = state.T  # (D_v, D), as the papers have it
    return (S - beta * torch.outer(S @ key - value, key)).T


def step_by_broadcasting(state, key, value, beta):
    old = (state * key.unsqueeze(-1)).sum(dim=0)
    return state + key.unsqueeze(-1) * (beta * (value - old))


def step_that_adds(state, key, value, beta):
    return state + beta * torch.outer(key, value)


def step_with_beta_on_the_value(state, key, value, beta):
    return state + torch.outer(key, beta * value - key @ state)


def step_that_fades(state, key, value, beta):
    return state * (1 - beta) + torch.outer(key, value) * beta


def step_away(state, key, value, beta):
    return state - beta * torch.outer(key, value - key @ state)


def step_with_beta_on_what_was_there(state, key, value, beta):
    return state + torch.outer(key, value - beta * (key @ state))


def step_that_forgets_beta(state, key, value, beta):
    return state + torch.outer(key, value - key @ state)


def step_that_fades_and_adds(state, key, value, beta):
    return (1 - beta) * state + key[:, None] * value


RIGHT = [
    step_by_outer,
    step_by_matrices,
    step_by_loops,
    step_by_transposes,
    step_by_broadcasting,
]
WRONG = [
    (step_that_adds, "linear attention's step"),
    (step_with_beta_on_the_value, "beta for the new value alone"),
    (step_with_beta_on_what_was_there, "beta for the old value alone"),
    (step_that_forgets_beta, "a step without beta"),
    (step_that_fades_and_adds, "a state that fades, and a value that is added"),
    (step_that_fades, "a state that fades as a whole"),
    (step_away, "a step in the other direction"),
]
