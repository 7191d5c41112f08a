"""Training: ``config`` (settings and recipes), ``optimizers``, and the ``loop``.

``muon`` is one optimizer more, ``checkpoint`` keeps a run's state. With ``strategies``
several processes train one model; ``launching`` is how those of torchrun meet and end.
``python -m helpers.training`` is the command.
"""
