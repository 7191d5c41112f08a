"""Answers by hand d."""
