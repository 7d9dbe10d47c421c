"""The time of the user's own code, line by line."""
