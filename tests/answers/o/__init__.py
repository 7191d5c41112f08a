"""Answers by hand o."""
