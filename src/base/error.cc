#include "base/error.h"

#include <system_error>

namespace fullbore::base {

Error Error::system(int error_number, std::string_view message) {
  Error error(std::string(message) + ": " + std::generic_category().message(error_number));
  error.error_number_ = error_number;
  return error;
}

}  // namespace fullbore::base
