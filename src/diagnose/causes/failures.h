// Errors that ended a loader, as its processes recorded them.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "diagnose/situation.h"

namespace fullbore::diagnose {

// The first failure of this rank with that errno, or with one of these texts in its message; nullptr if there is none.
const wire::FailureRecord* find_failure(const Situation& situation, std::optional<int> error_number,
                                        std::initializer_list<std::string_view> texts);

}  // namespace fullbore::diagnose
