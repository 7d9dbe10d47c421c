"""One pass over raw volumes, from a disk that other programs read at the same time."""

from volumes import main

if __name__ == "__main__":
    main(step_ms=50.0)
