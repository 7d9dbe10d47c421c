#include "observe/ring_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <bit>
#include <cerrno>
#include <utility>

#include "base/unique_fd.h"

namespace fullbore::observe {
namespace {

constexpr std::uint64_t kLargestRing = 64u << 20;
// Pages of a drained ring are given back to the page tables from here on: they count as ours otherwise, and 64 rings of
// 1 MiB would be all that the collector may use.
constexpr std::uint64_t kGiveBackFrom = 64u << 10;

// What is wrong with the header, "" if nothing.
std::string complaint(const wire::RingHeader& header, std::uint64_t file_bytes) {
  if (header.magic != wire::kRingMagic) return fmt::format("magic is {:#x}, not a ring", header.magic);
  if (header.version != wire::kVersion) {
    return fmt::format("record version {} (this is version {})", header.version, wire::kVersion);
  }
  const std::uint64_t capacity = header.capacity;
  if (!std::has_single_bit(capacity) || capacity > kLargestRing) return fmt::format("capacity is {}", capacity);
  if (wire::kRingDataOffset + capacity > file_bytes) {
    return fmt::format("capacity is {}, but the file has {} bytes", capacity, file_bytes);
  }
  if (header.pid == 0 || header.tid == 0) return "no process id";
  return "";
}

wire::RingHeader* header_of(void* mapping) {
  return static_cast<wire::RingHeader*>(mapping);
}
unsigned char* data_of(void* mapping) {
  return static_cast<unsigned char*>(mapping) + wire::kRingDataOffset;
}

}  // namespace

base::Expected<std::optional<RingFile>> RingFile::open(int directory_fd, const std::string& name) {
  base::UniqueFd fd(::openat(directory_fd, name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return std::unexpected(base::Error::system(errno, "cannot open ring " + name));
  struct stat status = {};
  if (::fstat(fd.get(), &status) != 0) return std::unexpected(base::Error::system(errno, "cannot stat ring " + name));
  if (!S_ISREG(status.st_mode)) return base::fail("ring " + name + " is not a regular file");
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes < wire::kRingDataOffset) return std::optional<RingFile>();
  if (bytes > wire::kRingDataOffset + kLargestRing) return base::fail(fmt::format("ring {} has {} bytes", name, bytes));
  void* mapping = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (mapping == MAP_FAILED) return std::unexpected(base::Error::system(errno, "cannot map ring " + name));
  const wire::RingHeader& header = *header_of(mapping);
  const std::string wrong = header.magic == 0 ? "" : complaint(header, bytes);
  if (header.magic == 0 || !wrong.empty()) {
    ::munmap(mapping, bytes);
    if (wrong.empty()) return std::optional<RingFile>();
    return base::fail("ring " + name + ": " + wrong);
  }
  return std::optional<RingFile>(RingFile(name, mapping, bytes, header.capacity));
}

RingFile::RingFile(std::string name, void* mapping, std::uint64_t mapped_bytes, std::uint64_t capacity)
    : name_(std::move(name)),
      mapping_(mapping),
      mapped_bytes_(mapped_bytes),
      capacity_(capacity),
      pid_(header_of(mapping)->pid),
      tid_(header_of(mapping)->tid),
      rank_(header_of(mapping)->rank),
      start_ticks_(header_of(mapping)->process_start_ticks),
      reader_(header_of(mapping), data_of(mapping), capacity) {}

RingFile::RingFile(RingFile&& other) noexcept
    : name_(std::move(other.name_)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_bytes_(other.mapped_bytes_),
      capacity_(other.capacity_),
      pid_(other.pid_),
      tid_(other.tid_),
      rank_(other.rank_),
      start_ticks_(other.start_ticks_),
      reader_(other.reader_) {}

RingFile::~RingFile() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapped_bytes_);
}

std::span<const std::byte> RingFile::drain(std::vector<std::byte>& buffer) {
  // The producer publishes whole records only and never more than the capacity: with room for all of it, nothing is
  // cut.
  if (buffer.size() < capacity_) buffer.resize(capacity_);
  const std::uint64_t bytes = reader_.read(buffer.data(), buffer.size());
  if (bytes >= kGiveBackFrom) ::madvise(data_of(mapping_), capacity_, MADV_DONTNEED);
  return {buffer.data(), bytes};
}

}  // namespace fullbore::observe
