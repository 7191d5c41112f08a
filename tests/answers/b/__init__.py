"""Answers by hand b."""
