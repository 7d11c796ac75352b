// Rows as values and as hashes.
#include <gmock/gmock.h>

#include "oomplan/measure/rows.hpp"
#include "parquet_file.hpp"
#include "temporary.hpp"

namespace oomplan::measure {
namespace {

using testing::ElementsAre;

/// What it is told, as text: {name:value …} [value …], i of an integer, x of a number, s of a text, b of bytes.
class Written final : public Values {
 public:
  void null() override { add("null"); }
  void boolean(bool value) override { add(value ? "true" : "false"); }
  void integer(std::int64_t value) override { add("i" + std::to_string(value)); }
  void large_integer(std::uint64_t value) override { add("u" + std::to_string(value)); }
  void number(double value) override { add("x" + std::to_string(value)); }
  void decimal(std::string_view digits) override { add("d" + std::string(digits)); }
  void text(std::string_view utf8) override { add("s" + std::string(utf8)); }
  void bytes(std::string_view bytes) override { add("b" + std::string(bytes)); }
  void time(const Time& value) override {
    add("T" + std::to_string(value.seconds) + "." + std::to_string(value.nanoseconds) + (value.zoned ? "Z" : ""));
  }
  void begin_list() override { add("["); }
  void end_list() override { add("]"); }
  void begin_object() override { add("{"); }
  void name(std::string_view utf8) override { add(std::string(utf8) + ":"); }
  void end_object() override { add("}"); }
  std::string out{};

