"""The same computations on several processes, by hand and by PyTorch.

``processes`` starts them. ``data_parallel`` spreads the texts of a batch over them,
``tensor_parallel`` heads and features, ``ring`` the positions of a text; ``shards``
puts together what PyTorch has spread, and ``executions`` is one model in eleven ways.
``traffic`` counts what is sent. ``workload`` and ``cost`` say what a step costs on many
machines.
"""
