#include "inject/output.h"

#include <errno.h>
#include <string.h>
#include <time.h>

namespace fullbore::inject {

std::int64_t monotonic_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

bool Output::open(const char* directory, std::uint64_t ring_bytes, std::int32_t rank) {
  // A name that is taken is that of our own ring from before an exec.
  int error = EEXIST;
  for (std::uint32_t counter = 0; counter < 16 && error == EEXIST; ++counter) {
    error = wire::make_ring(directory, wire::ring_capacity(ring_bytes), rank, counter, &file_);
  }
  return error == 0;
}

void Output::close() {
  if (is_open()) file_.header->closed.store(1, std::memory_order_release);
}

void Output::write(const void* bytes, std::uint64_t size) {
  if (is_open()) wire::RingWriter(file_.header, file_.data).write(bytes, size);
}

bool Output::is_new_name(wire::NameId id) {
  std::size_t at = id % kNamesKnown;
  while (names_[at] != 0) {
    if (names_[at] == id) return false;
    at = (at + 1) % kNamesKnown;
  }
  if (names_count_ < kNamesKnown / 2) {
    names_[at] = id;
    ++names_count_;
  }
  return true;
}

wire::NameId Output::name(const char* text) {
  if (text == nullptr) return 0;
  const auto length = static_cast<std::uint32_t>(strnlen(text, kLongestName));
  const wire::NameId id = wire::name_id(text, length);
  if (id == 0 || !is_new_name(id)) return id;
  struct {
    wire::RecordHeader header;
    wire::NameRecord name;
    char text[kLongestName + 1];
  } record = {};
  const std::uint32_t padded = (length + 7u) & ~7u;
  const auto size = static_cast<std::uint16_t>(sizeof record.header + sizeof record.name + padded);
  record.header = {wire::Kind::kName, size, 0};
  record.name = {id, length, 0};
  memcpy(record.text, text, length);
  write(&record, size);
  return id;
}

void Output::missing(const char* signal, const char* why) {
  const wire::MissingRecord record = {monotonic_now_ns(), name(signal), name(why)};
  for (std::size_t i = 0; i < missing_count_; ++i) {
    if (missing_[i] == (record.signal ^ record.why)) return;
  }
  if (missing_count_ < kMissingKnown) missing_[missing_count_++] = record.signal ^ record.why;
  put(record);
}

}  // namespace fullbore::inject
