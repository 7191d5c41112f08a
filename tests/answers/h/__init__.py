"""Answers by hand h."""
