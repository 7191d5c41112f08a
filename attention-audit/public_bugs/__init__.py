"""A log of bugs in attention that were reported in public, each rebuilt as a layer.

    python -m public_bugs          writes the page
    python -m public_bugs NAME     audits those whose repository has NAME in it

in the folder ``attention-audit``.
"""
