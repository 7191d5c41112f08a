"""What the build of the pages adds to Jupyter Book, loaded by Sphinx as one extension.

Each file is named for what a reader gets:

- ``offline``: every page works without a network, and asks for nothing from elsewhere.
- ``address``: Colab, search engines and a missing page lead to the book's own address.
- ``moved``: an address that a page had before leads on to it.
- ``previews``: a shared link shows what its page is for.
- ``accessibility``: pictures have words, and a screen reader finds the sidebar.
- ``progress``: answers stay folded until they are asked for; what is done is marked.
- ``page_parts``: a chapter's time (``reading_time`` says how a page states it), the
  book's version, views of other chapters.
- ``search``: answers while a reader types, from every section.
"""

PARTS = (
    "address",
    "moved",
    "previews",
    "page_parts",
    "progress",
    "search",
    "offline",
    "accessibility",
)


def setup(app):
    """Load each part as an extension of its own."""
    for part in PARTS:
        app.setup_extension(f"{__name__}.{part}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
