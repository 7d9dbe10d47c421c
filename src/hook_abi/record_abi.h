// The C functions of libfullbore_record.so, called by the Python hook through ctypes.PyDLL (the GIL stays held:
// releasing it costs 240 us per call when another Python thread is busy, this way 1.1 us). Depends on libc alone, so
// one file serves every interpreter. Nothing here throws, prints, exits or waits; after fork a child starts with fresh
// rings.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FULLBORE_RECORD_ABI 1

// NOLINTNEXTLINE: a C name, as its functions have
struct fullbore_thread_usage {
  int64_t cpu_ns;        // CLOCK_THREAD_CPUTIME_ID
  int64_t runq_ns;       // runnable but not running (/proc/thread-self/schedstat); INT64_MIN: not available
  int64_t read_chars;    // /proc/thread-self/io rchar; INT64_MIN: not available or not asked for
  int64_t read_bytes;    // /proc/thread-self/io read_bytes
  int64_t major_faults;  // getrusage(RUSAGE_THREAD); INT64_MIN without with_io
};

// FULLBORE_RECORD_ABI of the library.
uint32_t fullbore_record_abi(void);

// Size in bytes, header included, of a record of this kind (NameRecord: without text); 0 for an unknown kind.
uint32_t fullbore_record_size(uint32_t kind);

// Rings of this process go to `directory` (tmpfs, made by the collector). `ring_bytes`: data area of one ring, rounded
// up to a power of two. Returns 0, or an errno; on an error every later call does nothing.
int fullbore_record_open(const char* directory, uint64_t ring_bytes, int32_t rank);

// Writes records (each with its RecordHeader) of together `size` bytes to the calling thread's ring, which is made at
// the first call. Returns 1 if stored, 0 if dropped or not open, 2 if the observation has ended (the hook then turns
// itself off for good).
int fullbore_record_write(const void* records, uint64_t size, uint32_t count);

// Hash of a string, and a NameRecord for it in the calling thread's ring. Returns the id.
uint64_t fullbore_record_name(const char* text, uint32_t length);

// Usage of the calling thread so far. `with_io` = 0 leaves out bytes and faults, which cost as much again. The /proc
// files stay open for as long as the thread lives, close-on-exec, at a high number where no open of the program would
// look. Call fullbore_record_open first.
void fullbore_thread_usage_now(struct fullbore_thread_usage* out, int with_io);

// Ends the calling thread's ring; another record opens a new one.
void fullbore_record_close_thread(void);

// errno with which the last ring could not be made, 0 if none failed.
int fullbore_record_error(void);

#ifdef __cplusplus
}
#endif
