"""One model on several processes, by hand and beside PyTorch's own engine."""
