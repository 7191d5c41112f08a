"""Answers by hand g."""
