"""Several epochs over volumes that do not fit into the memory that the job may use."""

from volumes import main

if __name__ == "__main__":
    main(epochs=3)
