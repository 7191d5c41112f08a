"""Trainings that chapters only read, each a module: ``python -m experiments.ladder``.

``python -m experiments`` runs all but the story model's. Each rewrites its record in
``helpers/recorded/``; losses are in nats per character, on held-out text.
"""
