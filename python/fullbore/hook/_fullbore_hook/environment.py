"""What the launcher and the job's scheduler say in the environment. Read once, nothing else of it is looked at."""

import os

RINGS = os.environ.get("FULLBORE_RINGS", "")
LIBRARY = os.environ.get("FULLBORE_RECORD_LIB", "")
FIX = os.environ.get("FULLBORE_FIX", "")


def _number(*names):
    for name in names:
        try:
            return int(os.environ[name])
        except (KeyError, ValueError):
            continue
    return None


RING_BYTES = _number("FULLBORE_RING_BYTES") or (1 << 20)


def rank():
    return _number("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")


def local_rank():
    return _number("LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID")


def world_size():
    return _number("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
