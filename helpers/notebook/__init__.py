"""For notebooks: ``plotting``, ``display`` (tensors as text), ``device`` and seed.

``path_graph``, ``circuit_graph``, ``arrows``, ``matrices``, ``ownership`` and
``towers`` are figures of one kind, and ``picture`` is what any figure becomes in a
notebook. ``memory`` measures what a computation takes.
"""
