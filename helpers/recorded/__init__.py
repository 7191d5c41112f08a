"""Data that ships with the book, and its loaders.

``results`` reads what the experiments wrote down, ``sweeps`` finds the learning rate
that suits a model best, and ``spread`` says how far a mean over few seeds can be
trusted. ``reading_on`` has an experiment's results in four numbers a seed.
``story_model`` loads the model that was trained on little-world's stories and runs in
the page.
"""
