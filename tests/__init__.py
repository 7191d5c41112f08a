"""The tests: ``unit`` (helpers), ``book`` and ``browser`` (its pages), ``project``.

``samples`` holds inputs that several share, ``solutions`` right and wrong answers to
the exercises, ``data`` the figures to reproduce, ``benchmarks`` timings.
"""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
