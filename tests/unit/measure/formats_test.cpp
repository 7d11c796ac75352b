// The same rows in every format: counted the same, and equal by their canonical form.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "oomplan/measure/measure.hpp"
#include "parquet_file.hpp"
#include "process.hpp"
#include "temporary.hpp"

namespace oomplan::measure {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Bytes budget = Bytes::gib(16);  // sanitizers take much for themselves

StreamReport streamed(const std::string& path, const std::string& format = "", Bytes room = budget) {
  return stream({path}, {.budget = room, .format = format});
}

constexpr std::string_view lines =
    "{\"name\": \"a\", \"id\": 1, \"score\": 0.5, \"tags\": [1, 2]}\n"
    "{\"score\": 2, \"name\": \"b\", \"tags\": null, \"id\": 2.0}\n\n"
    "{\"name\": \"c\", \"tags\": [], \"later\": null}";

std::string array() {
  std::string out = "[\n";
  for (const char c : lines) out += c == '\n' ? std::string(out.ends_with(',') ? "" : ",") : std::string(1, c);
  return out + "]\n";
}

TEST(Formats, CountTheSameRows) {
  const Temporary folder;
  write_parquet(*small_table(), folder / "p", 2);
  write_arrow(*small_table(), folder / "stream", true);
  write_arrow(*small_table(), folder / "file", false);
  const std::vector<std::pair<std::string, std::string>> files{{folder.file("l", lines), "json-lines"},
                                                               {folder.file("a", array()), "json-array"},
                                                               {folder / "p", "parquet"},
                                                               {folder / "stream", "arrow"},
                                                               {folder / "file", "arrow"}};
  for (const auto& [path, format] : files) {
    const StreamReport report = streamed(path);
    EXPECT_THAT(report.diagnostics, IsEmpty()) << path;
    EXPECT_EQ(report.totals.rows, 3) << path;
    ASSERT_THAT(report.totals.listed, SizeIs(1));
    EXPECT_EQ(report.totals.listed[0].format, format);
  }
}

TEST(Formats, AreOneToTheCanonicalForm) {
  const Temporary folder;
  folder.file("data/1", lines);
  folder.file("data/2", array());
  write_parquet(*small_table(), folder / "data/3");
  write_arrow(*small_table(), folder / "data/4", true);
  write_arrow(*small_table(), folder / "data/5", false);
  const DedupeReport report = dedupe({folder / "data"}, {.read = {.budget = budget}, .indices = folder / "kept"});
  EXPECT_THAT(report.diagnostics, IsEmpty());
  EXPECT_EQ(report.totals.rows, 15);
  EXPECT_EQ(report.unique, 3);
  EXPECT_EQ(text_of(folder / "kept"), "0\n1\n2\n");
}

TEST(Formats, CsvEqualsJsonCellByCell) {
  const Temporary folder;
  folder.file("data/1.csv", "id,name,ok\r\n1,\"a \"\"b\"\"\nc\",true\r\n007,,\r\n");
  folder.file("data/2.tsv", "name\tid\tok\na\t1\tx\n");
  folder.file("data/3", "{\"ok\": true, \"id\": 1.0, \"name\": \"a \\\"b\\\"\\nc\"}\n{\"id\": \"007\"}\n");
  const DedupeReport report = dedupe({folder / "data"}, {.read = {.budget = budget}, .indices = folder / "kept"});
  EXPECT_THAT(report.diagnostics, IsEmpty());
  EXPECT_EQ(text_of(folder / "kept"), "0\n1\n2\n");
  EXPECT_EQ(report.duplicates, 2);
}

TEST(Formats, ADictionaryPageDecodesToFarMoreThanTheFileAndIsReadInSmallBatches) {
  const Temporary folder;
  write_parquet(*table_of_texts(std::vector<std::string>(5'000, std::string(10'000, 'x'))), folder / "bomb");
  const StreamReport report = streamed(folder / "bomb");
  EXPECT_THAT(report.diagnostics, IsEmpty());
  EXPECT_EQ(report.totals.decoded, 50'000'000);
}

TEST(Formats, APageThatTheBudgetDoesNotHoldIsRefusedWithItsSize) {
  const Temporary folder;
  const auto plain =
      parquet::WriterProperties::Builder().disable_dictionary()->compression(arrow::Compression::ZSTD)->build();
  write_parquet(*table_of_texts({std::string(150'000'000, 'x')}), folder / "page", 1, plain);
  const Bytes room = Bytes(memory_of_this_process().rss) + Bytes::mib(120);
  const StreamReport report = streamed(folder / "page", "", room);
  ASSERT_THAT(report.diagnostics, SizeIs(1));
  EXPECT_EQ(report.diagnostics[0].code, "measure/over-budget");
  EXPECT_THAT(report.diagnostics[0].message, HasSubstr("row 1 needs"));
}

