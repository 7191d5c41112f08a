"""Answers by hand k."""
