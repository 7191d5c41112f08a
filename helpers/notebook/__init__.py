"""What a notebook shows and sets: ``plotting``, ``display``, ``device``."""
