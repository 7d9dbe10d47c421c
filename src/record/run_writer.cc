#include "record/run_writer.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <vector>

#include "base/unique_fd.h"
#include "record/frame.h"
#include "record/run_info.h"
#include "record/thinning.h"

namespace fullbore::record {
namespace {

constexpr std::size_t kFrameBytes = 64u << 10;
constexpr std::int64_t kFrameAgeNs = 1'000'000'000;
constexpr std::int64_t kMinuteNs = 60'000'000'000;

using Thread = std::pair<std::uint32_t, std::uint32_t>;  // pid, tid

struct Pending {
  std::vector<std::byte> records;
  std::int64_t since_ns = 0;
};

// One .fbr file and the records that wait for their frame.
struct File {
  base::UniqueFd fd;
  std::map<Thread, Pending> pending;
  std::map<wire::Kind, std::uint64_t> thinned;
  SampleThinner samples;
};

// Writes all of it or returns the errno.
int write_all(int fd, const void* bytes, std::size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t n = ::write(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return 0;
}

template <typename T>
T payload_of(std::span<const std::byte> record) {
  T value{};
  std::memcpy(&value, record.data() + sizeof(wire::RecordHeader),
              std::min(sizeof value, record.size() - sizeof(wire::RecordHeader)));
  return value;
}

}  // namespace

struct RunWriter::State {
  State(const RunWriterOptions& options, const base::Clock& run_clock)
      : folder(options.folder),
        clock(run_clock),
        budget(options.budget_bytes_per_minute),
        minute(run_clock.now_ns() / kMinuteNs) {}

  std::string folder;
  const base::Clock& clock;
  Budget budget;
  std::int64_t minute;
  std::map<std::string, File> files;  // by path inside the folder
  std::string error;
  std::uint64_t bytes_written = 0;

  void fail(int error_number, const std::string& what) {
    if (error.empty()) error = base::Error::system(error_number, what).message();
  }

  void write(File& file, const std::string& name, std::span<const std::byte> bytes) {
    if (!error.empty()) return;
    if (const int failed = write_all(file.fd.get(), bytes.data(), bytes.size()))
      return fail(failed, "cannot write " + folder + "/" + name);
    bytes_written += bytes.size();
    budget.spent(clock.now_ns(), bytes.size());
  }

  File* open(const std::string& name) {
    if (const auto it = files.find(name); it != files.end()) return &it->second;
    if (!error.empty()) return nullptr;
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    if (path.parent_path() != folder && ::mkdir(path.parent_path().c_str(), 0700) != 0 && errno != EEXIST) {
      fail(errno, "cannot make " + path.parent_path().string());
      return nullptr;
    }
    base::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd) {
      fail(errno, "cannot create " + path.string());
      return nullptr;
    }
    File& file = files[name];
    file.fd = std::move(fd);
    const FileHeader header{kFileMagic, wire::kVersion, 0};
    write(file, name, std::as_bytes(std::span(&header, 1)));
    return &file;
  }

  // False: the budget leaves this record out.
  bool wanted(File& file, wire::Kind kind, std::span<const std::byte> record) {
    if (kind != wire::Kind::kSample && kind != wire::Kind::kProfile) return true;
    const std::int64_t now = clock.now_ns();
    bool keep = budget.details_allowed(now);
    if (keep && kind == wire::Kind::kSample)
      keep = file.samples.keep(now, payload_of<wire::SampleRecord>(record).wall_ns);
    if (!keep) ++file.thinned[kind];
    return keep;
  }

  void append(const std::string& name, Thread thread, std::span<const std::byte> records) {
    File* file = open(name);
    if (file == nullptr) return;
    Pending& pending = file->pending[thread];
    if (pending.records.empty()) pending.since_ns = clock.now_ns();
    while (records.size() >= sizeof(wire::RecordHeader)) {
      wire::RecordHeader header;
      std::memcpy(&header, records.data(), sizeof header);
      // The writer of a ring is not trusted: after a damaged header nothing in this piece can be found.
      if (header.size < sizeof header || header.size % 8 != 0 || header.size > records.size()) return;
      const auto record = records.first(header.size);
      if (wanted(*file, header.kind, record))
        pending.records.insert(pending.records.end(), record.begin(), record.end());
      records = records.subspan(header.size);
    }
  }

  void say_what_was_thinned(File& file) {
    for (const auto& [kind, count] : file.thinned) {
      const struct {
        wire::RecordHeader header;
        wire::ThinnedRecord thinned;
      } record = {{wire::Kind::kThinned, sizeof record, 0}, {clock.now_ns(), kind, 0, 0, count}};
      const auto bytes = std::as_bytes(std::span(&record, 1));
      Pending& pending = file.pending[{0, 0}];
      pending.records.insert(pending.records.end(), bytes.begin(), bytes.end());
    }
    file.thinned.clear();
  }

  void flush(bool all) {
    const std::int64_t now = clock.now_ns();
    const bool minute_over = all || now / kMinuteNs != minute;
    minute = now / kMinuteNs;
    for (auto& [name, file] : files) {
      if (minute_over) say_what_was_thinned(file);
      for (auto it = file.pending.begin(); it != file.pending.end();) {
        Pending& pending = it->second;
        if (!all && pending.records.size() < kFrameBytes && now - pending.since_ns < kFrameAgeNs) {
          ++it;
          continue;
        }
        if (!pending.records.empty()) {
          std::vector<std::byte> frame;
          append_frame(it->first.first, it->first.second, pending.records, frame);
          write(file, name, frame);
        }
        it = file.pending.erase(it);
      }
    }
  }
};

base::Expected<RunWriter> RunWriter::create(const RunWriterOptions& options, const base::Clock& clock) {
  std::error_code failed;
  const std::filesystem::path parent = std::filesystem::path(options.folder).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, failed);
  if (::mkdir(options.folder.c_str(), 0700) != 0) {
    return std::unexpected(
        base::Error::system(errno, "cannot make the run folder " + options.folder + " (--out DIR chooses another)"));
  }
  return RunWriter(std::make_unique<State>(options, clock));
}

RunWriter::RunWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunWriter::RunWriter(RunWriter&&) noexcept = default;
RunWriter& RunWriter::operator=(RunWriter&&) noexcept = default;
RunWriter::~RunWriter() = default;

const std::string& RunWriter::folder() const {
  return state_->folder;
}
const std::string& RunWriter::error() const {
  return state_->error;
}
std::uint64_t RunWriter::bytes_written() const {
  return state_->bytes_written;
}

void RunWriter::append(std::int32_t rank, std::uint32_t pid, std::uint32_t tid, std::span<const std::byte> records) {
  const std::int32_t number = rank == wire::kUnknown32 || rank < 0 ? 0 : rank;
  state_->append(fmt::format("rank-{}/records.fbr", number), {pid, tid}, records);
}

void RunWriter::append_system(std::span<const std::byte> records) {
  state_->append("system.fbr", {0, 0}, records);
}

void RunWriter::flush(bool all) {
  state_->flush(all);
}

base::Expected<void> RunWriter::write_info(const RunInfo& info) {
  const std::string text = to_json(info);
  const std::string path = state_->folder + "/run.json";
  const std::string temporary = path + ".new";
  base::UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  int failed = fd ? write_all(fd.get(), text.data(), text.size()) : errno;
  if (failed == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) failed = errno;
  if (failed != 0) return std::unexpected(base::Error::system(failed, "cannot write " + path));
  return {};
}

}  // namespace fullbore::record
