"""Which rank this process is, from whoever started it."""

import os
import sys

# (rank, number of ranks): torchrun; Open MPI; other MPIs. Slurm's number of tasks counts only inside a step: in a batch
# script it is set too, for a process that is the only one.
_VARIABLES = [
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
]


def find_rank(rank, world_size, environment=os.environ):
    """(rank, world_size) as given, else of torch.distributed if it is set up, else of the environment, else (0, 1)."""
    if (rank is None) != (world_size is None):
        raise ValueError("rank and world_size belong together; give both or neither")
    if rank is not None:
        return rank, world_size
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    for name, size_name in _VARIABLES:
        if name in environment and size_name in environment:
            return int(environment[name]), int(environment[size_name])
    return 0, 1
