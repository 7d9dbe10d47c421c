"""Several epochs over volumes that no one has read since the machine was started."""
from cache_thrash import main

if __name__ == "__main__":
    main()
