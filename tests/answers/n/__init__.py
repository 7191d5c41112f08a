"""Answers by hand n."""
