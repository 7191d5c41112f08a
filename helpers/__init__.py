"""Reference implementations behind the book "Attention, One Step at a Time".

``helpers.attention`` holds the mathematics, ``helpers.plotting`` the figures, and
``helpers.runtime`` the device, the seed and the printing of tensors.
"""

BOOK = "attention-one-step"
__version__ = "0.1.0"
