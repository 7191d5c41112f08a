"""Answers by hand j."""
