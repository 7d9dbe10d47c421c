#include "base/dynamic_library.h"

#include <gmock/gmock.h>

namespace fullbore::base {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(DynamicLibraryTest, TakesTheFirstOfItsNamesThatIsThere) {
  const auto library = DynamicLibrary::open({"libfullbore-none.so.1", "libm.so.6"});
  ASSERT_TRUE(library) << library.error().message();
  EXPECT_EQ(library->name(), "libm.so.6");
}

TEST(DynamicLibraryTest, NamesEachLibraryThatItCouldNotOpen) {
  const auto library = DynamicLibrary::open({"libfullbore-none.so.1", "libfullbore-none.so.2"});
  ASSERT_FALSE(library);
  EXPECT_THAT(library.error().message(),
              AllOf(HasSubstr("libfullbore-none.so.1"), HasSubstr("libfullbore-none.so.2"), HasSubstr("No such file")));
}

TEST(DynamicLibraryTest, ASymbolIsCalledThroughItsRealPrototype) {
  const auto library = DynamicLibrary::open({"libm.so.6"});
  ASSERT_TRUE(library);
  double (*function)(double) = nullptr;
  ASSERT_TRUE(library->require(function, "cbrt"));
  EXPECT_DOUBLE_EQ(function(27), 3);
}

TEST(DynamicLibraryTest, ARequiredSymbolThatIsMissingIsNamedAndAnOptionalOneIsNull) {
  const auto library = DynamicLibrary::open({"libm.so.6"});
  ASSERT_TRUE(library);
  void (*function)() = nullptr;
  const auto required = library->require(function, "fullbore_no_such_function");
  ASSERT_FALSE(required);
  EXPECT_THAT(required.error().message(), AllOf(HasSubstr("libm.so.6"), HasSubstr("fullbore_no_such_function")));
  EXPECT_FALSE(library->optional(function, "fullbore_no_such_function"));
  EXPECT_EQ(function, nullptr);
}

TEST(DynamicLibraryTest, AMovedLibraryKeepsItsSymbols) {
  auto first = DynamicLibrary::open({"libm.so.6"});
  ASSERT_TRUE(first);
  const DynamicLibrary second = std::move(*first);
  double (*function)(double) = nullptr;
  EXPECT_TRUE(second.optional(function, "sqrt"));
}

}  // namespace
}  // namespace fullbore::base
