"""The book's public address, and a banner on every page while it has none.

The address is ``repository.url`` in ``_config.yml``; ``make set-repository`` sets it.
While its owner is still the placeholder OWNER, the buttons that are made of it lead
nowhere, so the banner says it.
"""

import re
from typing import NamedTuple

PLACEHOLDER = "/OWNER/"
FORM = re.compile(
    r"https://github\.com/([a-z0-9]+(?:-[a-z0-9]+)*)/((?!\.+\Z)[\w.-]+)(?<!\.git)",
    re.ASCII | re.IGNORECASE,
)
BANNER = (
    "This copy of the book has no public address yet, so its Colab and Binder "
    "buttons lead nowhere. Whoever publishes it runs make set-repository."
)


class Address(NamedTuple):
    """A repository on GitHub."""

    owner: str
    name: str

    @classmethod
    def parse(cls, url):
        """The repository that a URL names.

        Raises:
            ValueError: the URL is not of the form https://github.com/owner/name.
        """
        found = FORM.fullmatch(url)
        if found is None:
            raise ValueError(
                f"{url!r} is not of the form https://github.com/owner/name"
            )
        return cls(*found.groups())

    @property
    def url(self):
        """The repository's own page."""
        return f"https://github.com/{self.owner}/{self.name}"

    def colab(self, tag, path):
        """Where Colab opens a file of the repository, as of a tag."""
        file = f"{self.owner}/{self.name}/blob/{tag}/{path}"
        return f"https://colab.research.google.com/github/{file}"

    @property
    def site(self):
        """Where GitHub Pages shows the built book."""
        root = f"https://{self.owner}.github.io/"
        own = self.name.lower() == f"{self.owner}.github.io".lower()
        return root if own else f"{root}{self.name}/"


def announce_missing_address(app, config):
    """Show the banner where the repository's address is the placeholder."""
    options = config.html_theme_options
    if PLACEHOLDER in options.get("repository_url", ""):
        options["announcement"] = BANNER


def setup(app):
    """Connect to Sphinx."""
    app.connect("config-inited", announce_missing_address)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
