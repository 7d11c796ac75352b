// Rows that share a hash, as true ones never do here.
#include "verify.hpp"

#include <gtest/gtest.h>

#include "temporary.hpp"

namespace oomplan::measure {
namespace {

struct Row {
  std::uint64_t hash;
  std::string text;
  bool duplicate;  // by its hash
};

/// The rows that are duplicates by their bytes.
std::vector<std::int64_t> verified(const std::vector<Row>& rows, std::int64_t table, std::int64_t* restored = nullptr) {
  const Temporary folder;
  RowSet duplicates;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].duplicate) duplicates.insert(static_cast<std::int64_t>(i));
  }
  Verify verify({.table = table}, folder.path(), duplicates);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_TRUE(verify.add({rows[i].hash, 1}, static_cast<std::int64_t>(i), rows[i].text).ok());
  }
  EXPECT_TRUE(verify.finish().ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  if (restored != nullptr) *restored = verify.restored();
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (duplicates.contains(static_cast<std::int64_t>(i))) out.push_back(static_cast<std::int64_t>(i));
  }
  EXPECT_EQ(duplicates.size(), static_cast<std::int64_t>(out.size()));
  return out;
}

TEST(Verify, KeepsRowsThatOnlyShareAHash) {
  const std::vector<Row> rows{{7, "a", false}, {7, "b", true}, {7, "a", true},
                              {7, "b", true},  {7, "", true},  {9, "a", false}};
  std::int64_t restored = 0;
  EXPECT_EQ(verified(rows, 1 << 20, &restored), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(restored, 2);
}

TEST(Verify, ComparesLongRowsOnTheDisk) {
  const std::string a(100'000, 'a');
  std::string b = a;
  b.back() = 'b';
  const std::vector<Row> rows{{7, a, false}, {7, b, true}, {7, a, true}, {7, b, true}};
  EXPECT_EQ(verified(rows, 10'000), (std::vector<std::int64_t>{2, 3}));
}

TEST(Verify, SaysWhereTheListDoesNotFit) {
  const Temporary folder;
  RowSet duplicates;
  Verify verify({.table = 100}, folder.path(), duplicates);
  for (std::int64_t i = 0; i < 10; ++i) ASSERT_TRUE(verify.add({7, static_cast<std::uint64_t>(i)}, i, "row").ok());
  const Result<bool> finished = verify.finish();
  ASSERT_FALSE(finished.ok());
  EXPECT_EQ(finished.errors()[0].code, "measure/over-budget");
}

}  // namespace
}  // namespace oomplan::measure
