"""The mean of each row."""


def by_mean(x):
    return x.mean(-1)


def by_sum(x):
    return x.sum(dim=-1) / x.shape[-1]


def by_columns(x):
    return sum(x.unbind(-1)) / x.size(-1)


def by_product(x):
    return x @ x.new_full((x.shape[-1],), 1 / x.shape[-1])


def of_columns(x):
    return x.mean(dim=-2)


def undivided(x):
    return x.sum(-1)


def of_everything(x):
    return x.mean()


RIGHT = [by_mean, by_sum, by_columns, by_product]
WRONG = [
    (of_columns, "the mean of each column"),
    (undivided, "the sum in place of the mean"),
    (of_everything, "one mean for all rows"),
]
