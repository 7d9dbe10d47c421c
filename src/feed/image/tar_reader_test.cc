#include "feed/image/tar_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feed/image/testing/tars.h"

namespace fullbore::image {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::mend_checksum;
using testing::tar_end;
using testing::tar_member;

struct Read {
  std::vector<std::string> members;  // "NAME: CONTENT"
  std::optional<TarError> error;
};

Read read(std::string_view tar) {
  TarReader reader = testing::read_from(tar);
  Read all;
  for (;;) {
    const auto member = reader.next();
    if (!member) {
      all.error = member.error();
      return all;
    }
    if (!*member) return all;
    if (!(*member)->is_file) continue;
    EXPECT_LE((*member)->offset + (*member)->size, tar.size());
    all.members.push_back((*member)->name + ": " + *reader.text(**member));
  }
}

// Another type or field of the member that begins at `at`.
std::string changed(std::string tar, std::size_t at, std::size_t field, std::string_view value) {
  tar.replace(at + field, value.size(), value);
  mend_checksum(tar, at);
  return tar;
}

TEST(TarReaderTest, MembersComeWithTheirContent) {
  const Read all =
      read(tar_member("a/1.jpg", "one") + tar_member("a/1.cls", "") + tar_member("b.jpg", "two") + tar_end());
  EXPECT_FALSE(all.error);
  EXPECT_THAT(all.members, ElementsAre("a/1.jpg: one", "a/1.cls: ", "b.jpg: two"));
}

TEST(TarReaderTest, TheEndIsZerosOrTheEndOfTheFile) {
  const std::string one = tar_member("a.jpg", "one");
  for (const std::string& end :
       {std::string(), std::string(512, '\0'), tar_end() + tar_member("b.jpg", "not reached")}) {
    const Read all = read(one + end);
    EXPECT_FALSE(all.error);
    EXPECT_THAT(all.members, ElementsAre("a.jpg: one"));
  }
  EXPECT_TRUE(read(tar_end()).members.empty());
}

TEST(TarReaderTest, ALongNameComesFromPaxOrGnu) {
  const std::string name(300, 'n');
  EXPECT_THAT(read(tar_member(name, "x") + tar_end()).members, ElementsAre(name + ": x"));
  const std::string gnu = changed(tar_member("././@LongLink", name + '\0'), 0, 156, "L");
  EXPECT_THAT(read(gnu + tar_member("short", "x") + tar_member("next", "y")).members,
              ElementsAre(name + ": x", "next: y"));
}

TEST(TarReaderTest, APrefixIsPartOfTheNameInPosixFormOnly) {
  const std::string posix = changed(tar_member("1.jpg", "x"), 0, 345, "folder");
  EXPECT_THAT(read(posix).members, ElementsAre("folder/1.jpg: x"));
  const std::string gnu = changed(posix, 0, 257, std::string_view("ustar  \0", 8));
  EXPECT_THAT(read(gnu).members, ElementsAre("1.jpg: x"));
}

TEST(TarReaderTest, ASizeMayBeBinaryOrInAPaxHeader) {
  const std::string binary("\x80\0\0\0\0\0\0\0\0\0\0\x03", 12);
  EXPECT_THAT(read(changed(tar_member("a", "one"), 0, 124, binary)).members, ElementsAre("a: one"));
  const std::string pax = changed(tar_member("pax", "10 size=3\n"), 0, 156, "x");
  const std::string wrong = changed(tar_member("a", "one"), 0, 124, "00000000000");
  EXPECT_THAT(read(pax + wrong + tar_member("b", "two")).members, ElementsAre("a: one", "b: two"));
  const std::string negative("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x03", 12);
  EXPECT_THAT(read(changed(tar_member("a", "one"), 0, 124, negative)).error->message, HasSubstr("size is no number"));
}

TEST(TarReaderTest, FoldersAndLinksHaveNoContentWhateverTheirSize) {
  const std::string folder = changed(tar_member("d/", ""), 0, 156, "5");
  const std::string link = changed(changed(tar_member("l.jpg", ""), 0, 156, "2"), 0, 124, "00000001000");
  EXPECT_THAT(read(folder + link + tar_member("a", "x")).members, ElementsAre("a: x"));
}

TEST(TarReaderTest, AnArchiveCutShortNamesTheMemberAndTheByte) {
  const std::string tar = tar_member("a.jpg", "one") + tar_member("b.jpg", std::string(2000, 'b'));
  const Read inside = read(std::string_view(tar).substr(0, 2000));
  EXPECT_THAT(inside.members, ElementsAre("a.jpg: one"));
  ASSERT_TRUE(inside.error);
  EXPECT_EQ(inside.error->kind, TarError::Kind::kCut);
  EXPECT_EQ(inside.error->offset, 1024u);
  EXPECT_EQ(inside.error->member->name, "b.jpg");
  EXPECT_EQ(inside.error->message, "a member of 2000 bytes, of which the archive has 464: it was cut short");
  const Read header = read(std::string_view(tar).substr(0, 1200));
  EXPECT_EQ(header.error->kind, TarError::Kind::kDamaged);
  EXPECT_THAT(header.error->message, HasSubstr("in the middle of a header, at byte 1200"));
}

TEST(TarReaderTest, AWrongChecksumEndsWhatIsRead) {
  std::string tar = tar_member("a.jpg", "one") + tar_member("b.jpg", "two") + tar_end();
  tar[1024] = 'c';
  const Read all = read(tar);
  EXPECT_THAT(all.members, ElementsAre("a.jpg: one"));
  EXPECT_EQ(all.error->kind, TarError::Kind::kDamaged);
  EXPECT_EQ(all.error->offset, 1024u);
  EXPECT_THAT(all.error->message, HasSubstr("checksum is wrong"));
}

TEST(TarReaderTest, WhatIsNoTarIsRefusedByName) {
  const auto refusal = [](std::string start) {
    start.resize(1024, 'x');
    const Read all = read(start);
    EXPECT_EQ(all.error->kind, TarError::Kind::kNotATar);
    return all.error->message;
  };
  EXPECT_THAT(refusal("\x1f\x8b"), HasSubstr("gzip"));
  EXPECT_THAT(refusal("\x28\xb5\x2f\xfd"), HasSubstr("zstd"));
  EXPECT_THAT(refusal("PK\3\4"), HasSubstr("a zip archive"));
  EXPECT_THAT(refusal("anything"), HasSubstr("not a tar archive"));
  EXPECT_THAT(read("\x1f\x8bshort").error->message, HasSubstr("gzip"));
  const Read gnu_sparse = read(changed(tar_member("s.jpg", "x"), 0, 156, "S"));
  EXPECT_THAT(gnu_sparse.error->message, HasSubstr("sparse"));
  const std::string pax = changed(tar_member("pax", "22 GNU.sparse.major=1\n"), 0, 156, "x");
  EXPECT_EQ(read(pax + tar_member("s.jpg", "x")).error->kind, TarError::Kind::kNotATar);
}

TEST(TarReaderTest, APaxHeaderThatMakesNoSenseIsDamage) {
  for (const char* records :
       {"path=a\n", "99 path=a\n", "5 a=b", "0 path=a\n", "9 size=x\n", "18446744073709551616 a=b\n"}) {
    const Read all = read(changed(tar_member("pax", records), 0, 156, "x") + tar_member("a", "x"));
    ASSERT_TRUE(all.error) << records;
    EXPECT_EQ(all.error->kind, TarError::Kind::kDamaged) << records;
  }
}

TEST(TarReaderTest, HugeSizesDoNotWrapAround) {
  const std::string huge("\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12);
  EXPECT_EQ(read(changed(tar_member("a", "one"), 0, 124, huge)).error->kind, TarError::Kind::kCut);
  const std::string pax = changed(tar_member("pax", "29 size=18446744073709551615\n"), 0, 156, "x");
  EXPECT_EQ(read(pax + tar_member("a", "x")).error->kind, TarError::Kind::kCut);
}

TEST(TarReaderTest, TheKeyEndsAtTheFirstDotOfTheBaseName) {
  const auto split = [](std::string_view name) {
    const auto parts = split_member_name(name);
    return parts ? std::string(parts->key) + " | " + std::string(parts->extension) : "-";
  };
  EXPECT_EQ(split("a.b/001.seg.png"), "a.b/001 | seg.png");
  EXPECT_EQ(split("001.jpg"), "001 | jpg");
  EXPECT_EQ(split("a/._001.jpg"), "-");
  EXPECT_EQ(split("a.b/README"), "-");
}

}  // namespace
}  // namespace fullbore::image
