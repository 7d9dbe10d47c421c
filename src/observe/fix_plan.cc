#include "observe/fix_plan.h"

#include <nlohmann/json.hpp>

namespace fullbore::observe {
namespace {

template <typename T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace

std::string to_json(const FixPlan& plan) {
  nlohmann::json loaders = nlohmann::json::array();
  for (const FixPlan::Loader& loader : plan.loaders) {
    loaders.push_back({{"file", loader.file}, {"line", loader.line}, {"settings", loader.settings}});
  }
  const nlohmann::json json = {{"mode", plan.mode},
                               {"from", plan.from},
                               {"usable_cores", plan.usable_cores},
                               {"quota_cores", or_null(plan.quota_cores)},
                               {"shm_free", or_null(plan.shm_free_bytes)},
                               {"memory_available", or_null(plan.memory_available_bytes)},
                               {"loaders", loaders}};
  // Paths need not be UTF-8; a replaced character beats no file at all.
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace fullbore::observe
