"""What several exercises share, and what would make the module of one too long."""
