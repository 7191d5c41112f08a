"""Answers by hand m."""
