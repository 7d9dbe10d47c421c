#include "record/frame.h"

#include <gmock/gmock.h>

#include <cstring>

#include "wire/records.h"

namespace fullbore::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto span = std::as_bytes(std::span(text));
  return {span.begin(), span.end()};
}

std::vector<std::byte> file_of(const std::vector<std::string>& frames) {
  const FileHeader header{kFileMagic, wire::kVersion, 0};
  const auto span = std::as_bytes(std::span(&header, 1));
  std::vector<std::byte> file(span.begin(), span.end());
  for (std::uint32_t i = 0; i < frames.size(); ++i) append_frame(7, i, bytes_of(frames[i]), file);
  return file;
}

struct Read {
  std::vector<std::string> texts;
  std::vector<std::string> damage;
};

Read read(std::span<const std::byte> content) {
  Read result;
  auto damage = read_frames(content, [&](const Frame& frame) {
    EXPECT_EQ(frame.pid, 7u);
    result.texts.emplace_back(reinterpret_cast<const char*>(frame.records.data()), frame.records.size());
  });
  EXPECT_TRUE(damage) << damage.error().message();
  result.damage = damage.value_or(std::vector<std::string>{});
  return result;
}

TEST(FrameTest, ComesBackAsWritten) {
  const Read result = read(file_of({"first", "", std::string(100'000, 'x')}));
  EXPECT_THAT(result.texts, ElementsAre("first", "", std::string(100'000, 'x')));
  EXPECT_THAT(result.damage, IsEmpty());
}

TEST(FrameTest, AFileCutAtAnyByteIsReadableUpToThere) {
  const std::vector<std::byte> whole = file_of({"first", "second", "third"});
  std::size_t frames_before = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Read result = read(std::span(whole).first(length));
    ASSERT_GE(result.texts.size(), frames_before) << "cut at " << length;
    ASSERT_TRUE(result.damage.size() <= 1) << "cut at " << length;
    frames_before = result.texts.size();
  }
  EXPECT_EQ(frames_before, 2u);
}

TEST(FrameTest, ADamagedByteCostsItsFrameAlone) {
  std::vector<std::byte> file = file_of({"first", "second", "third"});
  const auto where = file.size() / 2;
  file[where] ^= std::byte{0x10};
  const Read result = read(file);
  EXPECT_THAT(result.texts, SizeIs(2));
  ASSERT_THAT(result.damage, SizeIs(1));
  EXPECT_THAT(result.damage[0], HasSubstr("damaged from byte"));
}

TEST(FrameTest, RefusesAForeignFileAndANewerVersion) {
  std::vector<std::byte> file = file_of({"x"});
  const std::uint32_t newer = wire::kVersion + 1;
  std::memcpy(file.data() + offsetof(FileHeader, version), &newer, sizeof newer);
  const auto ignore = [](const Frame&) {};
  EXPECT_THAT(read_frames(file, ignore).error().message(), HasSubstr("written by another Fullbore"));
  file[0] = std::byte{0};
  EXPECT_THAT(read_frames(file, ignore).error().message(), HasSubstr("not a Fullbore record file"));
}

}  // namespace
}  // namespace fullbore::record
