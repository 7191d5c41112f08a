"""Commands for those who work on the book; CONTRIBUTING.md has the table."""
