#include "diagnose/causes/failures.h"

#include <fmt/format.h>

#include <algorithm>

namespace fullbore::diagnose {

const wire::FailureRecord* find_failure(const Situation& situation, std::optional<int> error_number,
                                        std::initializer_list<std::string_view> texts) {
  for (const auto& failure : situation.trainer->rank->failures) {
    if (error_number && failure.record.error_number == *error_number) return &failure.record;
    const std::string_view text = situation.run->name(failure.record.text);
    if (std::ranges::any_of(texts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; }))
      return &failure.record;
  }
  return nullptr;
}

std::string end_of_run(const Situation& situation) {
  const std::size_t steps = situation.iterations.all.size();
  return steps == 0 ? "the run ended before its first step" : fmt::format("the run ended at step {}", steps);
}

}  // namespace fullbore::diagnose
