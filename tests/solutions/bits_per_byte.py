"""Bits per byte."""

import math

import torch


def by_two_sums(losses, texts):
    nats = sum(one.sum() for one in losses)
    return nats / math.log(2) / sum(len(text.encode("utf-8")) for text in texts)


def by_cat(losses, texts):
    return torch.cat(losses).sum().item() / (math.log(2) * len("".join(texts).encode()))


def by_loop(losses, texts):
    bits, size = 0.0, 0
    for one, text in zip(losses, texts, strict=True):
        for nats in one.tolist():
            bits -= math.log2(math.exp(-nats))
        size += len(bytes(text, "utf-8"))
    return bits / size


def by_weighted_mean(losses, texts):
    sizes = torch.tensor([len(text.encode()) for text in texts])
    shares = torch.stack([one.sum() for one in losses]) / sizes
    return (shares * sizes / sizes.sum()).sum() * math.log2(math.e)


def in_nats(losses, texts):
    return torch.cat(losses).sum() / len("".join(texts).encode())


def of_characters(losses, texts):
    return torch.cat(losses).sum() / math.log(2) / len("".join(texts))


def of_tokens(losses, texts):
    return torch.cat(losses).mean() / math.log(2)


def of_each_text(losses, texts):
    total = 0.0
    for one, text in zip(losses, texts, strict=True):
        total += one.sum().item() / math.log(2) / len(text.encode())
    return total / len(texts)


def times_log(losses, texts):
    return torch.cat(losses).sum() * math.log(2) / len("".join(texts).encode())


RIGHT = [by_two_sums, by_cat, by_loop, by_weighted_mean]
WRONG = [
    (in_nats, "nats in place of bits"),
    (of_characters, "bits per character"),
    (of_tokens, "bits per token"),
    (of_each_text, "a mean over the texts"),
    (times_log, "nats multiplied by ln 2"),
]
