"""What the page "Reading on" says of models that read four times their trained length."""
