"""What --fix does in a worker that has just started: a worker_init_fn around the script's own."""

from . import memory, threads


class Started:
    """Can be pickled as far as the script's own function can. `threads`: for each library, None for what it takes."""

    def __init__(self, users, keep_freed_memory, worker_threads):
        self.users = users.users if isinstance(users, Started) else users
        self.keep_freed_memory = keep_freed_memory
        self.worker_threads = worker_threads

    def __call__(self, worker_id):
        if self.keep_freed_memory:
            memory.keep_freed()
        if self.users is not None:
            self.users(worker_id)
        if self.worker_threads is not None:
            threads.limit(self.worker_threads)
