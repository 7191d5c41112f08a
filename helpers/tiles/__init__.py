"""Attention in pieces, for texts whose (T, S) weights would fill the memory.

``online_softmax`` takes keys as they come, ``flash`` walks the table with it.
"""
