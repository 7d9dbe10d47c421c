#include "observe/series_encoder.h"

#include <algorithm>
#include <cmath>

#include "observe/record_bytes.h"

namespace fullbore::observe {
namespace {

// A record's size is 16 bits.
constexpr std::size_t kMostReadings = 4000;

}  // namespace

void SeriesEncoder::gauge(std::string_view metric, std::string_view label, std::string_view unit, double value) {
  put(wire::SeriesKind::kGauge, metric, label, unit, value);
}

void SeriesEncoder::counter(std::string_view metric, std::string_view label, std::string_view unit, double value) {
  put(wire::SeriesKind::kCounter, metric, label, unit, value);
}

void SeriesEncoder::missing(std::string_view signal, std::string_view why) {
  const auto same = [&](const auto& known) { return known.first == signal; };
  if (std::ranges::none_of(missing_, same)) missing_.emplace_back(signal, why);
}

void SeriesEncoder::put(wire::SeriesKind kind, std::string_view metric, std::string_view label, std::string_view unit,
                        double value) {
  const auto [it, is_new] = series_.try_emplace({std::string(metric), std::string(label)},
                                                Series{static_cast<std::uint32_t>(series_.size()), value});
  if (is_new) {
    const wire::SeriesRecord record = {it->second.number, kind, introduce_name(metric), introduce_name(label),
                                       introduce_name(unit)};
    append_record(introductions_, record);
  } else if (it->second.last == value || (std::isnan(it->second.last) && std::isnan(value))) {
    return;
  }
  it->second.last = value;
  changed_.push_back({it->second.number, 0, value});
}

wire::NameId SeriesEncoder::introduce_name(std::string_view text) {
  const wire::NameId id = wire::name_id(text.data(), text.size());
  if (id == 0 || !names_.insert(id).second) return id;
  return append_name(introductions_, text);
}

std::span<const std::byte> SeriesEncoder::take(std::int64_t now_ns) {
  taken_.clear();
  taken_.swap(introductions_);
  for (std::span<const wire::Reading> rest = changed_; !rest.empty();) {
    const auto part = rest.first(std::min(rest.size(), kMostReadings));
    const wire::ReadingsRecord record = {now_ns, static_cast<std::uint32_t>(part.size()), 0};
    append_record(taken_, record, std::as_bytes(part));
    rest = rest.subspan(part.size());
  }
  changed_.clear();
  return taken_;
}

}  // namespace fullbore::observe
