"""Leave the fields of named tuples out of the API page.

Their class's docstring explains them; Python's own "Alias for field number 0" doesn't.
"""


def skip_aliases(app, what, name, member, skip, options):
    """Skip a member whose only documentation is Python's."""
    documentation = getattr(member, "__doc__", None) or ""
    return True if documentation.startswith("Alias for field number") else None


def setup(app):
    """Connect to Sphinx."""
    app.connect("autodoc-skip-member", skip_aliases)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
