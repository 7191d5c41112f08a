"""For notebooks: ``plotting``, ``display`` (tensors as text), ``device`` and seed."""
