"""Answers by hand a."""
