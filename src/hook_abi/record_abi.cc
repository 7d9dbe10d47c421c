// See record_abi.h. All state of a thread is its ring; all state of the process is where rings go.
#include "hook_abi/record_abi.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "hook_abi/proc_file.h"
#include "wire/records.h"
#include "wire/ring.h"
#include "wire/ring_maker.h"

#define FULLBORE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using fullbore::hook_abi::ProcFile;
namespace wire = fullbore::wire;

struct Process {
  char directory[3584];
  std::uint64_t capacity;
  std::int32_t rank;
  bool open;
  int error;
  std::uint32_t generation;  // counts forks and openings: a thread's ring of an older generation is not ours any more
  std::uint32_t rings_made;
};
Process process;
pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_key_t thread_end;

// Trivial, so that a thread needs no C++ runtime to end; the pthread key's destructor gives the ring back.
struct Thread {
  wire::MadeRing file;
  std::uint32_t generation;
  bool refused;
};
thread_local Thread thread_state;

// /proc files of the calling thread, kept open: opening one costs several times what reading it does.
struct ThreadFiles {
  ProcFile schedstat{"/proc/thread-self/schedstat"};
  ProcFile io{"/proc/thread-self/io"};
  std::uint32_t generation = 0;
};
thread_local ThreadFiles thread_files;

// A forked child still holds its parent's files, which tell of the parent's thread.
ThreadFiles& files_of_thread() {
  ThreadFiles& files = thread_files;
  if (files.generation != process.generation) {
    files.schedstat.close();
    files.io.close();
    files.generation = process.generation;
  }
  pthread_setspecific(thread_end, &thread_state);
  return files;
}

bool is_digit(const char* text) {
  return text[0] >= '0' && text[0] <= '9';
}
bool starts_rchar(const char* text) {
  return strncmp(text, "rchar: ", 7) == 0;
}

void forget_ring(Thread& thread, bool mark_closed) {
  if (thread.file.header == nullptr) return;
  if (mark_closed) thread.file.header->closed.store(1, std::memory_order_release);
  munmap(thread.file.header, thread.file.mapped_bytes);
  thread.file = {};
}

// In the forked child: the mapping is shared with the parent's thread, who stays its only writer.
void after_fork_in_child() {
  ++process.generation;
}

void at_thread_end(void*) {
  if (thread_state.generation == process.generation) forget_ring(thread_state, true);
  thread_files.schedstat.close();
  thread_files.io.close();
}

void set_up_once() {
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  pthread_key_create(&thread_end, at_thread_end);
}

// The calling thread's ring, made if need be; false if there is none to be had.
bool ready(Thread& thread) {
  if (!process.open) return false;
  if (thread.generation != process.generation) {
    forget_ring(thread, false);
    thread.generation = process.generation;
    thread.refused = false;
  }
  if (thread.file.header != nullptr) return true;
  if (thread.refused) return false;
  const std::uint32_t counter = __atomic_fetch_add(&process.rings_made, 1u, __ATOMIC_RELAXED);
  const int error = wire::make_ring(process.directory, process.capacity, process.rank, counter, &thread.file);
  if (error != 0) {
    process.error = error;
    thread.refused = true;
    return false;
  }
  pthread_setspecific(thread_end, &thread_state);
  return true;
}

// A number after `label` in a small /proc text.
std::int64_t number_after(const char* text, const char* label) {
  const char* at = strstr(text, label);
  return at == nullptr ? wire::kUnknown : strtoll(at + strlen(label), nullptr, 10);
}

}  // namespace

FULLBORE_EXPORT uint32_t fullbore_record_abi(void) {
  return FULLBORE_RECORD_ABI;
}

