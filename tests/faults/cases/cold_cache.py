"""Several epochs over volumes that no one has read since the machine was started."""

from volumes import main

if __name__ == "__main__":
    main(epochs=3)
