"""Answers to read_pages by hand q."""

import torch
import torch.nn.functional as F


def right_fancy_index(store, pages, length):
    """right: indexes the pages, flattens, and cuts at the length."""
    index = torch.tensor(pages, dtype=torch.long, device=store.device)
    return store[index].flatten(0, 1)[:length]


def right_by_position(store, pages, length):
    """right: works out page and slot of every position, and gathers once."""
    pos = torch.arange(length, device=store.device)
    table = torch.tensor(pages, dtype=torch.long, device=store.device)
    size = store.shape[1]
    return store[table[pos // size], pos % size]


def right_cat_pieces(store, pages, length):
    """right: cuts each page to what is left, and concatenates."""
    size = store.shape[1]
    pieces = [store[0, :0]]
    for page in pages:
        left = length - size * (len(pieces) - 1)
        pieces.append(store[page, : max(0, min(size, left))])
    return torch.cat(pieces)


def right_index_select_flat(store, pages, length):
    """right: a flat slot list by broadcasting, then index_select."""
    n, size, width = store.shape
    table = torch.tensor(pages, dtype=torch.long, device=store.device)
    slots = table[:, None] * size + torch.arange(size, device=store.device)
    return store.reshape(n * size, width).index_select(0, slots.flatten()[:length])


def right_embedding(store, pages, length):
    """right: looks pages up as wide embeddings, then splits the rows again."""
    n, size, width = store.shape
    table = torch.tensor(pages, dtype=torch.long, device=store.device)
    rows = F.embedding(table, store.reshape(n, size * width))
    return rows.reshape(len(pages) * size, width).narrow(0, 0, length)


def wrong_sorted_pages(store, pages, length):
    """wrong: reads pages by number, not in the text's order."""
    index = torch.tensor(sorted(pages), dtype=torch.long)
    return store[index].flatten(0, 1)[:length]


def wrong_keeps_leftovers(store, pages, length):
    """wrong: never cuts at the length."""
    return store[torch.tensor(pages, dtype=torch.long)].flatten(0, 1)


def wrong_last_pages(store, pages, length):
    """wrong: takes the last pages of the list, so those ahead of time."""
    n = -(-length // store.shape[1])
    index = torch.tensor(pages[len(pages) - n :], dtype=torch.long)
    return store[index].flatten(0, 1)[:length]


def wrong_contiguous(store, pages, length):
    """wrong: assumes the pages follow the first one in memory."""
    start = pages[0] * store.shape[1] if pages else 0
    return store.flatten(0, 1)[start : start + length]


def wrong_transposed(store, pages, length):
    """wrong: returns (D, length)."""
    index = torch.tensor(pages, dtype=torch.long)
    return store[index].flatten(0, 1)[:length].T


def wrong_list_of_rows(store, pages, length):
    """wrong: returns a Python list of rows, not a tensor."""
    size = store.shape[1]
    return [store[pages[i // size], i % size] for i in range(length)]


def wrong_float32_buffer(store, pages, length):
    """wrong: fills a float32 buffer, so other dtypes change and round."""
    size = store.shape[1]
    out = torch.zeros(length, store.shape[2])
    for i in range(length):
        out[i] = store[pages[i // size], i % size]
    return out


def wrong_remainder_zero(store, pages, length):
    """wrong: the last page's fill is length % page_size, so 0 if it is full."""
    size = store.shape[1]
    n = -(-length // size)
    pieces = [store[page] for page in pages[: max(0, n - 1)]]
    if n:
        pieces.append(store[pages[n - 1], : length % size])
    return torch.cat(pieces) if pieces else store[0, :0]


def wrong_drops_zero_rows(store, pages, length):
    """wrong: takes rows of zeros for empty slots, and throws them out."""
    index = torch.tensor(pages, dtype=torch.long)
    rows = store[index].flatten(0, 1)[:length]
    return rows[(rows != 0).any(1)]


def wrong_raises_ahead(store, pages, length):
    """wrong: raises when there are more pages than the length needs."""
    if len(pages) != -(-length // store.shape[1]):
        raise ValueError("pages and length disagree")
    index = torch.tensor(pages, dtype=torch.long)
    return store[index].flatten(0, 1)[:length]


def wrong_minus_zero_slice(store, pages, length):
    """wrong: cuts with [:-spare], which is empty when nothing is spare."""
    rows = store[torch.tensor(pages, dtype=torch.long)].flatten(0, 1)
    spare = rows.shape[0] - length
    return rows[:-spare]


def wrong_one_page_too_many(store, pages, length):
    """wrong: walks length // page_size + 1 pages, past the list's end if full."""
    size = store.shape[1]
    pieces = [store[pages[i]] for i in range(length // size + 1)]
    return torch.cat(pieces)[:length]


def wrong_interleaves(store, pages, length):
    """wrong: flattens slot by slot across pages, not page by page."""
    index = torch.tensor(pages, dtype=torch.long)
    return store[index].transpose(0, 1).flatten(0, 1)[:length]


ANSWERS = [
    right_fancy_index,
    right_by_position,
    right_cat_pieces,
    right_index_select_flat,
    right_embedding,
    wrong_sorted_pages,
    wrong_keeps_leftovers,
    wrong_last_pages,
    wrong_contiguous,
    wrong_transposed,
    wrong_list_of_rows,
    wrong_float32_buffer,
    wrong_remainder_zero,
    wrong_drops_zero_rows,
    wrong_raises_ahead,
    wrong_minus_zero_slice,
    wrong_one_page_too_many,
    wrong_interleaves,
]
