// What a run says about its loader, as the replay needs it.
#pragma once

#include <cstddef>
#include <expected>
#include <string>

#include "diagnose/replay/loop.h"

namespace fullbore::diagnose {
struct Situation;
}

namespace fullbore::diagnose::replay {

// Of longer runs so many batches and steps are kept: stretches of kStretch in a row, evenly spread, so that an hour is
// replayed as fast as a minute and slow phases keep their weight.
inline constexpr std::size_t kKept = 600;
inline constexpr std::size_t kStretch = 20;

// The error says why this run cannot be replayed, as a whole clause: "the loop reads no torch DataLoader".
std::expected<Loop, std::string> record_loop(const Situation& situation);

// The positions kept of `count` in order.
std::vector<std::size_t> kept_positions(std::size_t count);

}  // namespace fullbore::diagnose::replay
