"""Answers by hand l."""
