"""For notebooks: ``plotting``, ``display`` (tensors as text), ``device`` and seed.

``path_graph``, ``circuit_graph``, ``arrows``, ``matrices``, ``ownership``, ``towers``
and ``trade_off`` are figures of one kind, and ``picture`` is what any figure becomes in
a notebook. ``memory`` measures what a computation takes.
"""
