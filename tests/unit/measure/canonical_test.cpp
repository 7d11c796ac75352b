#include "canonical.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "shards.hpp"
#include "temporary.hpp"

namespace oomplan::measure {
namespace {

std::string number(double value) {
  std::string out;
  put_number(out, value);
  return out;
}

std::string whole(std::int64_t value) {
  std::string out;
  put_integer(out, value);
  return out;
}

TEST(Canonical, OneNumberHasOneForm) {
  EXPECT_EQ(number(1.0), whole(1));
  EXPECT_EQ(number(-0.0), whole(0));
  EXPECT_NE(number(1.5), whole(1));
  EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()), number(-std::numeric_limits<double>::quiet_NaN()));
  std::string large;
  put_unsigned(large, std::uint64_t{1} << 63);
  EXPECT_EQ(number(9223372036854775808.0), large);
  std::string decimal;
  put_decimal(decimal, "12.00");
  EXPECT_EQ(decimal, whole(12));
}

TEST(Canonical, IsReadBackAsJson) {
  std::string row;
  begin_object(row);
  put_name(row, "a");
  begin_list(row);
  put_integer(row, -1);
  put_null(row);
  put_number(row, 0.5);
  put_boolean(row, true);
  end_list(row);
  put_name(row, "t\"");
  put_text(row, "x\n\\");
  put_name(row, "when");
  put_time(row, 'T', -1, 5);
  end_object(row);
  EXPECT_EQ(
      canonical_as_json(row),
      "{\"a\": [-1, null, 0.5, true], \"t\\\"\": \"x\\u000a\\\\\", \"when\": \"1969-12-31T23:59:59.000000005Z\"}");
  std::string bytes;
  put_text(bytes, "\xff");
  EXPECT_FALSE(canonical_as_json(bytes).has_value());
}

TEST(Shards, ComeInTheOrderOfTheirNumbers) {
  const Temporary folder;
  for (const char* name : {"part-10", "part-9", "part-1", ".hidden", "sub/part-2"}) folder.file(name, "x");
  const auto shards = shards_of({folder.path()}, 1 << 20);
  ASSERT_TRUE(shards.ok());
  std::string order;
  for (const Shard& shard : *shards) order += std::filesystem::path(shard.path).filename().string() + " ";
  EXPECT_EQ(order, "part-1 part-9 part-10 part-2 ");
  EXPECT_EQ(shards_of({folder / "part-?"}, 1 << 20)->size(), 2U);
  EXPECT_EQ(shards_of({folder / "x*"}, 1 << 20).errors()[0].code, "measure/no-data");
  EXPECT_EQ(shards_of({folder.path()}, 100).errors()[0].code, "measure/over-budget");
}

}  // namespace
}  // namespace oomplan::measure
