"""How long kernels run per step, from their begins and ends. A job that is measured so begins each step with a kernel
that it uses nowhere else."""

FIRST_OF_A_STEP = "triu_tril"  # of torch.tril


def per_step_ns(kernels):
    """[ns in which a kernel ran] of each whole step. `kernels`: (begin_ns, end_ns, name), in any order, of one stretch
    of time in which none is missing."""
    steps, covered_ns, last_ns = [], None, 0
    for begin_ns, end_ns, name in sorted(kernels):
        if FIRST_OF_A_STEP in name:
            if covered_ns is not None:
                steps.append(covered_ns)
            covered_ns = 0
        if covered_ns is not None:
            covered_ns += max(0, end_ns - max(begin_ns, last_ns))
        last_ns = max(last_ns, end_ns)
    return steps


def of_windows(records):
    """[ns] per step of all trace windows without losses."""
    kernels = sorted((kernel.begin_ns, kernel.end_ns, kernel.name) for kernel in records.of("Kernel"))
    steps = []
    for window in records.of("TraceWindow"):
        if not window.dropped:
            steps += per_step_ns([kernel for kernel in kernels if window.begin_ns <= kernel[0] < window.end_ns])
    return steps
