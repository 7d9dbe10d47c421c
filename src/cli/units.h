// Numbers with units as people type them on the command line.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace fullbore::cli {

base::Expected<std::int64_t> parse_duration_ns(std::string_view text);  // "60s", "5m", "1h", "500ms", "90"
base::Expected<std::uint64_t> parse_bytes(std::string_view text);       // "1GB", "500MB", "1GiB", "4096"
base::Expected<double> parse_price_per_hour(std::string_view text);     // "25/h", "25"

}  // namespace fullbore::cli
