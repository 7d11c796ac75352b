#include "canonical.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "canonical_rows.hpp"
#include "shards.hpp"
#include "temporary.hpp"

namespace oomplan::measure {
namespace {

std::string number(double value) {
  ByteBuffer out;
  put_number(out, value);
  return std::string(out.view());
}

std::string whole(std::int64_t value) {
  ByteBuffer out;
  put_integer(out, value);
  return std::string(out.view());
}

TEST(Canonical, OneNumberHasOneForm) {
  EXPECT_EQ(number(1.0), whole(1));
  EXPECT_EQ(number(-0.0), whole(0));
  EXPECT_NE(number(1.5), whole(1));
  EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()), number(-std::numeric_limits<double>::quiet_NaN()));
  ByteBuffer large;
  put_unsigned(large, std::uint64_t{1} << 63);
  EXPECT_EQ(number(9223372036854775808.0), large.view());
  ByteBuffer decimal;
  put_decimal(decimal, "12.00");
  EXPECT_EQ(decimal.view(), whole(12));
}

TEST(Canonical, IsReadBackAsJson) {
  ByteBuffer row;
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
      canonical_as_json(row.view()),
      "{\"a\": [-1, null, 0.5, true], \"t\\\"\": \"x\\u000a\\\\\", \"when\": \"1969-12-31T23:59:59.000000005Z\"}");
  ByteBuffer bytes;
  put_text(bytes, "\xff");
  EXPECT_FALSE(canonical_as_json(bytes.view()).has_value());
}

TEST(CanonicalRows, HashesAreOfTheBytes) {
  CanonicalRows kept(CanonicalRows::Keep::bytes);
  CanonicalRows hashed(CanonicalRows::Keep::hashes);
  for (std::size_t i = 0; i < 3'000; ++i) {
    for (CanonicalRows* rows : {&kept, &hashed}) {
      put_text(rows->open(), std::string(i % 40, 'x') + std::to_string(i));
      rows->close();
    }
  }
  const std::vector<Hash>& hashes = hashed.hashes();
  ASSERT_EQ(hashes.size(), 3'000U);
  for (std::size_t i = 0; i < hashes.size(); ++i) EXPECT_EQ(hashes[i], hash_of(kept[i])) << i;
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
