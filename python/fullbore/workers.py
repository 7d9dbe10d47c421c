"""What runs in the worker processes of a DataLoader."""


def keep_freed_memory(worker_id=0):
    """Lets this process keep the memory that it frees: DataLoader(..., worker_init_fn=fullbore.keep_freed_memory).

    glibc returns what a sample took to the kernel, and the next sample fetches new, zeroed pages. Where the report says
    how much of the workers' CPU time that is, this takes it away. The worker stays as large as its largest sample made
    it, 1 GiB of free memory at most. Samples and random numbers stay as they are.

    worker_id: as torch passes it; not used.
    Returns True, or False where it was left as it is: another allocator (jemalloc, tcmalloc, musl), or thresholds that
    the environment sets already. Never raises.
    """
    from .watching import _hook

    _hook()
    from _fullbore_hook.fix import memory

    return memory.keep_freed() == ""
