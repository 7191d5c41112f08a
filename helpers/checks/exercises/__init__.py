"""What each check knows; a module is named after its check, or its few checks."""
