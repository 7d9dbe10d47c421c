#include "cli/ceilings_command.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace fullbore::cli {
namespace {

const std::vector<gpu::DeviceCeilings> kTwo = {{"0000:18:00.0", "NVIDIA H200", {55.26, 10.44, 53.9}},
                                               {"0000:2a:00.0", "NVIDIA H200", {24.8, 9.1, 25.2}}};

TEST(CeilingsCommandTest, TheTableHasARowPerGpu) {
  EXPECT_EQ(ceilings_text(kTwo),
            "GB/s                                    pinned H2D  pageable H2D    pinned D2H\n"
            "0000:18:00.0  NVIDIA H200                     55.3          10.4          53.9\n"
            "0000:2a:00.0  NVIDIA H200                     24.8           9.1          25.2\n");
}

TEST(CeilingsCommandTest, JsonHasTheNamesOfTheRunFolder) {
  const auto json = nlohmann::json::parse(ceilings_json(kTwo, ""));
  EXPECT_EQ(json["schema"], "fullbore.ceilings/1");
  EXPECT_EQ(json["gpus"][1]["pageable_h2d_gb_per_s"], 9.1);
  EXPECT_TRUE(json["kept_in"].is_null());
}

}  // namespace
}  // namespace fullbore::cli
