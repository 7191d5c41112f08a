"""Attention in pieces, for texts whose (T, S) weights would fill the memory."""
