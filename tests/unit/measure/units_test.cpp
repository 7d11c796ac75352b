// The same answers with any number of threads, also where a share of the budget holds too little.
#include "units.hpp"

#include <gmock/gmock.h>

#include <random>

#include "parquet_file.hpp"
#include "process.hpp"
#include "temporary.hpp"

namespace oomplan::measure {
namespace {

using testing::IsEmpty;

/// So many mebibytes for rows, whatever the program itself takes.
Bytes budget_of(std::int64_t mib) { return Bytes(memory_of_this_process().rss) + Bytes::mib(18 + mib); }

std::shared_ptr<arrow::Table> random_table(std::int64_t rows) {
  std::mt19937_64 random(7);
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::string text(1000, ' ');
    std::mt19937_64 row(random() % static_cast<std::uint64_t>(rows));
    for (char& c : text) c = static_cast<char>('!' + row() % 90);
    texts.push_back(std::move(text));
  }
  return table_of_texts(texts);
}

void expect_same(const std::vector<std::string>& paths, Bytes budget) {
  std::vector<StreamReport> streams;
  std::vector<DedupeReport> dedupes;
  for (const int threads : {1, 4}) {
    streams.push_back(stream(paths, {.budget = budget, .row_sizes = true, .threads = threads}));
    dedupes.push_back(dedupe(paths, {.read = {.budget = budget, .threads = threads}}));
    EXPECT_THAT(streams.back().diagnostics, IsEmpty());
    EXPECT_THAT(dedupes.back().diagnostics, IsEmpty());
  }
  for (const ReadTotals* totals : {&streams[1].totals, &dedupes[0].totals, &dedupes[1].totals}) {
    EXPECT_EQ(totals->files, streams[0].totals.files);
    EXPECT_EQ(totals->file_bytes, streams[0].totals.file_bytes);
    EXPECT_EQ(totals->rows, streams[0].totals.rows);
    EXPECT_EQ(totals->decoded, streams[0].totals.decoded);
    ASSERT_EQ(totals->listed.size(), streams[0].totals.listed.size());
    for (std::size_t i = 0; i < totals->listed.size(); ++i) {
      EXPECT_EQ(totals->listed[i].path, streams[0].totals.listed[i].path);
      EXPECT_EQ(totals->listed[i].rows, streams[0].totals.listed[i].rows);
      EXPECT_EQ(totals->listed[i].declared_rows, streams[0].totals.listed[i].declared_rows);
    }
  }
  EXPECT_EQ(streams[0].row_sizes->mean, streams[1].row_sizes->mean);
  EXPECT_EQ(streams[0].row_sizes->p99, streams[1].row_sizes->p99);
  EXPECT_EQ(dedupes[0].unique, dedupes[1].unique);
}

TEST(Units, RowGroupsOfOneFileAreUnits) {
  const Temporary folder;
  write_parquet(*random_table(12'000), folder / "p", 2'000);
  const auto shards = shards_of({folder / "p"}, 1 << 20);
  ASSERT_TRUE(shards.ok());
  const Room room = room_from(0, std::int64_t{200} << 20);
  EXPECT_EQ(units_of(*shards, {.threads = 4}, room).shards.size(), 6U);
  EXPECT_EQ(units_of(*shards, {.threads = 4}, room).threads, 4U);
  EXPECT_EQ(units_of(*shards, {.threads = 4}, room_from(0, std::int64_t{50} << 20)).threads, 2U);
  EXPECT_EQ(units_of(*shards, {.threads = 1}, room).threads, 1U);
  EXPECT_EQ(units_of(*shards, {.threads = 4, .skip_bad = true}, room).threads, 1U);
  expect_same({folder / "p", folder / "p"}, budget_of(200));
}

TEST(Units, WhatAShareDoesNotHoldIsReadAlone) {
  const Temporary folder;
  for (int i = 0; i < 5; ++i) {
    const std::string length = i == 2 ? std::string(std::size_t{8} << 20, 'x') : "short";
    folder.file("part-" + std::to_string(i), "{\"a\": 1}\n{\"text\": \"" + length + "\"}\n{\"a\": 2}\n");
  }
  expect_same({folder.path()}, budget_of(120));
}

}  // namespace
}  // namespace oomplan::measure
