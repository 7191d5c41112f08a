"""Reference implementations behind the book "Attention, One Step at a Time".

Start with ``attention``, which needs nothing but ``validation`` of its input.
``models``, ``text`` and ``training`` build a language model on it; ``notebook``,
``views`` and ``checks`` are what a chapter shows, moves and asks; ``recorded`` is data.
"""

BOOK = "attention-one-step"
__version__ = "0.1.0"
