#include "base/dynamic_library.h"

#include <dlfcn.h>

namespace fullbore::base {

Expected<DynamicLibrary> DynamicLibrary::open(const std::vector<std::string>& names) {
  std::string reasons;
  for (const std::string& name : names) {
    // Local: a vendor library must not lend its symbols to others. Now: a missing need shows here, not in a later call.
    if (void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return DynamicLibrary(handle, name);
    const char* reason = ::dlerror();
    reasons += (reasons.empty() ? "" : "; ") + std::string(reason == nullptr ? name + ": unknown reason" : reason);
  }
  return fail("cannot open " + reasons);
}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(name_, other.name_);
  return *this;
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void* DynamicLibrary::find(const char* symbol) const {
  return ::dlsym(handle_, symbol);
}

}  // namespace fullbore::base
