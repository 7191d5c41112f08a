"""Answers by hand f."""