 private:
  void add(const std::string& piece) { out += (out.empty() ? "" : " ") + piece; }
};

struct Read {
  std::vector<std::string> rows{};
  Diagnostics errors{};
};

Read values_of(const std::string& path, ReadOptions options = {}) {
  Read out;
  auto reader = RowReader::of_values({path}, options);
  while (true) {
    const Result<bool> more = reader ? reader->next() : reader.errors();
    if (!more) out.errors = more.errors();
    if (!more || !*more) return out;
    for (std::int64_t row = 0; row < reader->rows(); ++row) {
      Written written;
      reader->tell(row, written);
      out.rows.push_back(written.out);
    }
  }
}

std::vector<std::uint64_t> hashes_of(const std::string& path, std::vector<std::string> key = {}) {
  std::vector<std::uint64_t> out;
  auto reader = RowReader::of_hashes({path}, {}, std::move(key));
  while (*reader->next()) {
    for (const RowHash& hash : reader->hashes()) out.push_back(hash.low);
  }
  return out;
}

TEST(RowReader, TellsRowsAsTheyStand) {
  const Temporary folder;
  EXPECT_THAT(values_of(folder.file("a.jsonl",
                                    "{\"b\":1.0,\"a\":[null,{\"c\":true}]}\n{\"b\":\"\",\"b\":18446744073709551615}\n"))
                  .rows,
              ElementsAre("{ b: x1.000000 a: [ null { c: true } ] }", "{ b: s b: u18446744073709551615 }"));
  EXPECT_THAT(values_of(folder.file("a.csv", "b,a\n\"1\",-1\n,1.5\n")).rows,
              ElementsAre("{ b: s1 a: i-1 }", "{ b: null a: x1.500000 }"));
  EXPECT_THAT(values_of(folder.file("a.txt", "one\ntwo")).rows, ElementsAre("{ text: sone }", "{ text: stwo }"));
  EXPECT_THAT(values_of(folder.file("a.bin", "\1"), {.format = "opaque"}).rows, ElementsAre("{ bytes: b\1 }"));
}

TEST(RowReader, TellsColumnsInTheirOrder) {
  const Temporary folder;
  write_parquet(*small_table(), folder / "a.parquet", 2);
  EXPECT_THAT(values_of(folder / "a.parquet").rows, ElementsAre("{ tags: [ i1 i2 ] id: i1 name: sa score: x0.500000 }",
                                                                "{ tags: null id: i2 name: sb score: x2.000000 }",
                                                                "{ tags: [ ] id: null name: sc score: null }"));
}

TEST(RowReader, MayBeLeftBeforeItsEnd) {
  const Temporary folder;
  write_parquet(*small_table(), folder / "a.parquet", 1);
  auto reader = RowReader::of_values({folder / "a.parquet"}, {});
  ASSERT_TRUE(*reader->next());
  Written written;
  reader->tell(0, written);
  EXPECT_EQ(written.out, "{ tags: [ i1 i2 ] id: i1 name: sa score: x0.500000 }");
  reader = RowReader::of_values({folder / "a.parquet"}, {});
  ASSERT_TRUE(*reader->next());
}

TEST(RowReader, CountsNanosecondsForwards) {
  const Temporary folder;
  arrow::TimestampBuilder at(arrow::timestamp(arrow::TimeUnit::MILLI, "UTC"), arrow::default_memory_pool());
  arrow::Date32Builder day;
  ASSERT_TRUE(at.Append(-1).ok() && day.Append(-1).ok());
  write_arrow(*arrow::Table::Make(arrow::schema({arrow::field("at", at.type()), arrow::field("day", arrow::date32())}),
                                  {*at.Finish(), *day.Finish()}),
              folder / "a.arrow", false);
  EXPECT_THAT(values_of(folder / "a.arrow").rows, ElementsAre("{ at: T-1.999000000Z day: T-86400.0 }"));
}

TEST(RowReader, HandsOnWhatCameBeforeAnError) {
  const Temporary folder;
  const std::string path = folder.file("a.jsonl", "{\"a\":1}\n{bad\n{\"a\":2}\n");
  const Read read = values_of(path);
  EXPECT_THAT(read.rows, ElementsAre("{ a: i1 }"));
  ASSERT_EQ(read.errors.size(), 1u);
  EXPECT_EQ(read.errors[0].code, "measure/bad-row");
  EXPECT_THAT(values_of(path, {.skip_bad = true, .on_skip = [](const Diagnostic&) {}}).rows,
              ElementsAre("{ a: i1 }", "{ a: i2 }"));
}

TEST(RowReader, TakesOnlyObjectsForRows) {
  const Temporary folder;
  const Read read = values_of(folder.file("a.jsonl", "{}\n[1]\n"), {.format = "json-lines"});
  EXPECT_THAT(read.rows, ElementsAre("{ }"));
  ASSERT_EQ(read.errors.size(), 1u);
  EXPECT_EQ(read.errors[0].message, "row 2, at byte 3: this is no object, so it has no columns");
}

TEST(RowReader, HashesOneRowAlikeInEveryFormat) {
  const Temporary folder;
  write_parquet(*small_table(), folder / "a.parquet");
  const auto lines = folder.file("a.jsonl",
                                 "{\"score\":0.5,\"id\":1.0,\"name\":\"a\",\"tags\":[1,2]}\n"
                                 "{\"id\":2,\"name\":\"b\",\"score\":2}\n{\"name\":\"c\",\"tags\":[],\"id\":null}\n");
  EXPECT_EQ(hashes_of(folder / "a.parquet"), hashes_of(lines));
  EXPECT_EQ(hashes_of(folder / "a.parquet", {"name"}), hashes_of(lines, {"name"}));
}

TEST(RowReader, KnowsColumnsThatNoRowHad) {
  const Temporary folder;
  auto reader = RowReader::of_hashes({folder.file("a.jsonl", "{\"a\":1}\n")}, {}, {"b", "a"});
  ASSERT_TRUE(*reader->next());
  EXPECT_THAT(reader->unseen_columns(), ElementsAre("b"));
  EXPECT_THAT(reader->sizes(), ElementsAre(7));
}

TEST(RowReader, NeedsARoomForItself) {
  const auto reader = RowReader::of_values({"."}, {.budget = Bytes::mib(40)});
  ASSERT_FALSE(reader.ok());
  EXPECT_EQ(reader.errors()[0].code, "measure/small-budget");
  EXPECT_EQ(reader.errors()[0].hint, "the least is 52.00 MiB: the program itself takes most of that");
  EXPECT_TRUE(RowReader::of_values({"."}, {.budget = Bytes::mib(54)}).ok());
}

TEST(Look, NamesFilesAndFormats) {
  const Temporary folder;
  const auto nine = folder.file("9.txt", "x");
  const auto ten = folder.file("10.json", "[]");
  EXPECT_THAT(*files_of({folder.path()}), ElementsAre(nine, ten));
  EXPECT_EQ(*format_of(nine), "text");
  EXPECT_EQ(*format_of(ten), "json-array");
  EXPECT_EQ(*format_of(folder.file("bin", std::string_view("\0\1", 2))), "");
  EXPECT_EQ(format_of(folder / "none").errors()[0].code, "read/missing");
}

TEST(SeenTexts, TellTextsApartByBytesAndKind) {
  SeenTexts seen;
  EXPECT_TRUE(seen.insert("ab", 1));
  EXPECT_TRUE(seen.insert("ab", 2));
  EXPECT_FALSE(seen.insert("ab", 1));
  EXPECT_TRUE(seen.insert("", 1));
}

}  // namespace
}  // namespace oomplan::measure
