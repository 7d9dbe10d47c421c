// Records as bytes, both ways: appended with their header and padding, and walked one by one with every size checked.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "wire/records.h"

namespace fullbore::observe {

// `tail` follows the fixed part (text of a name, readings) and is padded to a multiple of 8.
template <typename T>
void append_record(std::vector<std::byte>& out, const T& record, std::span<const std::byte> tail = {}) {
  const std::size_t padded = (tail.size() + 7) & ~std::size_t{7};
  const std::size_t size = sizeof(wire::RecordHeader) + sizeof(T) + padded;
  const wire::RecordHeader header = {wire::KindOf<T>::value, static_cast<std::uint16_t>(size), 0};
  const std::size_t at = out.size();
  out.resize(at + size);
  std::memcpy(&out[at], &header, sizeof header);
  std::memcpy(&out[at + sizeof header], &record, sizeof record);
  if (!tail.empty()) std::memcpy(&out[at + sizeof header + sizeof record], tail.data(), tail.size());
}

// Text beyond wire::kMaxNameLength is cut off; the id is that of the text as cut.
inline wire::NameId append_name(std::vector<std::byte>& out, std::string_view text) {
  text = text.substr(0, wire::kMaxNameLength);
  const wire::NameRecord record = {wire::name_id(text.data(), text.size()), static_cast<std::uint32_t>(text.size()), 0};
  append_record(out, record, std::as_bytes(std::span(text)));
  return record.id;
}

// Calls visit(kind, payload) for each record; stops at the first one whose size makes no sense.
template <typename Visit>
void for_each_record(std::span<const std::byte> bytes, Visit visit) {
  while (bytes.size() >= sizeof(wire::RecordHeader)) {
    wire::RecordHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.size < sizeof header || header.size % 8 != 0 || header.size > bytes.size()) return;
    visit(header.kind, bytes.subspan(sizeof header, header.size - sizeof header));
    bytes = bytes.subspan(header.size);
  }
}

// False if the payload is too short for a T.
template <typename T>
bool read_record(std::span<const std::byte> payload, T& record) {
  if (payload.size() < sizeof record) return false;
  std::memcpy(&record, payload.data(), sizeof record);
  return true;
}

}  // namespace fullbore::observe
