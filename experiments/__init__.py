"""Trainings that chapters only read, each a module: ``python -m experiments.parts``.

``python -m experiments`` runs all but the story model's. Each has a record in
``helpers/recorded/``; losses are in nats per character, on held-out text.
"""
