"""The audit of any attention layer.

``checklist`` has all lines and asks them, and ``report`` is the table of answers. Each
line is a function of the layer in ``subject``. Most see it from outside: what reads
what (``reading``), sizes, types, modes and devices (``handling``), padding, caches and
compilation (``contracts``). Others look ``inside`` a call, at its ``weights`` and its
``heads``: all that it computes is kept by ``recording``, and ``sources`` finds where
queries, keys and values come from.
"""

from helpers.checks.auditing.checklist import LINES, audit
from helpers.checks.auditing.report import Audit, Row

__all__ = ["LINES", "Audit", "Row", "audit"]
