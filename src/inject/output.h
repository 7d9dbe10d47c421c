// What the tracer says: records into the ring of its own thread, each name once. Libc only, nothing is allocated.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/gpu_records.h"
#include "wire/ring.h"
#include "wire/ring_maker.h"

namespace fullbore::inject {

std::int64_t monotonic_now_ns();

// Used by the tracer's thread alone. Before open() and after a refused one every call does nothing.
class Output {
 public:
  static constexpr std::size_t kLongestName = 255;  // of a mangled kernel; the rest is template arguments

  // Makes the calling thread's ring in `directory`. False: there is no place for it.
  bool open(const char* directory, std::uint64_t ring_bytes, std::int32_t rank);
  // Tells the collector that nothing more will come.
  void close();

  bool is_open() const { return file_.header != nullptr; }
  // The observation has ended.
  bool stopped() const { return is_open() && file_.header->stop.load(std::memory_order_relaxed) != 0; }
  // The collector is not keeping up: half of the ring has not been read.
  bool is_crowded() const {
    return is_open() &&
           file_.header->head.load(std::memory_order_relaxed) - file_.header->tail.load(std::memory_order_relaxed) >
               file_.header->capacity / 2;
  }
  // Records that found the ring full.
  std::uint64_t dropped() const { return is_open() ? file_.header->dropped.load(std::memory_order_relaxed) : 0; }

  template <typename T>
  void put(const T& record) {
    const struct {
      wire::RecordHeader header;
      T payload;
    } whole = {{wire::KindOf<T>::value, sizeof whole, 0}, record};
    write(&whole, sizeof whole);
  }
  // Id of a text, whose record goes out the first time; null is no name.
  wire::NameId name(const char* text);
  // Says once that a signal cannot be had.
  void missing(const char* signal, const char* why);

 private:
  static constexpr std::size_t kNamesKnown = 4096;  // beyond, a name is written again: the reader does not mind
  static constexpr std::size_t kMissingKnown = 16;

  void write(const void* bytes, std::uint64_t size);
  bool is_new_name(wire::NameId id);

  wire::MadeRing file_;
  wire::NameId names_[kNamesKnown] = {};
  std::size_t names_count_ = 0;
  wire::NameId missing_[kMissingKnown] = {};
  std::size_t missing_count_ = 0;
};

}  // namespace fullbore::inject
