// What went wrong, in one line a user can act on. Everything the outside world can refuse returns
// std::expected<T, Error>; exceptions are for nobody inside the library.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace fullbore::base {

// A message in the house form: lower case, names the object, the number and the way out.
class Error {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}

  // "MESSAGE: No such file or directory"
  static Error system(int error_number, std::string_view message);

  const std::string& message() const { return message_; }
  // 0 unless made by system().
  int error_number() const { return error_number_; }

 private:
  std::string message_;
  int error_number_ = 0;
};

template <typename T>
using Expected = std::expected<T, Error>;

inline std::unexpected<Error> fail(std::string message) {
  return std::unexpected(Error(std::move(message)));
}

}  // namespace fullbore::base
