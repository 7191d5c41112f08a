"""A KV cache in pages: texts of any length share one store, and equal beginnings.

Shapes use the book's letters: B batch, T query positions, S key positions, H heads,
D width of one head.
"""

import torch
from torch import Tensor, nn

from helpers import validation
from helpers.models.kv_cache import KVCache


class PageStore:
    """A fixed number of pages, each with room for a few positions of every layer.

    A text takes a page when its last one is full, wherever one is free. So no text
    keeps more room than a part of one page beyond what it has read, and none needs to
    say beforehand how long it will be.

    Args:
        model: a TransformerLM without a window, with softmax in every layer.
        pages: how many pages there are.
        page_size: positions in a page.

    Attributes:
        free: how many pages no text uses.

    Raises:
        ValueError: a model that KVCache refuses, with a window, or with layers whose
            memory has a fixed size; sizes that aren't whole numbers of at least 1.

    Source: Kwon et al. 2023, section 4. The page "A cache in pages" uses it.
    """

    def __init__(self, model: nn.Module, pages: int, page_size: int) -> None:
        validation.require_integers(pages=pages, page_size=page_size)
        config = KVCache(model).config
        if config.window is not None:
            raise ValueError(
                f"a model with a window drops what it has read, got {config.window}"
            )
        if config.attention != "softmax":
            raise ValueError(
                "pages hold keys and values, and a model with attention "
                f"{config.attention!r} keeps a state of fixed size: new_cache() is its"
            )
        H_kv = config.num_kv_heads or config.num_heads
        D = config.d_model // config.num_heads
        weight = next(model.parameters())
        self.model, self.page_size = model, page_size
        # (layers, 2, pages, H_kv, page_size, D): keys and values
        self.entries = torch.zeros(
            *(config.num_layers, 2, pages, H_kv, page_size, D),
            dtype=weight.dtype,
            device=weight.device,
        )
        self.users = [0] * pages  # texts that read each page

    @property
    def free(self) -> int:
        """How many pages no text uses."""
        return self.users.count(0)

    def new_cache(self) -> "PagedCache":
        """An empty cache of one text."""
        return PagedCache(self)

    def require_free(self, pages: int) -> None:
        """There are so many pages that no text uses.

        Raises:
            MemoryError: there are fewer.
        """
        if pages > self.free:
            raise MemoryError(
                f"{pages} more of the {len(self.users)} pages are needed, and "
                f"{self.free} are free; release a cache, or make a store with more "
                "pages"
            )

    def take(self) -> int:
        """A free page, for one user."""
        self.require_free(1)
        page = self.users.index(0)
        self.users[page] = 1
        return page


class PagedCache(KVCache):
    """The keys and values of one text, in pages of a ``PageStore``.

    It goes where a ``KVCache`` goes: ``model(ids, cache=cache)``, with ids (1, T).

    Args:
        store: the PageStore; ``store.new_cache()`` is short for ``PagedCache(store)``.

    Attributes:
        length: how many characters it holds.
        pages: the pages that hold them, in the text's order.
    """

    def __init__(self, store: PageStore) -> None:
        super().__init__(store.model)
        self.store = store
        self.pages: list[int] = []

    def fork(self) -> "PagedCache":
        """A second text that begins as this one: it reads the same pages.

        The last page, where it isn't full, is copied, since both will write to it.
        """
        other = PagedCache(self.store)
        other.length, other.last_ids = self.length, self.last_ids
        full = self.length // self.store.page_size
        other.pages = self.pages[:full]
        if full < len(self.pages):
            copied = self.store.take()
            entries = self.store.entries
            entries[:, :, copied] = entries[:, :, self.pages[full]]
            other.pages = [*other.pages, copied]
        for page in other.pages[:full]:
            self.store.users[page] += 1
        return other

    def release(self) -> None:
        """Give all pages back; those that no other text reads become free."""
        for page in self.pages:
            self.store.users[page] -= 1
        self.pages, self.length, self.last_ids = [], 0, None

    def extend(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Keep keys and values (1, H_kv, T, D) of a layer; return all, S of them.

        Raises:
            MemoryError: too few pages are free. The text takes none of them then, and
                what it has read so far stays as it was.
        """
        size, S = self.store.page_size, self.length + keys.shape[2]
        lacking = -(-S // size) - len(self.pages)
        self.store.require_free(lacking)
        self.pages += [self.store.take() for _ in range(lacking)]
        places = torch.arange(self.length, S)
        pages = torch.tensor(self.pages)[places // size]
        entries = self.store.entries[layer]
        for kept, new in zip(entries, (keys, values), strict=True):
            kept[pages, :, places % size] = new[0].detach().transpose(0, 1)
        # Kernels of serving engines read the pages where they are; this copies them.
        table = entries[:, self.pages].transpose(1, 2).flatten(2, 3)[:, None, :, :S]
        return table[0], table[1]

    def advance(self, ids: Tensor) -> None:
        """Count ids (1, T) as read, once every layer has their keys and values."""
        self.length += ids.shape[1]
        self.last_ids = ids[:, -1:]

    def require_fit(self, model: nn.Module, ids: Tensor) -> None:
        """It was made for ``model``, and one text comes."""
        if self.model is not model:
            raise ValueError("cache must come from this model, got another model's")
        if ids.shape[0] != 1:
            raise ValueError(
                "a PagedCache holds one text: ids must have shape (1, T), got "
                f"{validation.shape_of(ids)}"
            )
