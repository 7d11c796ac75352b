#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "oomplan/core/text.hpp"

namespace oomplan {
namespace {

std::string encoded(std::uint32_t code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0 | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
}

TEST(ValidUtf8, AcceptsEveryCharacterButSurrogates) {
  for (std::uint32_t code = 0; code < 0x110100; ++code) {
    const std::string text = encoded(code);
    const bool valid = (code < 0xD800 || code > 0xDFFF) && code <= 0x10FFFF;
    ASSERT_EQ(valid_utf8(text), valid ? text.size() : 0) << code;
  }
}

TEST(ValidUtf8, StopsAtTheFirstBadByte) {
  EXPECT_EQ(valid_utf8(""), 0U);
  EXPECT_EQ(valid_utf8("abc"), 3U);
  EXPECT_EQ(valid_utf8("ab\xff"), 2U);
  EXPECT_EQ(valid_utf8("é\x80"), 2U);
  EXPECT_EQ(valid_utf8("a\xe2\x82"), 1U);         // cut off
  EXPECT_EQ(valid_utf8("\xc0\xaf"), 0U);          // overlong
  EXPECT_EQ(valid_utf8("\xe0\x80\xaf"), 0U);      // overlong
  EXPECT_EQ(valid_utf8("\xf0\x80\x80\xaf"), 0U);  // overlong
  EXPECT_EQ(valid_utf8("\xf8\x88\x80\x80\x80"), 0U);
  EXPECT_EQ(valid_utf8("\xc3("), 0U);
}

TEST(Printable, LeavesTextAlone) {
  EXPECT_EQ(printable("plain, é, 日本, 😀"), "plain, é, 日本, 😀");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, ReplacesWhatDrivesATerminal) {
  EXPECT_EQ(printable("a\tb\nc\rd\x1b[0m\x7f"), "a?b?c?d?[0m?");
  EXPECT_EQ(printable(std::string_view("\0x", 2)), "?x");
  EXPECT_EQ(printable("\u009b31m"), "?31m");
  EXPECT_EQ(printable("a\u202eb\u2066c\u2028"), "a?b?c?");
  EXPECT_EQ(printable("\xff\xe2\x82z"), "???z");
}

}  // namespace
}  // namespace oomplan
