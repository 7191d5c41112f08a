import math

import torch
import torch.nn.functional as F


def right_pick_and_cut(store, pages, length):
    """right: picks the pages, joins pages and slots to one axis, and cuts."""
    return store[pages].reshape(-1, store.shape[-1])[:length]


def right_position_by_position(store, pages, length):
    """right: looks up page and slot of every position and copies its row."""
    page_size, D = store.shape[1:]
    out = store.new_empty(length, D)
    for t in range(length):
        page, slot = divmod(t, page_size)
        out[t] = store[pages[page], slot]
    return out


def right_two_index_tensors(store, pages, length):
    """right: indexes once with a tensor of pages and a tensor of slots."""
    t = torch.arange(length)
    page_of = torch.tensor(pages, dtype=torch.long)[t // store.shape[1]]
    return store[page_of, t % store.shape[1]]


def right_recursion(store, pages, length):
    """right: takes what the first page gives and recurses over the others."""
    page_size = store.shape[1]

    def read(i, left):
        if left <= 0:
            return []
        part = store[pages[i]][: min(left, page_size)]
        return [part] + read(i + 1, left - page_size)

    return torch.cat([store[0][:0]] + read(0, length))


def right_flat_slots(store, pages, length):
    """right: numbers all slots of the store in one row, and selects the text's own."""
    size = store.shape[1]
    slots = [page * size + s for page in pages for s in range(size)]
    index = torch.tensor(slots[:length], dtype=torch.long)
    return store.flatten(0, 1).index_select(0, index)


def wrong_not_cut(store, pages, length):
    """wrong: returns all slots of the pages, also what's behind the text's end."""
    return store[pages].flatten(0, 1)


def wrong_store_order(store, pages, length):
    """wrong: sorts the pages, so the text comes in the store's order."""
    picked = store[sorted(pages)]
    return picked.reshape(-1, store.shape[2])[:length]


def wrong_ignores_pages(store, pages, length):
    """wrong: reads the store from the beginning, whatever pages says."""
    return store.reshape(-1, store.shape[2])[:length]


def wrong_newest_first(store, pages, length):
    """wrong: gives the newest entry first."""
    entries = store[pages].reshape(-1, store.shape[2])[:length]
    return entries.flip(0)


def wrong_slots_before_pages(store, pages, length):
    """wrong: swaps pages and slots, so it reads the first slot of each page first."""
    picked = store[pages].transpose(0, 1)
    return picked.reshape(-1, store.shape[2])[:length]


def wrong_cut_in_last_page(store, pages, length):
    """wrong: takes all pages but the last to be full, though some may be empty."""
    size = store.shape[1]
    used = length % size or size
    full = store[pages[:-1]].reshape(-1, store.shape[2])
    return torch.cat([full, store[pages[-1]][:used]])


def wrong_full_last_page_lost(store, pages, length):
    """wrong: the rest of the division is 0 where length fills its last page exactly."""
    size = store.shape[1]
    needed = math.ceil(length / size)
    parts = [store[p] for p in pages[: needed - 1]]
    parts.append(store[pages[needed - 1]][: length % size])
    return torch.cat(parts)


def wrong_whole_pages_only(store, pages, length):
    """wrong: reads full pages only and leaves out the begun one."""
    full = length // store.shape[1]
    return store[pages[:full]].reshape(-1, store.shape[2])


def wrong_one_short(store, pages, length):
    """wrong: leaves out the last entry."""
    entries = store[pages].reshape(-1, store.shape[2])
    return entries[: length - 1]


def wrong_cut_from_the_end(store, pages, length):
    """wrong: keeps the last `length` slots, not the first."""
    entries = store[pages].reshape(-1, store.shape[2])
    return entries[len(entries) - length :]


def wrong_cut_before_joining(store, pages, length):
    """wrong: cuts in the axis of pages, before pages and slots are joined."""
    return store[pages][:length].reshape(-1, store.shape[2])


def wrong_page_size_four(store, pages, length):
    """wrong: takes a page to hold four entries, always."""
    rows = [store[pages[t // 4], t % 4] for t in range(length)]
    return torch.stack(rows)


def wrong_zeros_behind(store, pages, length):
    """wrong: hides what's behind the end with zeros, but doesn't cut it off."""
    entries = store[pages].flatten(0, 1)
    kept = entries[:length]
    return F.pad(kept, (0, 0, 0, len(entries) - length))


def wrong_pops_pages(store, pages, length):
    """wrong: empties the caller's list of pages, so it works only once."""
    parts = [store[0, :0]]
    while pages:
        parts.append(store[pages.pop(0)])
    return torch.cat(parts)[:length]


def wrong_moves_the_store(store, pages, length):
    """wrong: writes the text to the beginning of the store, over other texts."""
    store[: len(pages)] = store[pages]
    return store.flatten(0, 1)[:length].clone()


def wrong_stale_page(store, pages, length):
    """wrong: finds the pages in one loop, and reads all from the last in the next."""
    size = store.shape[1]
    for p in pages[: math.ceil(length / size)]:
        page = store[p]
    rows = [page[t % size] for t in range(length)]
    return torch.stack(rows)


def wrong_drops_zero_rows(store, pages, length):
    """wrong: skips rows of zeros as if they were empty slots, and then cuts."""
    entries = store[pages].flatten(0, 1)
    filled = entries.abs().sum(-1) > 0
    return entries[filled][:length]


def wrong_reversed_pages(store, pages, length):
    """wrong: turns the order of the pages round, and keeps their last entries."""
    entries = torch.cat([store[p] for p in reversed(pages)])
    return entries[-length:]


ANSWERS = [
    right_pick_and_cut,
    right_position_by_position,
    right_two_index_tensors,
    right_recursion,
    right_flat_slots,
    wrong_not_cut,
    wrong_store_order,
    wrong_ignores_pages,
    wrong_newest_first,
    wrong_slots_before_pages,
    wrong_cut_in_last_page,
    wrong_full_last_page_lost,
    wrong_whole_pages_only,
    wrong_one_short,
    wrong_cut_from_the_end,
    wrong_cut_before_joining,
    wrong_page_size_four,
    wrong_zeros_behind,
    wrong_pops_pages,
    wrong_moves_the_store,
    wrong_stale_page,
    wrong_drops_zero_rows,
    wrong_reversed_pages,
]
