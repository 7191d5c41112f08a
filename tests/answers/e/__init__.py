"""Answers by hand e."""
