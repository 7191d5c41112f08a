"""How the modules of the views are formatted and checked; see ``__main__``."""
