#include "observe/samplers/tree_io.h"

#include <gmock/gmock.h>

#include "observe/samplers/denying_files.h"
#include "observe/samplers/recorded_readings.h"

namespace fullbore::observe {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

std::string stat(int pid, int parent) {
  return std::to_string(pid) + " (python) S " + std::to_string(parent) +
         " 0 0 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0 0\n";
}

std::string io(int chars, int read) {
  return "rchar: " + std::to_string(chars) + "\nwchar: 1\nsyscr: 10\nsyscw: 0\nread_bytes: " + std::to_string(read) +
         "\nwrite_bytes: 8\ncancelled_write_bytes: 0\n";
}

TEST(TreeIoTest, SumsTheTree) {
  base::InMemoryFiles files(Texts{{"/proc/7/stat", stat(7, 1)},
                                  {"/proc/7/io", io(100, 40)},
                                  {"/proc/8/stat", stat(8, 7)},
                                  {"/proc/8/io", io(1000, 400)}});
  RecordedReadings out;
  TreeIoSampler(files).sample({7, {7, 8}, {}, {}}, 0, out);
  EXPECT_THAT(out.value("tree.read_chars"), Optional(1100.0));
  EXPECT_THAT(out.value("tree.read_bytes"), Optional(440.0));
  EXPECT_THAT(out.value("tree.write_bytes"), Optional(16.0));
  EXPECT_THAT(out.value("tree.read_calls"), Optional(20.0));
  EXPECT_THAT(out.all_missing(), IsEmpty());
}

TEST(TreeIoTest, AnEndedWorkersBytesStay) {
  base::InMemoryFiles files(Texts{{"/proc/7/stat", stat(7, 1)},
                                  {"/proc/7/io", io(100, 40)},
                                  {"/proc/8/stat", stat(8, 7)},
                                  {"/proc/8/io", io(1000, 400)}});
  RecordedReadings out;
  TreeIoSampler sampler(files);
  sampler.sample({7, {7, 8}, {}, {}}, 0, out);
  files.remove("/proc/8/stat");
  files.remove("/proc/8/io");
  sampler.sample({7, {7, 8}, {}, {}}, 1, out);
  EXPECT_THAT(out.value("tree.read_bytes"), Optional(440.0));
  files.set("/proc/7/io", io(1100, 440));  // waited for: the kernel added them to the parent
  sampler.sample({7, {7}, {}, {}}, 2, out);
  EXPECT_THAT(out.value("tree.read_bytes"), Optional(440.0));
}

TEST(TreeIoTest, AnotherUsersProcessIsLeftOutByName) {
  DenyingFiles files({{"/proc/7/stat", stat(7, 1)}, {"/proc/7/io", io(100, 40)}, {"/proc/8/stat", stat(8, 7)}},
                     {"/proc/8/io"});
  RecordedReadings out;
  TreeIoSampler(files).sample({7, {7, 8}, {}, {}}, 0, out);
  EXPECT_THAT(out.value("tree.read_bytes"), Optional(40.0));
  EXPECT_THAT(out.why("tree.io"), AllOf(HasSubstr("process 8 (python)"), HasSubstr("Permission denied")));
}

TEST(TreeIoTest, NothingReadableIsMissingNotZero) {
  DenyingFiles files({{"/proc/7/stat", stat(7, 1)}}, {"/proc/7/io"});
  RecordedReadings out;
  TreeIoSampler(files).sample({7, {7}, {}, {}}, 0, out);
  EXPECT_THAT(out.values(), IsEmpty());
  EXPECT_NE(out.why("tree.io"), "");
}

TEST(TreeIoTest, GarbageIsMissingNotZero) {
  for (const char* text : {"", "rchar: x\n", "rchar: 1\nsyscr: 2\nread_bytes:\n"}) {
    base::InMemoryFiles files(Texts{{"/proc/7/stat", stat(7, 1)}, {"/proc/7/io", text}});
    RecordedReadings out;
    TreeIoSampler(files).sample({7, {7}, {}, {}}, 0, out);
    EXPECT_THAT(out.values(), IsEmpty()) << text;
    EXPECT_NE(out.why("tree.io"), "") << text;
  }
}

}  // namespace
}  // namespace fullbore::observe
