#include "feed/image/index_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "feed/jpeg/testing/pictures.h"

namespace fullbore::image {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class IndexBuildTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = ::testing::TempDir() + "fullbore-build-XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    root_ = folder;
    fs::create_directory(root_ / "cat");
    for (std::uint32_t i = 0; i < 6; ++i) write(i, jpeg::testing::encode({.width = 200 + i, .height = 90}));
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path path(std::uint32_t number) const { return root_ / "cat" / (std::to_string(number) + ".jpg"); }
  void write(std::uint32_t number, const std::vector<std::uint8_t>& bytes) const {
    std::ofstream(path(number), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  IndexReport build(IndexBuildOptions options = {}) const {
    options.threads = 2;
    const auto report = build_index(root_.string(), options, [](std::uint64_t, std::uint64_t) {});
    EXPECT_TRUE(report) << report.error().message();
    return report.value_or(IndexReport{});
  }

  fs::path root_;
};

TEST_F(IndexBuildTest, MakesWhatIsNotThere) {
  const IndexReport first = build();
  EXPECT_EQ(first.added, 6u);
  EXPECT_EQ(first.path, (root_ / ".fullbore-index").string());
  EXPECT_EQ(first.index_bytes, fs::file_size(first.path));
  write(6, jpeg::testing::encode({.width = 100, .height = 90}));
  const IndexReport second = build();
  EXPECT_EQ(second.known, 6u);
  EXPECT_EQ(second.added, 1u);
}

TEST_F(IndexBuildTest, TellsKindsOfFilesApart) {
  write(0, jpeg::testing::encode({.width = 100, .height = 90, .progressive = true}));
  write(1, {0x89, 'P', 'N', 'G'});
  fs::resize_file(path(2), fs::file_size(path(2)) / 2);
  const IndexReport report = build();
  EXPECT_EQ(report.pictures, 6u);
  EXPECT_EQ(report.baseline, 3u);
  EXPECT_EQ(report.progressive, 1u);
  EXPECT_EQ(report.other, 1u);
  EXPECT_EQ(report.bad, 1u);
  EXPECT_THAT(report.first_bad, HasSubstr(path(2).string() + ": "));
}

TEST_F(IndexBuildTest, CheckingFindsWhatIsMissingAndWritesNothing) {
  build();
  const auto size = fs::file_size(root_ / ".fullbore-index");
  write(3, jpeg::testing::encode({.width = 203, .height = 90, .seed = 9}));
  const IndexReport report = build({.check = true});
  EXPECT_EQ(report.known, 5u);
  EXPECT_EQ(report.missing, 1u);
  EXPECT_EQ(report.wrong, 0u);
  EXPECT_EQ(fs::file_size(root_ / ".fullbore-index"), size);
}

TEST_F(IndexBuildTest, CheckingFindsCheckpointsOfAnotherPicture) {
  build();
  // The same size, time and bytes where the identity looks: byte 1500 lies between them in a file of this size.
  const auto time = fs::last_write_time(path(3));
  std::fstream file(path(3), std::ios::in | std::ios::out | std::ios::binary);
  ASSERT_GT(fs::file_size(path(3)), 4000u);
  const std::streamoff at = static_cast<std::streamoff>(fs::file_size(path(3)) * 9 / 16) + 8;
  file.seekg(at);
  const int byte = file.get();
  file.seekp(at).put(static_cast<char>(byte == 0x55 ? 0x2a : 0x55));
  file.close();
  fs::last_write_time(path(3), time);
  const IndexReport report = build({.check = true});
  EXPECT_EQ(report.known, 5u);
  EXPECT_EQ(report.wrong + report.bad, 1u);
}

TEST_F(IndexBuildTest, AnIndexThatCannotBeWrittenIsAnError) {
  const auto report = build_index(root_.string(), {.index = (root_ / "missing" / "index").string()},
                                  [](std::uint64_t, std::uint64_t) {});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message(), HasSubstr("cannot make"));
}

}  // namespace
}  // namespace fullbore::image
