// Errors that ended a loader, as its processes recorded them.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "diagnose/situation.h"

namespace fullbore::diagnose {

// The first failure of this rank with that errno, or with one of these texts in its message; nullptr if there is none.
const wire::FailureRecord* find_failure(const Situation& situation, std::optional<int> error_number,
                                        std::initializer_list<std::string_view> texts);

// What such an error cost: "the run ended at step 41".
std::string end_of_run(const Situation& situation);

}  // namespace fullbore::diagnose
