"""Raw volumes from a disk that another program reads at the same time."""
from storage_bandwidth import main

if __name__ == "__main__":
    main()
