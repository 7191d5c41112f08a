"""What the page "Reading on" says of models that read beyond their training."""
