"""A KV cache in pages: the same logits, and how pages are shared and given back."""

import pytest
import torch
from torch.testing import assert_close

from helpers.models.paged_cache import PageStore
from tests.samples.models import ids, model

TEXT = ids(1, 12)


@pytest.mark.parametrize("options", [{}, {"positions": "rotary", "num_kv_heads": 2}])
@pytest.mark.parametrize("page_size", [1, 3, 4, 20])
def test_pages_give_the_logits_of_the_whole_text(options, page_size):
    made = model(**options)
    store = PageStore(made, pages=12, page_size=page_size)
    cache = store.new_cache()
    with torch.no_grad():
        pieces = [made(piece, cache=cache) for piece in TEXT.split([5, 1, 1, 4, 1], 1)]
        assert_close(torch.cat(pieces, dim=1), made(TEXT))
    assert len(cache.pages) == -(-12 // page_size)
    assert cache.length == 12


def test_texts_of_different_lengths_share_the_pages():
    made = model()
    store = PageStore(made, pages=5, page_size=4)
    texts = [ids(1, length) for length in (9, 3)]
    caches = [store.new_cache() for _ in texts]
    with torch.no_grad():
        for place in range(9):  # in turn, so that their pages are mixed
            for text, cache in zip(texts, caches, strict=True):
                one = text[:, place : place + 1]
                if one.numel():
                    last = made(one, cache=cache)
                    assert_close(last[:, -1], made(text[:, : place + 1])[:, -1])
    assert [cache.pages for cache in caches] == [[0, 2, 3], [1]]
    assert store.free == 1
    caches[0].release()
    assert store.free == 4
    assert caches[0].length == 0


@pytest.mark.parametrize("length", [7, 8])
def test_a_fork_reads_the_same_pages_and_writes_its_own(length):
    made = model()
    store = PageStore(made, pages=6, page_size=4)
    first = store.new_cache()
    with torch.no_grad():
        made(TEXT[:, :length], cache=first)
        other = first.fork()
        assert other.pages[: length // 4] == first.pages[: length // 4]
        assert store.free == (3 if length == 7 else 4)  # a page in part is copied
        ends = [TEXT[:, length:], TEXT[:, length:].flip(1)]
        for cache, end in zip((first, other), ends, strict=True):
            whole = torch.cat([TEXT[:, :length], end], dim=1)
            assert_close(made(end, cache=cache), made(whole)[:, length:])
    first.release()
    assert store.free == 6 - len(other.pages)
    other.release()
    assert store.free == 6


def test_a_full_store_says_so_and_the_text_stays_as_it_was():
    made = model()
    store = PageStore(made, pages=2, page_size=4)
    cache = store.new_cache()
    with torch.no_grad():
        made(TEXT[:, :6], cache=cache)
        with pytest.raises(
            MemoryError, match="1 more of the 2 pages are needed, and 0 are"
        ):
            made(TEXT[:, 6:], cache=cache)
        assert cache.length == 6
        assert_close(made(TEXT[:, 6:8], cache=cache), made(TEXT[:, :8])[:, 6:])


def test_a_text_that_is_too_long_takes_no_page():
    made = model()
    store = PageStore(made, pages=2, page_size=4)
    cache, other = store.new_cache(), store.new_cache()
    with torch.no_grad():
        made(TEXT[:, :4], cache=cache)
        with pytest.raises(
            MemoryError, match="2 more of the 2 pages are needed, and 1"
        ):
            made(TEXT[:, 4:12], cache=cache)
        assert (cache.pages, cache.length, store.free) == ([0], 4, 1)
        assert_close(made(TEXT[:, :3], cache=other), made(TEXT[:, :3]))


def test_what_does_not_fit_is_named():
    made = model()
    cache = PageStore(made, pages=2, page_size=4).new_cache()
    for run, message in (
        (lambda: made(ids(2, 3), cache=cache), r"one text.*\(2, 3\)"),
        (lambda: model()(TEXT, cache=cache), "another model's"),
        (lambda: PageStore(model(window=3), 2, 4), "drops what it has read, got 3"),
        (lambda: PageStore(made, 0, 4), "pages must be an integer of at least 1"),
        (lambda: PageStore(torch.nn.Linear(2, 2), 2, 4), "TransformerLM, got Linear"),
    ):
        with pytest.raises(ValueError, match=message):
            run()
