"""--fix, from the loader and the limits of the machine to changed settings, and back if they fail."""
