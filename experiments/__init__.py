"""Training runs that chapters only read: ``python -m experiments.block_ablations``.

``python -m experiments`` runs all but the story model's. Each has a record in
``helpers/recorded/``; losses are in nats per character, on held-out text.
"""
