#include "parquet_footer.hpp"

#include <gtest/gtest.h>

namespace oomplan::measure {
namespace {

/// FileMetaData with a schema of so many nodes, each the only child of the one before.
std::string footer_of_depth(int nodes) {
  std::string out("\x15\x02\x19\xfc", 4);
  out += static_cast<char>(0x80 | (nodes & 0x7f));
  out += static_cast<char>(nodes >> 7);
  for (int i = 0; i < nodes; ++i)
    out += i + 1 < nodes ? std::string("\x48\x01x\x15\x02\x00", 6) : std::string("\x48\x01x\x00", 4);
  return out + std::string("\x16\x00\x19\x0c\x00", 5);
}

std::optional<std::string> objection_to(std::string_view footer) {
  FooterCounts counts;
  return objection_to_footer(footer, counts);
}

TEST(ParquetFooter, MayBeDeepButNotHostile) {
  EXPECT_FALSE(objection_to(footer_of_depth(3)));
  EXPECT_FALSE(objection_to(footer_of_depth(101)));
  EXPECT_EQ(objection_to(footer_of_depth(102)), "the schema is nested deeper than 100 levels");
  EXPECT_EQ(objection_to(footer_of_depth(10'000)), "the schema is nested deeper than 100 levels");
}

TEST(ParquetFooter, CutAnywhereIsBroken) {
  const std::string whole = footer_of_depth(3);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_EQ(objection_to(whole.substr(0, length)), "the footer is broken") << length;
  }
}

TEST(ParquetFooter, LiesAboutLengthsAreBroken) {
  EXPECT_TRUE(objection_to(std::string("\x18\xff\xff\xff\xff\x0f", 6)));                       // a long string
  EXPECT_TRUE(objection_to(std::string("\x19\xf5\xff\xff\xff\xff\x0f", 7)));                   // a long list
  EXPECT_TRUE(objection_to(std::string(100'000, '\x1c')));                                     // structs in structs
  EXPECT_TRUE(objection_to(std::string("\x15\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11)));  // an endless number
}

}  // namespace
}  // namespace oomplan::measure
