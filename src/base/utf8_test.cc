#include "base/utf8.h"

#include <gtest/gtest.h>

namespace fullbore::base {
namespace {

TEST(Utf8Test, WhatIsUtf8StaysAsItIs) {
  for (const char* text : {"", "plain", "\u00e9 \u20ac \U0001f600", "\ud7ff \ue000 \U0010ffff"})
    EXPECT_EQ(to_utf8(text), text);
}

TEST(Utf8Test, OtherBytesAreSpeltOut) {
  EXPECT_EQ(to_utf8("a\xff-\xe9.jpg"), "a\\xff-\\xe9.jpg");
  EXPECT_EQ(to_utf8("\xe2\x82"), "\\xe2\\x82");                    // cut short
  EXPECT_EQ(to_utf8("\xc0\xaf"), "\\xc0\\xaf");                    // longer than needed
  EXPECT_EQ(to_utf8("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half of a pair
  EXPECT_EQ(to_utf8("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above the last one
}

}  // namespace
}  // namespace fullbore::base
