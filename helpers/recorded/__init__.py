"""Data that ships with the book, and its loaders: ``results``, ``story_model``."""
