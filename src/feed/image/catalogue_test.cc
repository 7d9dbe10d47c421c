#include "feed/image/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "feed/image/file_list.h"
#include "feed/image/image_folder.h"

namespace fullbore::image {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNan;

class CatalogueTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_); }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text = "x") {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  std::string at(const std::string& name) const { return (root_ / name).string(); }

  fs::path root_ = fs::temp_directory_path() / (std::string("fullbore-catalogue-") + std::to_string(::getpid()) + "-" +
                                                ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

std::vector<std::string> names(const Catalogue& catalogue) {
  std::vector<std::string> result;
  for (std::uint64_t i = 0; i < catalogue.size(); ++i)
    result.push_back(std::to_string(catalogue.label(i)) + " " + std::string(catalogue.name(i)));
  return result;
}

TEST_F(CatalogueTest, AFolderIsReadInTorchvisionsOrder) {
  write("b/2.JPG");
  write("b/10.png");
  write("b/notes.txt");
  write("B/x.webp");
  write("b/sub/x/1.jpeg");
  write("b/sub-1/1.jpeg");
  write("loose.jpg");
  for (const int threads : {1, 4}) {
    const auto catalogue = list_image_folder(root_, threads);
    ASSERT_TRUE(catalogue) << catalogue.error().message();
    EXPECT_THAT(names(*catalogue),
                ElementsAre("0 B/x.webp", "1 b/10.png", "1 b/2.JPG", "1 b/sub-1/1.jpeg", "1 b/sub/x/1.jpeg"));
    EXPECT_THAT(catalogue->classes(), ElementsAre("B", "b"));
    std::string path;
    catalogue->path(0, path);
    EXPECT_EQ(path, at("B/x.webp"));
  }
}

TEST_F(CatalogueTest, LinksAreFollowedButNotRoundAndRound) {
  write("elsewhere/1.jpg");
  write("set/a/0.jpg");
  fs::create_symlink(root_ / "elsewhere", root_ / "set/b");
  fs::create_symlink("nowhere.jpg", root_ / "set/a/dangling.jpg");
  const auto catalogue = list_image_folder(at("set"), 1);
  ASSERT_TRUE(catalogue);
  EXPECT_THAT(names(*catalogue), ElementsAre("0 a/0.jpg", "0 a/dangling.jpg", "1 b/1.jpg"));
  fs::create_symlink(root_ / "set/a", root_ / "set/a/again");
  const auto loop = list_image_folder(at("set"), 1);
  ASSERT_FALSE(loop);
  EXPECT_THAT(loop.error().message(), HasSubstr("leads back to"));
}

TEST_F(CatalogueTest, AFolderWithoutPicturesIsRefusedByName) {
  EXPECT_THAT(list_image_folder(root_, 1).error().message(), HasSubstr("no folder of a class"));
  write("a/1.jpg");
  fs::create_directories(root_ / "empty");
  EXPECT_THAT(list_image_folder(root_, 1).error().message(), HasSubstr("no picture in " + at("empty")));
  EXPECT_THAT(list_image_folder(at("missing"), 1).error().message(), HasSubstr("cannot list " + at("missing")));
}

TEST_F(CatalogueTest, ACsvListMayQuoteAndHaveOtherColumns) {
  write("list.csv", "id,path,label\r\n1,\"a,\"\"b\"\".jpg\",dog\r\n\r\n2,/abs/c.jpg,cat\r\n");
  const auto catalogue = read_file_list(at("list.csv"));
  ASSERT_TRUE(catalogue) << catalogue.error().message();
  EXPECT_THAT(names(*catalogue), ElementsAre("1 a,\"b\".jpg", "0 /abs/c.jpg"));
  EXPECT_THAT(catalogue->classes(), ElementsAre("cat", "dog"));
  std::string path;
  catalogue->path(0, path);
  EXPECT_EQ(path, at("a,\"b\".jpg"));
  catalogue->path(1, path);
  EXPECT_EQ(path, "/abs/c.jpg");
}

TEST_F(CatalogueTest, AJsonListTakesNumbersAsTheyAre) {
  write("list.jsonl", "{\"path\": \"a.jpg\", \"label\": 7, \"extra\": [1]}\n\n{\"path\": \"b.jpg\"}\n");
  const auto catalogue = read_file_list(at("list.jsonl"));
  ASSERT_TRUE(catalogue) << catalogue.error().message();
  EXPECT_THAT(names(*catalogue), ElementsAre("7 a.jpg", "-1 b.jpg"));
  EXPECT_TRUE(catalogue->classes().empty());
}

TEST_F(CatalogueTest, SeveralColumnsMayBeLabels) {
  write("list.csv", "path,kind,count\na.jpg,dog,3\nb.jpg,cat,4\n");
  const auto catalogue = read_file_list(at("list.csv"), {.labels = {"count", "kind"}});
  ASSERT_TRUE(catalogue) << catalogue.error().message();
  EXPECT_THAT(catalogue->labels(0), ElementsAre(3, 1));
  EXPECT_THAT(catalogue->labels(1), ElementsAre(4, 0));
  EXPECT_TRUE(catalogue->classes(0).empty());
  EXPECT_THAT(catalogue->classes(1), ElementsAre("cat", "dog"));
}

TEST_F(CatalogueTest, FieldsHaveTheTypeOfAllTheirValues) {
  write("list.csv", "path,whole,real,gap,text,huge\na,1,0.5,3,x,1\nb,-2,1e3,,2,99999999999999999999\n");
  const auto catalogue = read_file_list(at("list.csv"), {.all_fields = true});
  ASSERT_TRUE(catalogue) << catalogue.error().message();
  const auto& fields = catalogue->fields();
  ASSERT_EQ(fields.size(), 5u);
  EXPECT_EQ(fields[0].name, "whole");
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(fields[0].values), ElementsAre(1, -2));
  EXPECT_THAT(std::get<std::vector<double>>(fields[1].values), ElementsAre(0.5, 1000));
  EXPECT_THAT(std::get<std::vector<double>>(fields[2].values), ElementsAre(3, IsNan()));
  EXPECT_THAT(std::get<std::vector<std::string>>(fields[3].values), ElementsAre("x", "2"));
  EXPECT_THAT(std::get<std::vector<std::string>>(fields[4].values), ElementsAre("1", "99999999999999999999"));
}

TEST_F(CatalogueTest, AJsonTextIsATextAndAColumnMayBeginLate) {
  write("list.jsonl",
        "{\"path\": \"a\", \"id\": \"007\", \"box\": [1, 2]}\n"
        "{\"path\": \"b\", \"id\": \"8\", \"sure\": true}\n");
  const auto catalogue = read_file_list(at("list.jsonl"), {.all_fields = true});
  ASSERT_TRUE(catalogue) << catalogue.error().message();
  const auto& fields = catalogue->fields();
  ASSERT_EQ(fields.size(), 3u);
  EXPECT_THAT(std::get<std::vector<std::string>>(fields[0].values), ElementsAre("[1,2]", ""));
  EXPECT_THAT(std::get<std::vector<std::string>>(fields[1].values), ElementsAre("007", "8"));
  EXPECT_EQ(fields[2].name, "sure");
  EXPECT_THAT(std::get<std::vector<double>>(fields[2].values), ElementsAre(IsNan(), 1));
  EXPECT_THAT(names(*catalogue), ElementsAre("-1 a", "-1 b"));
}

TEST_F(CatalogueTest, AColumnThatIsNotThereIsNamed) {
  write("list.csv", "path,label\na,1\n");
  write("list.jsonl", "{\"path\": \"a\"}\n");
  for (const auto* list : {"list.csv", "list.jsonl"}) {
    const auto field = read_file_list(at(list), {.fields = {"age"}});
    const auto label = read_file_list(at(list), {.labels = {"kind"}});
    ASSERT_FALSE(field);
    ASSERT_FALSE(label);
    EXPECT_THAT(field.error().message(), HasSubstr("no column \"age\" for a field in " + at(list)));
    EXPECT_THAT(label.error().message(), HasSubstr("no column \"kind\" for a label in " + at(list)));
  }
}

TEST_F(CatalogueTest, ABadLineIsNamed) {
  const auto message = [&](const std::string& name, const std::string& text) {
    write(name, text);
    const auto catalogue = read_file_list(at(name));
    return catalogue ? "" : catalogue.error().message();
  };
  EXPECT_THAT(message("a.csv", "file,label\n"), HasSubstr("a.csv:1: no column \"path\""));
  EXPECT_THAT(message("b.csv", "path,label\n\"x\ny\",1\nz\n"), HasSubstr("b.csv:4: 1 fields"));
  EXPECT_THAT(message("c.jsonl", "{\"path\": \"x\"}\n{\"path\": "), HasSubstr("c.jsonl:2: not a JSON object"));
  EXPECT_THAT(message("d.jsonl", "{\"path\": \"x\", \"label\": 1.5}"), HasSubstr("neither a whole number nor a text"));
  EXPECT_THAT(message("e.csv", "path\n"), HasSubstr("no picture in the list"));
}

TEST(FingerprintTest, NamesLabelsAndTheirOrderCount) {
  const auto of = [](std::vector<std::pair<std::string, int>> samples) {
    Catalogue catalogue("anywhere");
    for (const auto& [name, label] : samples) catalogue.add(name, label);
    return catalogue.fingerprint();
  };
  const auto base = of({{"a", 0}, {"b", 1}});
  EXPECT_EQ(base, of({{"a", 0}, {"b", 1}}));
  EXPECT_NE(base, of({{"b", 1}, {"a", 0}}));
  EXPECT_NE(base, of({{"a", 0}, {"b", 2}}));
  EXPECT_NE(base, of({{"a", 0}}));
}

}  // namespace
}  // namespace fullbore::image
