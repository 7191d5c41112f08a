"""Layers by two hands."""