FULLBORE_EXPORT uint32_t fullbore_record_size(uint32_t kind) {
  constexpr auto size = [](auto payload) { return static_cast<uint32_t>(sizeof(wire::RecordHeader) + sizeof payload); };
  switch (static_cast<wire::Kind>(kind)) {
    case wire::Kind::kName:
      return size(wire::NameRecord{});
    case wire::Kind::kProcess:
      return size(wire::ProcessRecord{});
    case wire::Kind::kLoader:
      return size(wire::LoaderRecord{});
    case wire::Kind::kIterator:
      return size(wire::IteratorRecord{});
    case wire::Kind::kNext:
      return size(wire::NextRecord{});
    case wire::Kind::kBatch:
      return size(wire::BatchRecord{});
    case wire::Kind::kSample:
      return size(wire::SampleRecord{});
    case wire::Kind::kProfile:
      return size(wire::ProfileRecord{});
    case wire::Kind::kStep:
      return size(wire::StepRecord{});
    case wire::Kind::kModel:
      return size(wire::ModelRecord{});
    case wire::Kind::kInterval:
      return size(wire::IntervalRecord{});
    case wire::Kind::kMissing:
      return size(wire::MissingRecord{});
    case wire::Kind::kFix:
      return size(wire::FixRecord{});
    case wire::Kind::kUserStep:
      return size(wire::UserStepRecord{});
    case wire::Kind::kDataPath:
      return size(wire::DataPathRecord{});
    case wire::Kind::kFailure:
      return size(wire::FailureRecord{});
    case wire::Kind::kBatchTensor:
      return size(wire::BatchTensorRecord{});
    case wire::Kind::kWorkerExit:
      return size(wire::WorkerExitRecord{});
    default:
      return 0;
  }
}

FULLBORE_EXPORT int fullbore_record_open(const char* directory, uint64_t ring_bytes, int32_t rank) {
  const size_t length = directory != nullptr ? strlen(directory) : sizeof process.directory;
  if (length >= sizeof process.directory) return ENAMETOOLONG;
  pthread_once(&once, set_up_once);
  memcpy(process.directory, directory, length + 1);
  process.capacity = wire::ring_capacity(ring_bytes);
  process.rank = rank;
  process.error = 0;
  ++process.generation;  // rings in an earlier directory are over
  process.open = access(directory, W_OK | X_OK) == 0;
  if (!process.open) process.error = errno;
  return process.error;
}

FULLBORE_EXPORT int fullbore_record_write(const void* records, uint64_t size, uint32_t count) {
  Thread& thread = thread_state;
  if (!ready(thread)) return 0;
  wire::RingWriter ring(thread.file.header, thread.file.data);
  if (ring.stopped()) return 2;
  return ring.write(records, size, count) ? 1 : 0;
}

FULLBORE_EXPORT uint64_t fullbore_record_name(const char* text, uint32_t length) {
  if (length > wire::kMaxNameLength) length = wire::kMaxNameLength;
  const wire::NameId id = wire::name_id(text, length);
  if (id == 0) return 0;
  struct {
    wire::RecordHeader header;
    wire::NameRecord name;
    char text[wire::kMaxNameLength];
  } record;
  const std::uint32_t padded = (length + 7u) & ~7u;
  const auto size = static_cast<std::uint16_t>(sizeof record.header + sizeof record.name + padded);
  record.header = {wire::Kind::kName, size, 0};
  record.name = {id, length, 0};
  memcpy(record.text, text, length);
  memset(record.text + length, 0, padded - length);
  fullbore_record_write(&record, size, 1);
  return id;
}

FULLBORE_EXPORT void fullbore_thread_usage_now(fullbore_thread_usage* out, int with_io) {
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  out->cpu_ns = static_cast<std::int64_t>(cpu.tv_sec) * 1'000'000'000 + cpu.tv_nsec;
  ThreadFiles& files = files_of_thread();
  char text[512];
  // "3049263581 12345 678": run time, run-queue delay, slices
  out->runq_ns = files.schedstat.read(text, sizeof text, is_digit) ? number_after(text, " ") : wire::kUnknown;
  out->major_faults = wire::kUnknown;
  out->read_chars = wire::kUnknown;
  out->read_bytes = wire::kUnknown;
  if (with_io == 0) return;
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) == 0) out->major_faults = usage.ru_majflt;
  if (files.io.read(text, sizeof text, starts_rchar)) {
    out->read_chars = number_after(text, "rchar: ");
    out->read_bytes = number_after(text, "\nread_bytes: ");
  }
}

FULLBORE_EXPORT void fullbore_record_close_thread(void) {
  if (thread_state.generation == process.generation) forget_ring(thread_state, true);
}

FULLBORE_EXPORT int fullbore_record_error(void) {
  return process.error;
}
