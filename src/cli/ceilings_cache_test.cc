#include "cli/ceilings_cache.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace fullbore::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr const char* kFirst = "/proc/driver/nvidia/gpus/0000:18:00.0/information";
constexpr const char* kSecond = "/proc/driver/nvidia/gpus/0000:2a:00.0/information";

class CeilingsCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "fullbore-ceilings-XXXXXX").string();
    directory_ = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  static KeptCeilings measured(const std::string& pci_bus_id, double rate) {
    return {pci_bus_id, "NVIDIA H200", "2026-11-30T16:00:00Z", {{"pinned_h2d_gb_per_s", rate}}};
  }
  std::map<std::string, double> known(const char* visible = nullptr) const {
    return known_ceilings(path(), files_, visible);
  }
  std::string path() const { return directory_ / "deeper/ceilings.json"; }

  std::filesystem::path directory_;
  base::InMemoryFiles files_{{{"/etc/machine-id", "0123\n"},
                              {"/proc/driver/nvidia/version", "NVRM version: 580.159\nGCC version: 12\n"},
                              {kFirst, "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-aaaa\nBus Type: PCIe\n"},
                              {kSecond, "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-bbbb\n"}}};
};

TEST_F(CeilingsCacheTest, WhatWasMeasuredIsKnownToLaterRuns) {
  EXPECT_THAT(known(), IsEmpty());
  ASSERT_TRUE(keep_ceilings(path(), {measured("0000:18:00.0", 55)}, files_));
  EXPECT_THAT(known(), ElementsAre(Pair("pinned_h2d_gb_per_s", 55)));
}

TEST_F(CeilingsCacheTest, MeasuredAgainTheNewValueHoldsAndOthersStay) {
  ASSERT_TRUE(keep_ceilings(path(), {measured("0000:18:00.0", 55), measured("0000:2a:00.0", 25)}, files_));
  ASSERT_TRUE(keep_ceilings(path(), {measured("0000:18:00.0", 50)}, files_));
  EXPECT_THAT(known(), ElementsAre(Pair("pinned_h2d_gb_per_s", 50)));
  EXPECT_THAT(known("1"), ElementsAre(Pair("pinned_h2d_gb_per_s", 25)));
}

TEST_F(CeilingsCacheTest, TheFirstVisibleGpuCounts) {
  ASSERT_TRUE(keep_ceilings(path(), {measured("0000:18:00.0", 55), measured("0000:2a:00.0", 25)}, files_));
  EXPECT_THAT(known("GPU-bb"), ElementsAre(Pair("pinned_h2d_gb_per_s", 25)));
  EXPECT_THAT(known(""), IsEmpty());
}

TEST_F(CeilingsCacheTest, AnotherDriverHostOrGpuInTheSlotIsNotKnown) {
  ASSERT_TRUE(keep_ceilings(path(), {measured("0000:18:00.0", 55)}, files_));
  const auto differs = [&](const std::string& file, const std::string& text) {
    base::InMemoryFiles before = files_;
    files_.set(file, text);
    const bool unknown = known("0").empty();
    files_ = before;
    return unknown;
  };
  EXPECT_TRUE(differs("/proc/driver/nvidia/version", "NVRM version: 590.1\n"));
  EXPECT_TRUE(differs("/etc/machine-id", "4567\n"));
  EXPECT_TRUE(differs(kFirst, "GPU UUID: GPU-cccc\n"));
  EXPECT_FALSE(known("0").empty());
}

TEST_F(CeilingsCacheTest, ADamagedFileIsWrittenAnew) {
  std::filesystem::create_directories(std::filesystem::path(path()).parent_path());
  for (const char* text : {"{", "[]", R"({"gpus": 3})", R"({"gpus": [7, {"host": 1}]})"}) {
    std::ofstream(path()) << text;
    EXPECT_THAT(known(), IsEmpty()) << text;
    ASSERT_TRUE(keep_ceilings(path(), {measured("0000:18:00.0", 55)}, files_));
    EXPECT_THAT(known(), ElementsAre(Pair("pinned_h2d_gb_per_s", 55))) << text;
  }
}

TEST_F(CeilingsCacheTest, AFolderThatCannotBeMadeIsNamed) {
  const auto kept = keep_ceilings("/proc/no/ceilings.json", {measured("0000:18:00.0", 55)}, files_);
  ASSERT_FALSE(kept);
  EXPECT_THAT(kept.error().message(), HasSubstr("cannot write /proc/no/ceilings.json"));
}

}  // namespace
}  // namespace fullbore::cli
