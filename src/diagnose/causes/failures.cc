#include "diagnose/causes/failures.h"

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

}  // namespace fullbore::diagnose
