import math
import torch
import torch.nn.functional as F


def right_1(losses, texts):
    """right: one cat, one joined string"""
    bits = torch.cat(losses) / math.log(2)
    n_bytes = len("".join(texts).encode("utf-8"))
    return (bits.sum() / n_bytes).item()


def right_2(losses, texts):
    """right: loop with running totals and log2(e)"""
    total_bits = 0.0
    total_bytes = 0
    for loss, text in zip(losses, texts):
        for nat in loss.tolist():
            total_bits += nat * math.log2(math.e)
        total_bytes += len(bytes(text, "utf8"))
    return total_bits / total_bytes


def wrong_1(losses, texts):
    """wrong: mean of each text's bits per byte"""
    per_text = []
    for loss, text in zip(losses, texts):
        per_text.append(loss.sum().item() / math.log(2) / len(text.encode()))
    return sum(per_text) / len(per_text)


def wrong_2(losses, texts):
    """wrong: len(text): characters in place of bytes"""
    nats = torch.cat(losses).sum().item()
    size = sum(len(t) for t in texts)
    return nats / math.log(2) / size


def wrong_3(losses, texts):
    """wrong: multiplies by ln 2 in place of dividing"""
    nats = sum(l.sum().item() for l in losses)
    size = sum(len(t.encode("utf-8")) for t in texts)
    return nats * math.log(2) / size


def wrong_4(losses, texts):
    """wrong: bytes times 8 below: thinks bits per bit"""
    total = 0
    size = 0
    for l, t in zip(losses, texts):
        total += l.sum().item() / math.log(2)
        size += len(t.encode()) * 8
    return total / size


def wrong_5(losses, texts):
    """wrong: return inside the loop: only the first text"""
    bits, size = 0.0, 0
    for loss, text in zip(losses, texts):
        bits += float(loss.sum()) / math.log(2)
        size += len(text.encode())
        return bits / size


def wrong_6(losses, texts):
    """wrong: takes each text's mean loss in place of its sum"""
    nats = sum(loss.mean().item() for loss in losses)
    size = sum(len(text.encode()) for text in texts)
    return nats / math.log(2) / size


ANSWERS = [
    right_1,
    right_2,
    wrong_1,
    wrong_2,
    wrong_3,
    wrong_4,
    wrong_5,
    wrong_6,
]
