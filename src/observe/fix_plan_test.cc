#include "observe/fix_plan.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace fullbore::observe {
namespace {

TEST(FixPlan, WritesWhatTheHookReads) {
  FixPlan plan;
  plan.mode = "run";
  plan.from = "/runs/a";
  plan.usable_cores = 2;
  plan.quota_cores = 1.5;
  plan.loaders = {{"/home/a/train.py", 41, {{"num_workers", "2"}, {"pin_memory", "True"}}}};
  const auto json = nlohmann::json::parse(to_json(plan));
  EXPECT_EQ(json["mode"], "run");
  EXPECT_EQ(json["quota_cores"], 1.5);
  EXPECT_EQ(json["loaders"][0]["line"], 41);
  EXPECT_EQ(json["loaders"][0]["settings"]["pin_memory"], "True");
}

TEST(FixPlan, SaysNullWhereALimitWasNotMeasured) {
  const auto json = nlohmann::json::parse(to_json({}));
  EXPECT_TRUE(json["shm_free"].is_null());
  EXPECT_TRUE(json["memory_available"].is_null());
  EXPECT_TRUE(json["loaders"].is_array());
}

}  // namespace
}  // namespace fullbore::observe
