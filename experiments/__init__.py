"""Training runs that chapters only read: ``python -m experiments.block_ablations``.

``python -m experiments`` runs them, but for six that are run by themselves:
``story_model``, ``learning_in_the_page``, ``processes``, ``two_core_minute``, and
``memory_cost`` and ``real_model``, which train nothing. Each has a record in
``helpers/recorded/``; losses are in nats per character, on held-out text. ``many``,
``running`` and ``sweeps`` are what they share, ``everyday`` sentences to measure on.
"""
