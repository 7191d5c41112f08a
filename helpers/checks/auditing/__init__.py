"""The audit of any attention layer.

``checklist`` asks and prints the table; what it asks stands in ``reading`` (what reads
what), ``scale`` (what scores are divided by) and ``handling`` (sizes, types, modes,
devices), each about the layer in ``subject``.
"""

from helpers.checks.auditing.checklist import LINES, Audit, Row, audit

__all__ = ["LINES", "Audit", "Row", "audit"]
