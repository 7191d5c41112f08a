"""What axe finds to mend on a page, and which of its rules cost seconds."""

from axe_playwright_python.sync_playwright import Axe

# Preloading would fetch style sheets again, which fails from file://. Without its list
# of all that is right, axe takes less than half the time.
OPTIONS = {"preload": False, "resultTypes": ["violations"]}
# What a theme can spoil.
COLOURS = ["color-contrast", "link-in-text-block"]
# These compute styles or stacks of all elements, 3 to 10 seconds a page. What they look
# at is alike on all pages: theme, code, prose, tables; and views, each looked at alone.
HEAVY = [
    *COLOURS,
    "target-size",
    "region",
    "scrollable-region-focusable",
    "nested-interactive",
    "aria-allowed-attr",
    "aria-conditional-attr",
    "aria-prohibited-attr",
    "aria-valid-attr",
    "label-content-name-mismatch",
]
LIGHT = {"rules": {rule: {"enabled": False} for rule in HEAVY}}
# Half of a page's elements are coloured words of code and cells of tables, and look the
# same on all pages.
ALIKE = {"exclude": [["pre"], ["td"], ["dt.sig"]]}


def violations(page, context=None, **options):
    """What axe has found: the rule, its places and why."""
    ran = Axe().run(page, context=context, options=OPTIONS | options)
    found = ran.response["violations"]
    return [
        (one["id"], node["html"][:200], node["failureSummary"])
        for one in found
        for node in one["nodes"]
    ]
