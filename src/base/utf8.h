// Names of files are bytes; messages for Python must be UTF-8, or the error that a user sees is that one cannot be
// shown.
#pragma once

#include <string>
#include <string_view>

namespace fullbore::base {

// Bytes that are no UTF-8 become "\xNN".
std::string to_utf8(std::string_view bytes);

}  // namespace fullbore::base
