"""The same computations on several processes, by hand and by PyTorch."""
