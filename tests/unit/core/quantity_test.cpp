#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include "oomplan/core/text.hpp"

namespace oomplan {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

TEST(BytesText, HasTwoDecimalsAndBinaryUnits) {
  EXPECT_EQ(to_text(Bytes(0)), "0 B");
  EXPECT_EQ(to_text(Bytes(512)), "512 B");
  EXPECT_EQ(to_text(Bytes(1023)), "1023 B");
  EXPECT_EQ(to_text(Bytes(1024)), "1.00 KiB");
  EXPECT_EQ(to_text(Bytes(1536)), "1.50 KiB");
  EXPECT_EQ(to_text(Bytes::mib(20)), "20.00 MiB");
  EXPECT_EQ(to_text(Bytes(23'654'511'084)), "22.03 GiB");
  EXPECT_EQ(to_text(Bytes::gib(1024)), "1.00 TiB");
  EXPECT_EQ(to_text(Bytes::gib(std::int64_t{1} << 20)), "1.00 PiB");
  EXPECT_EQ(to_text(Bytes::gib(std::int64_t{1} << 30)), "1.00 EiB");
}

TEST(BytesText, MovesToTheNextUnitRatherThanSay1024) {
  EXPECT_EQ(to_text(Bytes::mib(1) - Bytes(1)), "1.00 MiB");
  EXPECT_EQ(to_text(Bytes::gib(1) - Bytes(1)), "1.00 GiB");
  EXPECT_EQ(to_text(Bytes::kib(1023)), "1023.00 KiB");
}

TEST(BytesText, WritesDifferencesAndTheEndsOfTheRange) {
  EXPECT_EQ(to_text(Bytes(-512)), "-512 B");
  EXPECT_EQ(to_text(Bytes(-1536)), "-1.50 KiB");
  EXPECT_EQ(to_text(Bytes::max()), "8.00 EiB");
  EXPECT_EQ(to_text(Bytes(lowest)), "-8.00 EiB");
}

TEST(Separators, StandBetweenThousands) {
  EXPECT_EQ(with_separators(0), "0");
  EXPECT_EQ(with_separators(999), "999");
  EXPECT_EQ(with_separators(1000), "1,000");
  EXPECT_EQ(with_separators(23'657'512'960), "23,657,512,960");
  EXPECT_EQ(with_separators(-999), "-999");
  EXPECT_EQ(counted(1, "process"), "1 process");
  EXPECT_EQ(counted(2000, "batch"), "2,000 batches");
  EXPECT_EQ(counted(0, "row"), "0 rows");
  EXPECT_EQ(with_separators(-100'000), "-100,000");
  EXPECT_EQ(with_separators(lowest), "-9,223,372,036,854,775,808");
}

TEST(ParseBytes, ReadsBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("1024"), Bytes(1024));
  EXPECT_EQ(parse_bytes("7B"), Bytes(7));
  EXPECT_EQ(parse_bytes("24GiB"), Bytes::gib(24));
  EXPECT_EQ(parse_bytes("24 GiB"), Bytes::gib(24));
  EXPECT_EQ(parse_bytes("  24  gib "), Bytes::gib(24));
  EXPECT_EQ(parse_bytes("24G"), Bytes::gib(24));
  EXPECT_EQ(parse_bytes("24g"), Bytes::gib(24));
  EXPECT_EQ(parse_bytes("24GB"), Bytes(24'000'000'000));
  EXPECT_EQ(parse_bytes("512MiB"), Bytes::mib(512));
  EXPECT_EQ(parse_bytes("2MB"), Bytes(2'000'000));
  EXPECT_EQ(parse_bytes("3k"), Bytes(3072));
  EXPECT_EQ(parse_bytes("3kB"), Bytes(3000));
  EXPECT_EQ(parse_bytes("1.5TiB"), Bytes::gib(1536));
  EXPECT_EQ(parse_bytes("1TB"), Bytes(1'000'000'000'000));
  EXPECT_EQ(parse_bytes("1PiB"), Bytes::gib(std::int64_t{1} << 20));
  EXPECT_EQ(parse_bytes("7EiB"), Bytes(7 * (std::int64_t{1} << 60)));
}

TEST(ParseBytes, IsExactInTheWholePartAndRoundsTheFraction) {
  EXPECT_EQ(parse_bytes("9007199254740993"), Bytes(9'007'199'254'740'993));
  EXPECT_EQ(parse_bytes("0.1KB"), Bytes(100));
  EXPECT_EQ(parse_bytes("0.0004KB"), Bytes(0));
  EXPECT_EQ(parse_bytes("0.0005KB"), Bytes(1));
  EXPECT_EQ(parse_bytes("22.03GiB"), Bytes(23'654'532'383));
}

TEST(ParseBytes, RefusesEverythingElse) {
  for (const std::string_view text : {"",
                                      " ",
                                      "GiB",
                                      "-1",
                                      "-1GiB",
                                      "+1",
                                      "1.5",
                                      "1.5B",
                                      "1.",
                                      ".5GiB",
                                      "1.GiB",
                                      "1 2",
                                      "1,024",
                                      "1e9",
                                      "0x10",
                                      "1GiBs",
                                      "1 G B",
                                      "1ZiB",
                                      "8EiB",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "99999999999999999999",
                                      "9000000TiB",
                                      "nan",
                                      "1\n",
                                      "1\u00a0GiB"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_bytes(std::string_view("1\0GiB", 5)), std::nullopt);
}

// Two decimals lose at most half a hundredth of the unit.
TEST(ParseBytes, ReadsBackWhatWasWritten) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 100'000; ++round) {
    const Bytes size(static_cast<std::int64_t>(random() >> (1 + random() % 62)));
    const std::string text = to_text(size);
    const auto back = parse_bytes(text);
    if (text == "8.00 EiB") continue;
    ASSERT_TRUE(back) << text;
    const double off = std::abs(static_cast<double>((*back - size).count()));
    ASSERT_LE(off, static_cast<double>(size.count()) * 0.00501 + 0.5) << size.count() << " " << text;
    ASSERT_EQ(to_text(*back), text);
  }
}

TEST(ParseInteger, ReadsDecimalIntegersAsPythonDoes) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-0"), 0);
  EXPECT_EQ(parse_integer("+42"), 42);
  EXPECT_EQ(parse_integer("007"), 7);
  EXPECT_EQ(parse_integer("1_000_000"), 1'000'000);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_integer("-9223372036854775808"), lowest);
}

TEST(ParseInteger, RefusesEverythingElse) {
  for (const std::string_view text : {"", "+", "-", "--1", "+-1", "-+1", " 1", "1 ", "1.0", "1e3", "0x10", "_1", "1_",
                                      "1__0", "-_1", "9223372036854775808", "-9223372036854775809", "one"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

TEST(ParseInteger, ReadsBackEveryInteger) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20'000; ++round) {
    const auto value = static_cast<std::int64_t>(random()) >> (random() % 64);
    ASSERT_EQ(parse_integer(std::to_string(value)), value);
  }
}

TEST(ParseNumber, ReadsFiniteDecimals) {
  EXPECT_EQ(parse_number("1e-4"), 1e-4);
  EXPECT_EQ(parse_number("0.05"), 0.05);
  EXPECT_EQ(parse_number("3"), 3.0);
  EXPECT_EQ(parse_number("+2.5E+3"), 2500.0);
  EXPECT_EQ(parse_number("-.5"), -0.5);
  EXPECT_EQ(parse_number("5."), 5.0);
  EXPECT_EQ(parse_number("1_000.5"), 1000.5);
  EXPECT_EQ(parse_number("1e308"), 1e308);
}

TEST(ParseNumber, RefusesEverythingElse) {
  for (const std::string_view text :
       {"",     ".",   "e5",    "1e", "1e+", "nan",   "NaN",    "inf",    "-inf", "infinity",
        ".inf", "1,5", "0x1p3", " 1", "1 ",  "1e309", "1e-400", "1.5GiB", "+-1",  "1_.5"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(ParseNumber, DoesNotAskTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr) std::setlocale(LC_ALL, "C.UTF-8");
  EXPECT_EQ(parse_number("0.5"), 0.5);
  EXPECT_EQ(to_text(Bytes(1536)), "1.50 KiB");
  std::setlocale(LC_ALL, before.c_str());
}

}  // namespace
}  // namespace oomplan
