// What libfullbore_inject.so exports. The CUDA driver loads the library named in CUDA_INJECTION64_PATH and calls
// InitializeInjection once, inside the process's first cuInit. Without FULLBORE_RINGS in the environment it does
// nothing.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// 1: loaded. Never fails the program.
int InitializeInjection(void);

// Nothing is traced before this: said by the Python hook where it sees CUDA graphs coming, which must be captured while
// CUPTI is not in the process.
void fullbore_trace_allow(void);

// Where the Python hook counts the iterations of the training loop (a wire::LoopCounters, valid for as long as the
// process lives): windows then hold whole steps.
void fullbore_trace_count(const void* counters);

// Around somebody else's use of CUPTI, in pairs: torch.profiler's start and stop, told by the Python hook. A pause
// without an end comes before the first CUDA graph.
void fullbore_trace_pause(void);
void fullbore_trace_resume(void);

// Before the CUDA run time is taken down; also called by atexit. Later calls do nothing.
void fullbore_trace_stop(void);

#ifdef __cplusplus
}
#endif
