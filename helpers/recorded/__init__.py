"""Data that ships with the book, and its loaders.

``results`` reads what the experiments wrote down; ``story_model`` loads the model that
was trained on little-world's stories and runs in the page.
"""
