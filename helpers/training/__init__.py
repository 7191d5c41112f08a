"""Training: ``config`` (settings, recipes), ``optimizers``, ``loop``, checkpoints."""
