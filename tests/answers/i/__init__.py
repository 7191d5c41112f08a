"""Answers by hand i."""