TEST(Formats, AListOfNothingButNullIsRefusedBeforeItIsWrittenOut) {
  const Temporary folder;
  const auto nulls = std::make_shared<arrow::NullArray>(2'000'000'000);
  const auto offsets = arrow::Buffer::FromVector(std::vector<std::int32_t>{0, 2'000'000'000});
  const auto list = std::make_shared<arrow::ListArray>(arrow::list(arrow::null()), 1, offsets, nulls);
  write_arrow(*arrow::Table::Make(arrow::schema({arrow::field("l", list->type())}), {list}), folder / "bomb", true);
  const DedupeReport report = dedupe({folder / "bomb"}, {.read = {.budget = budget}});
  ASSERT_THAT(report.diagnostics, SizeIs(1));
  EXPECT_EQ(report.diagnostics[0].code, "measure/over-budget");
}

std::shared_ptr<arrow::Table> table_of(const std::vector<std::shared_ptr<arrow::Array>>& columns,
                                       const std::vector<std::string>& names) {
  std::vector<std::shared_ptr<arrow::Field>> fields;
  for (std::size_t i = 0; i < columns.size(); ++i) fields.push_back(arrow::field(names[i], columns[i]->type()));
  return arrow::Table::Make(arrow::schema(fields), columns);
}

TEST(Formats, DecimalsEqualTheNumbersThatTheyAre) {
  const Temporary folder;
  arrow::Decimal128Builder decimals(arrow::decimal128(38, 9));
  for (const std::int64_t billionths : {1L, 1'000'000'000L, 2L, 2'000'000'000L, 100L, 500'000'000L})
    ASSERT_TRUE(decimals.Append(arrow::Decimal128(billionths)).ok());
  ASSERT_TRUE(decimals.Append(arrow::Decimal128("1000000000000000000000000000")).ok());  // 10^18
  write_parquet(*table_of({*decimals.Finish()}, {"x"}), folder / "d");
  EXPECT_EQ(dedupe({folder / "d"}, {.read = {.budget = budget}}).unique, 7);
  folder.file("n.jsonl", "{\"x\": 1}\n{\"x\": 2}\n{\"x\": 1000000000000000000}\n");
  EXPECT_EQ(dedupe({folder / "d", folder / "n.jsonl"}, {.read = {.budget = budget}}).unique, 7);
}

TEST(Formats, OfColumnsOfOneNameTheLastCounts) {
  const Temporary folder;
  arrow::Int64Builder first, last;
  ASSERT_TRUE(first.AppendValues({1, 1}).ok() && last.AppendValues({2, 2}).ok());
  write_arrow(*table_of({*first.Finish(), *last.Finish()}, {"a", "a"}), folder / "twice", true);
  folder.file("once.jsonl", "{\"a\": 2}\n");
  EXPECT_EQ(dedupe({folder / "twice", folder / "once.jsonl"}, {.read = {.budget = budget}}).unique, 1);
}

TEST(Formats, BytesBehindAnArrowFileAreNotPassedOver) {
  const Temporary folder;
  for (const bool stream : {true, false}) {
    write_arrow(*small_table(), folder / "one", stream);
    std::ifstream one(folder / "one", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(one), {}};
    const StreamReport report = streamed(folder.file("two", bytes + bytes), "arrow");
    ASSERT_THAT(report.diagnostics, SizeIs(1)) << stream;
    EXPECT_THAT(report.diagnostics[0].message, HasSubstr("other bytes stand between"));
  }
}

TEST(Formats, ADictionaryOfLongTextsIsCutIntoBatchesInOneWalk) {
  const Temporary folder;
  arrow::StringDictionaryBuilder texts;
  const std::string text(600'000, 'x');
  for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(texts.Append(text).ok());
  auto out = *arrow::io::FileOutputStream::Open(folder / "d");
  const auto table = table_of({*texts.Finish()}, {"t"});
  auto writer = *arrow::ipc::MakeStreamWriter(out, table->schema());
  ASSERT_TRUE(writer->WriteTable(*table).ok() && writer->Close().ok() && out->Close().ok());
  EXPECT_EQ(streamed(folder / "d").totals.decoded, std::int64_t{20'000} * 600'000);
}

TEST(Formats, ACutFileIsAnErrorWithWhatItHad) {
  const Temporary folder;
  write_parquet(*small_table(), folder / "p");
  write_arrow(*small_table(), folder / "a", false);
  for (const char* name : {"p", "a"}) {
    std::string bytes = text_of(folder / name);
    bytes.resize(bytes.size() - 3);
    const StreamReport report = streamed(folder.file("cut", bytes));
    ASSERT_THAT(report.diagnostics, SizeIs(1)) << name;
    EXPECT_EQ(report.diagnostics[0].code, "read/truncated") << name;
  }
}

TEST(Formats, WhatArrowWritesBackIsTheSameDataset) {
  const Temporary folder;
  write_parquet(*small_table(), folder / "p");
  const DedupeOptions options{.read = {.budget = budget}, .output = folder / "out.parquet"};
  EXPECT_THAT(dedupe({folder / "p", folder / "p"}, options).diagnostics, IsEmpty());
  EXPECT_EQ(dedupe({folder / "p", folder / "out.parquet"}, {.read = {.budget = budget}}).unique, 3);
  EXPECT_EQ(streamed(folder / "out.parquet").totals.rows, 3);
  const DedupeReport again = dedupe({folder / "p"}, options);
  ASSERT_THAT(again.diagnostics, SizeIs(1));
  EXPECT_EQ(again.diagnostics[0].code, "measure/output-exists");
}

}  // namespace
}  // namespace oomplan::measure
