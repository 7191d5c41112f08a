"""Answers by hand c."""
