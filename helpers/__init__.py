"""Reference implementations behind the book "Attention, One Step at a Time".

Start with ``attention``, which needs nothing but ``validation`` of its input; ``tiles``
computes the same in pieces, and ``linear_attention`` leaves softmax out. ``models``,
``text`` and ``training`` build a language model on it, ``parallel`` spreads one over
processes, ``modes`` puts one into eval mode, and ``whole_files`` writes a file that
nobody sees half. ``notebook``, ``views`` and ``checks`` are what a chapter shows, moves
and asks. ``recorded`` holds the results of long runs, ``published`` the figures of
others.
"""

BOOK = "attention-one-step"
__version__ = "0.1.0"
