// A shared library opened at run time, so that one binary runs where it is and where it is not. Symbols are typed by
// the variable that takes them, declared `decltype(&prototype)`: a hand-written signature would drift from the header.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace fullbore::base {

// Owns the handle. Symbols are valid while this lives.
class DynamicLibrary {
 public:
  // The first of `names` that can be opened ("libcuda.so.1", or a path); the error has the loader's reason for each.
  static Expected<DynamicLibrary> open(const std::vector<std::string>& names);

  DynamicLibrary(DynamicLibrary&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), name_(std::move(other.name_)) {}
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;
  ~DynamicLibrary();

  const std::string& name() const { return name_; }

  // Fails if the library has no such symbol: what needs it cannot work.
  template <typename Function>
  Expected<void> require(Function*& function, const char* symbol) const {
    if (optional(function, symbol)) return {};
    return fail(name_ + " has no " + symbol + "; update the driver or package that it comes with");
  }

  // False, and `function` null, if the library has no such symbol (an older version).
  template <typename Function>
  bool optional(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(find(symbol));
    return function != nullptr;
  }

 private:
  DynamicLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  void* find(const char* symbol) const;

  void* handle_;
  std::string name_;
};

}  // namespace fullbore::base
