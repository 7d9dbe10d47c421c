"""One pass over raw volumes, from a disk that is slower than the model."""

from volumes import main

if __name__ == "__main__":
    main(step_ms=50.0)
