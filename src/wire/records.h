// The contract between those who see and those who judge: every record that a watched process or the collector
// can write, as fixed structs. Collectors fill them, analysis reads them, and neither includes the other.
// Freestanding: no allocation, no exceptions, libc headers only. Documented field by field in
// docs/design/001-records.md.
#pragma once

#include <cstdint>
#include <type_traits>

namespace fullbore::wire {

// Readers accept this version only; a field is appended or a kind is added with a new number, never re-used.
inline constexpr std::uint32_t kVersion = 1;

// Times are CLOCK_MONOTONIC nanoseconds. `kUnknown` marks a number that was not measured; it is never zero.
inline constexpr std::int64_t kUnknown = INT64_MIN;
inline constexpr std::int32_t kUnknown32 = INT32_MIN;

// A string is written once per process as a NameRecord and referred to by the FNV-1a 64 hash of its UTF-8 bytes.
// 0 means "no name".
using NameId = std::uint64_t;

enum class Kind : std::uint16_t {
  kName = 1,
  kProcess = 2,
  kLoader = 3,
  kIterator = 4,
  kNext = 5,
  kBatch = 6,
  kSample = 7,
  kProfile = 8,
  kStep = 9,
  kModel = 10,
  kInterval = 11,
  kMissing = 12,
  kFix = 13,
  kUserStep = 14,
  kDataPath = 15,
  // written by the tracer inside the training process: gpu_records.h
  kGpuDevice = 16,
  kCopy = 17,
  kKernel = 18,
  kSync = 19,
  kLaunchCall = 20,
  kTraceWindow = 21,
  kClockPair = 22,
  kTraceOverhead = 23,
  // written by the hook again
  kWorkerExit = 24,
  kFailure = 25,
  kBatchTensor = 26,
  // written by the collector
  kSeries = 32,
  kReadings = 33,
  kDropped = 34,
  kThinned = 35,
};

// In front of every record. `size` counts header and payload and is a multiple of 8.
struct RecordHeader {
  Kind kind;
  std::uint16_t size;
  std::uint32_t reserved;
};
static_assert(sizeof(RecordHeader) == 8);

// Followed by `length` bytes of UTF-8, padded with zeros to a multiple of 8. At most kMaxNameLength bytes.
inline constexpr std::uint32_t kMaxNameLength = 4096;
struct NameRecord {
  NameId id;
  std::uint32_t length;
  std::uint32_t reserved;
};

enum class Role : std::uint32_t { kOther = 0, kTrainer = 1, kWorker = 2 };
enum class StartMethod : std::uint32_t { kUnspecified = 0, kFork = 1, kSpawn = 2, kForkserver = 3, kThread = 4 };

// A process that has something to say, again when its role becomes known. `base_seed` ties a loader worker to the
// iterator that started it (the same number in IteratorRecord; torch draws a new one per iterator).
struct ProcessRecord {
  std::int64_t time_ns;
  std::uint32_t pid;
  std::uint32_t parent_pid;
  std::int32_t rank;        // kUnknown32 without RANK, SLURM_PROCID, OMPI_COMM_WORLD_RANK or PMI_RANK
  std::int32_t local_rank;  // likewise
  std::int32_t world_size;  // likewise
  Role role;
  std::int32_t worker;  // number of the loader worker, or kUnknown32
  StartMethod start_method;
  std::uint32_t python_version;  // sys.hexversion
  std::uint32_t reserved;
  std::int64_t base_seed;
  NameId executable;
  NameId script;  // sys.argv[0]
  NameId torch_version;
  NameId line_tier;  // how source lines are timed here: "monitoring", "windows", or 0
};

enum LoaderFlags : std::uint32_t {
  kPinMemory = 1u << 0,
  kPersistentWorkers = 1u << 1,
  kDropLast = 1u << 2,
  kInOrder = 1u << 3,
  kIterableDataset = 1u << 4,
  kShuffle = 1u << 5,
  kCustomBatchSampler = 1u << 6,
  kDistributedSampler = 1u << 7,
  kFixed = 1u << 8,  // arguments were changed by --fix; the FixRecords say which
};

// A DataLoader was constructed (after any fix). `loader` counts from 1 per process; (pid, loader) is unique, and
// a forked worker keeps the number of the loader that it serves.
struct LoaderRecord {
  std::int64_t time_ns;
  std::uint32_t loader;
  std::uint32_t flags;
  std::int64_t dataset_length;   // samples, or kUnknown
  std::int64_t batches;          // len(loader), or kUnknown
  std::int32_t batch_size;       // kUnknown32 when None
  std::int32_t workers;          // num_workers
  std::int32_t prefetch_factor;  // kUnknown32 when None
  std::int32_t line;             // of the user's call, first line; kUnknown32 if no user frame was found
  std::int32_t end_line;
  std::int32_t dataset_line;  // of __getitem__ or __iter__
  StartMethod start_method;
  std::uint32_t replicas;  // ranks whose gradients a DistributedDataParallel made before averages; 0 none seen
  NameId file;
  NameId code;          // source lines `line` to `end_line`, whole, for the diff
  NameId dataset_type;  // module.qualname
  NameId dataset_file;
  NameId collate;
  NameId sampler;
};

enum IteratorFlags : std::uint32_t {
  kReset = 1u << 0,  // persistent workers taken over for another epoch
};

// iter(loader) ran: from the call to the iterator being ready (worker processes started or reset).
struct IteratorRecord {
  std::int64_t begin_ns;
  std::int64_t end_ns;
  std::uint32_t loader;
  std::uint32_t iterator;  // counts from 1 per process; a reset gets a new number
  std::int32_t workers;    // that the iterator really has
  std::int32_t epoch;      // how often this loader was iterated before
  std::uint32_t flags;
  std::int32_t line;  // of the user's loop
  NameId file;
  std::int64_t base_seed;  // of the worker processes; kept by a reset
};

enum NextFlags : std::uint32_t {
  kStop = 1u << 0,    // ended in StopIteration; carries no batch
  kError = 1u << 1,   // ended in another exception
  kFirst = 1u << 2,   // first of this iterator
  kTraced = 1u << 3,  // line tracing was armed since the last next: keep this iteration out of times
};

// One call of the iterator's next in the training process.
struct NextRecord {
  std::int64_t begin_ns;
  std::int64_t end_ns;
  std::int64_t queue_wait_ns;  // blocked on the data queue; kUnknown when there is no queue (0 workers)
  std::int64_t sampler_ns;     // time in the index sampler; kUnknown if not measured
  std::int64_t pin_ns;         // pinning in this thread (0 workers); kUnknown otherwise
  std::int64_t cpu_ns;         // this thread's CPU time within next
  std::int64_t runq_ns;        // runnable but not running, within next
  std::int64_t loop_cpu_ns;    // the same two from the previous next's end to this begin: the user's loop body
  std::int64_t loop_runq_ns;
  std::int64_t batch;        // index of the batch returned, per iterator; kUnknown at kStop
  std::int64_t batch_bytes;  // tensors of the batch; kUnknown if not looked at
  std::uint32_t loader;
  std::uint32_t iterator;
  std::int32_t ready;        // batches that lay ready when next was called, this one included; kUnknown32 unknown
  std::int32_t ready_later;  // of them, later than the one asked for while that one was missing (head of line)
  std::int32_t worker;       // that made the batch; kUnknown32 without workers
  std::int32_t samples;      // in the batch; kUnknown32 if it could not be told
  std::uint32_t flags;
  std::uint32_t reserved;
};

// One batch made: in a loader worker, or in the training process for 0 workers (worker = kUnknown32).
// Order of times: begin <= fetched <= collated <= put.
struct BatchRecord {
  std::int64_t idle_ns;      // waited for the index before begin
  std::int64_t begin_ns;     // index in hand
  std::int64_t fetched_ns;   // last sample made
  std::int64_t collated_ns;  // collate_fn returned
  std::int64_t put_ns;       // handed to the queue; = collated_ns without workers
  std::int64_t cpu_ns;       // this thread, begin to collated
  std::int64_t runq_ns;
  std::int64_t read_chars;  // bytes asked of the kernel (rchar)
  std::int64_t read_bytes;  // bytes that really came from a device
  std::int64_t major_faults;
  std::int64_t batch;          // index as in NextRecord
  std::int64_t slowest_ns;     // the slowest sample of the batch
  std::int64_t slowest_index;  // its dataset index; kUnknown for iterable datasets
  std::int64_t slowest_begin_ns;
  std::uint32_t loader;
  std::int32_t worker;
  std::int32_t epoch;  // resets seen by this worker
  std::int32_t samples;
  std::uint32_t flags;    // kTraced
  std::uint32_t content;  // hash over some bytes of the largest tensors; 0 not looked at
};

// One sample made. The collector keeps a reservoir and the slowest.
struct SampleRecord {
  std::int64_t begin_ns;
  std::int64_t wall_ns;
  std::int64_t cpu_ns;  // this thread; kUnknown if not measured
  std::int64_t index;   // kUnknown for iterable datasets
  std::int64_t batch;
  std::uint32_t loader;
  std::int32_t worker;
};

// What a piece of time was spent on. Also the stages that the report names.
enum class Stage : std::uint32_t {
  kUnspecified = 0,
  kOpen = 1,
  kRead = 2,
  kDecode = 3,
  kAugment = 4,
  kTokenise = 5,
  kConvert = 6,
  kCollate = 7,
  kUserCode = 8,
  // in the training loop
  kWait = 16,
  kCopy = 17,
  kBlocking = 18,
  kModel = 19,
  kPause = 20,
};

enum class Where : std::uint32_t { kLoop = 0, kDataset = 1, kCollate = 2 };

// Time of one source line, or of one callee on that line (name != 0), summed since the last record of the same key.
// Shares are wall_ns of an entry over the window_ns of the same (process, where): only traced windows are counted.
struct ProfileRecord {
  std::int64_t time_ns;
  std::int64_t wall_ns;
  std::int64_t window_ns;  // traced wall time since the last flush, the same number in every entry of a flush
  std::uint32_t loader;
  Where where;
  Stage stage;
  std::int32_t line;
  std::uint32_t count;    // executions
  std::uint32_t windows;  // samples (kDataset, kCollate) or iterations (kLoop) traced since the last flush
  NameId file;
  NameId name;  // callee, "PIL.Image.Image.convert"; 0: the line as a whole
};

// One optimiser step (the call, not the GPU work).
struct StepRecord {
  std::int64_t begin_ns;
  std::int64_t end_ns;
  std::uint32_t optimizer;  // counts from 1 per process
  std::uint32_t reserved;
};

// What an optimiser trains: `hash` is over parameter shapes and dtypes, so two runs of the same work can be told.
struct ModelRecord {
  std::int64_t time_ns;
  std::uint64_t hash;
  std::int64_t parameters;
  std::int64_t bytes;
  std::uint32_t tensors;
  std::uint32_t optimizer;
  NameId optimizer_type;
  NameId device;  // "cpu", "cuda:0"
};

enum class IntervalKind : std::uint32_t {
  kCheckpoint = 1,
  kGarbageCollection = 2,
  kBlockingRead = 3,  // item, cpu, numpy, tolist, ...: the host waits for a value
  kCopyCall = 4,
  kLogging = 5,
  kProfiler = 6,  // torch.profiler owned the tracing
  kCollective = 7,
};

// A named stretch of one thread's time.
struct IntervalRecord {
  std::int64_t begin_ns;
  std::int64_t end_ns;
  IntervalKind kind;
  std::int32_t line;
  NameId name;
  NameId file;
  std::int64_t bytes;  // kUnknown if not known
};

// A signal that could not be measured, and why. Written once.
struct MissingRecord {
  std::int64_t time_ns;
  NameId signal;
  NameId why;
};

// One setting of a loader that --fix looked at. applied = 0: left alone, `why` says the reason.
struct FixRecord {
  std::int64_t time_ns;
  std::uint32_t loader;
  std::uint32_t applied;  // 0 left alone, 1 applied, 2 applied and taken back
  std::int64_t before;
  std::int64_t after;
  NameId setting;  // "num_workers", "pin_memory", "prefetch_factor", "persistent_workers"
  NameId why;
};

// fullbore.step(), or one item of fullbore.observe(): begin and end of the wait for it.
struct UserStepRecord {
  std::int64_t begin_ns;
  std::int64_t end_ns;     // = begin_ns for step()
  std::int32_t samples;    // kUnknown32 if not given
  std::uint32_t observed;  // 1 from observe(), 0 from step()
};

// A file that a sample was read from, to find its disk and mount; at most a few per process.
struct DataPathRecord {
  std::int64_t time_ns;
  NameId path;
};

// The largest tensor of a loader's first batch; again where a later pass begins with another. Of its shape the first
// four dimensions, kUnknown beyond `dimensions`.
struct BatchTensorRecord {
  std::int64_t time_ns;
  std::int64_t bytes;
  std::int64_t shape[4];
  std::uint32_t dimensions;
  std::uint32_t loader;
  NameId dtype;  // "torch.float32"
};

// A loader worker was found dead that should not be: it ended by a signal, or with another exit code than 0.
struct WorkerExitRecord {
  std::int64_t time_ns;  // when it was found
  std::uint32_t pid;
  std::int32_t worker;     // its number; kUnknown32 unknown
  std::int32_t exit_code;  // below 0: minus the signal
  std::uint32_t loader;
};

// An error that ends the loader: raised in a worker, or while a batch was received from one. `text` is its first line,
// only of Python's own exceptions (those of libraries and users may say anything); errno where it has one.
struct FailureRecord {
  std::int64_t time_ns;
  NameId type;  // "builtins.RuntimeError"
  NameId text;
  std::int32_t error_number;  // kUnknown32 without one
  std::int32_t worker;        // kUnknown32: in the training process
};

enum class SeriesKind : std::uint32_t { kGauge = 0, kCounter = 1 };

// Introduces a sampler's time series; `metric` is one of docs/design/002-metrics.md, `label` a device, core or thread.
struct SeriesRecord {
  std::uint32_t series;
  SeriesKind kind;
  NameId metric;
  NameId label;
  NameId unit;
};

// Followed by `count` of Reading. Only values that changed since the last record are in it.
struct ReadingsRecord {
  std::int64_t time_ns;
  std::uint32_t count;
  std::uint32_t reserved;
};
struct Reading {
  std::uint32_t series;
  std::uint32_t reserved;
  double value;
};

// A ring was full: `count` more records of this thread were lost since it was last said.
struct DroppedRecord {
  std::int64_t time_ns;
  std::uint64_t count;
};

// The folder's budget was spent: `count` records of `kind` were left out in the minute that ends at time_ns.
struct ThinnedRecord {
  std::int64_t time_ns;
  Kind kind;
  std::uint16_t reserved16;
  std::uint32_t reserved;
  std::uint64_t count;
};

template <typename T>
struct KindOf;
#define FULLBORE_KIND(type, kind_value)             \
  template <>                                       \
  struct KindOf<type> {                             \
    static constexpr Kind value = Kind::kind_value; \
  };                                                \
  static_assert(std::is_trivially_copyable_v<type> && sizeof(type) % 8 == 0)
FULLBORE_KIND(NameRecord, kName);
FULLBORE_KIND(ProcessRecord, kProcess);
FULLBORE_KIND(LoaderRecord, kLoader);
FULLBORE_KIND(IteratorRecord, kIterator);
FULLBORE_KIND(NextRecord, kNext);
FULLBORE_KIND(BatchRecord, kBatch);
FULLBORE_KIND(SampleRecord, kSample);
FULLBORE_KIND(ProfileRecord, kProfile);
FULLBORE_KIND(StepRecord, kStep);
FULLBORE_KIND(ModelRecord, kModel);
FULLBORE_KIND(IntervalRecord, kInterval);
FULLBORE_KIND(MissingRecord, kMissing);
FULLBORE_KIND(FixRecord, kFix);
FULLBORE_KIND(UserStepRecord, kUserStep);
FULLBORE_KIND(DataPathRecord, kDataPath);
FULLBORE_KIND(WorkerExitRecord, kWorkerExit);
FULLBORE_KIND(FailureRecord, kFailure);
FULLBORE_KIND(BatchTensorRecord, kBatchTensor);
FULLBORE_KIND(SeriesRecord, kSeries);
FULLBORE_KIND(ReadingsRecord, kReadings);
FULLBORE_KIND(DroppedRecord, kDropped);
FULLBORE_KIND(ThinnedRecord, kThinned);
// FULLBORE_KIND stays defined for gpu_records.h, and ends there.
static_assert(sizeof(Reading) == 16);

// FNV-1a 64 (Fowler, Noll, Vo). The hook computes the same in the C ABI.
constexpr NameId name_id(const char* bytes, std::uint64_t length) {
  std::uint64_t hash = 14695981039346656037ull;
  for (std::uint64_t i = 0; i < length; ++i) {
    hash ^= static_cast<unsigned char>(bytes[i]);
    hash *= 1099511628211ull;
  }
  return length == 0 ? 0 : hash;
}

}  // namespace fullbore::wire
