#include "report/json.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "report/testing/sample.h"

namespace fullbore::report {
namespace {

nlohmann::json parsed(const diagnose::Diagnosis& d) {
  return nlohmann::json::parse(to_json(d));
}

nlohmann::json schema() {
  std::ifstream file(FULLBORE_SOURCE_DIR "/docs/report.schema.json");
  return nlohmann::json::parse(file);
}

TEST(Json, GivesTheVerdictAndItsCause) {
  const auto json = parsed(testing::no_workers_run());
  EXPECT_EQ(json["schema"], "fullbore.report/1");
  EXPECT_EQ(json["verdict"]["cause"], "no_workers");
  EXPECT_EQ(json["verdict"]["severity"], "critical");
  EXPECT_EQ(json["causes"][0]["where"]["line"], 41);
  EXPECT_EQ(json["causes"][0]["fix"]["settings"][1]["after"], "True");
  EXPECT_DOUBLE_EQ(json["causes"][0]["gain"]["max"], 2.577);
}

TEST(Json, WritesNullForWhatWasNotMeasured) {
  const auto json = parsed(testing::no_workers_run());
  EXPECT_TRUE(json["account"]["gpu_compute"].is_null());
  EXPECT_TRUE(json["causes"][0]["gain"]["predicted"].is_null());
  EXPECT_TRUE(json["system"]["disk"]["read_mb_per_s"].is_null());
  EXPECT_TRUE(json["system"]["shm"].is_null());
  EXPECT_TRUE(json["gpu"].is_null());
  EXPECT_TRUE(json["copies"].is_null());
  EXPECT_TRUE(json["signal"].is_null());
}

TEST(Json, HoldsTheDeviceWhereItWasTraced) {
  const auto json = parsed(testing::traced_run());
  EXPECT_DOUBLE_EQ(json["gpu"][0]["busy"], 0.62);
  EXPECT_DOUBLE_EQ(json["gpu"][0]["gaps"]["1_to_10_ms"], 0.35);
  EXPECT_DOUBLE_EQ(json["copies"]["h2d_ms_per_batch"], 2.5);
  EXPECT_TRUE(json["copies"]["pageable"]["gb_per_s"].is_null()) << "nothing was copied out of pageable memory";
}

TEST(Json, KeepsAMeasuredZero) {
  const auto json = parsed(testing::no_workers_run());
  EXPECT_EQ(json["loader"]["workers"], 0);
  EXPECT_EQ(json["exit_code"], 0);
  EXPECT_EQ(json["loader"]["pin_memory"], false);
}

TEST(Json, HasNoStepWhereNothingWasJudged) {
  const auto json = parsed(testing::short_run());
  EXPECT_TRUE(json["step_ms"]["steady"].is_null());
  EXPECT_TRUE(json["steps"]["mean_ms"].is_null());
}

TEST(Json, HasEveryKeyOfTheSchemaHoweverLittleWasSeen) {
  const auto json = parsed(testing::short_run());
  const auto rules = schema();
  for (const auto& key : rules["required"]) EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json.size(), rules["properties"].size());
}

TEST(Json, RoundsToSixDigitsAndKeepsInfinityOut) {
  auto d = testing::no_workers_run();
  d.steps.mean_ms = 163.23456789;
  d.steps.p99_ms = std::numeric_limits<double>::infinity();
  const std::string text = to_json(d);
  EXPECT_NE(text.find("\"mean_ms\": 163.235,"), std::string::npos);
  EXPECT_NE(text.find("\"p99_ms\": null,"), std::string::npos);
}

TEST(Json, SurvivesTextThatIsNotUtf8) {
  auto d = testing::no_workers_run();
  d.loop_lines[0].where.code = "s = '\xff'";
  EXPECT_EQ(parsed(d)["lines"][0]["code"], "s = '\xEF\xBF\xBD'");
}

TEST(Json, NamesThePiecesOfOther) {
  EXPECT_EQ(parsed(testing::no_workers_run())["account"]["other"]["named"][0]["name"], "copy call");
}

}  // namespace
}  // namespace fullbore::report
