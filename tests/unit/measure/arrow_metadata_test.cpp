// What a message of Arrow's makes of memory, told before Arrow reads it.
#include "arrow_metadata.hpp"

#include <gmock/gmock.h>

#include "oomplan/measure/measure.hpp"
#include "parquet_file.hpp"
#include "process.hpp"
#include "temporary.hpp"

namespace oomplan::measure {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::shared_ptr<arrow::Table> wide_table(int columns) {
  arrow::Int8Builder one;
  EXPECT_TRUE(one.Append(1).ok());
  const std::shared_ptr<arrow::Array> values = *one.Finish();
  std::vector<std::shared_ptr<arrow::Field>> fields;
  for (int i = 0; i < columns; ++i) fields.push_back(arrow::field("c" + std::to_string(i), arrow::int8()));
  return arrow::Table::Make(arrow::schema(fields), std::vector(static_cast<std::size_t>(columns), values));
}

/// A schema's message without its length.
std::string message_of(const arrow::Schema& schema) {
  return (*arrow::ipc::SerializeSchema(schema))->ToString().substr(8);
}

TEST(MessageCost, CountsFieldsAndTheirTexts) {
  const auto inner = arrow::struct_({arrow::field("a", arrow::int8()), arrow::field("b", arrow::utf8())});
  const auto field = arrow::field("s", inner);
  const MessageCost plain = cost_of_message(message_of(*arrow::schema({field})), false);
  EXPECT_EQ(plain.kind, MessageCost::Kind::schema);
  EXPECT_EQ(plain.fields, 3);
  const auto noted = field->WithMetadata(arrow::key_value_metadata({"k"}, {std::string(1'000, 'v')}));
  EXPECT_GT(cost_of_message(message_of(*arrow::schema({noted})), false).bytes, plain.bytes + 2'000);
  const auto zoned = arrow::field("t", arrow::timestamp(arrow::TimeUnit::SECOND, std::string(1'000, 'z')));
  EXPECT_GT(cost_of_message(message_of(*arrow::schema({zoned})), false).bytes, 2'000);
}

TEST(MessageCost, OfACutMessageIsNoCrash) {
  const std::string whole = message_of(*wide_table(3)->schema());
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_LE(cost_of_message(std::string_view(whole).substr(0, length), true).fields, 3) << length;
}

TEST(Messages, WithoutBodiesOrMarksAreReadOneByOne) {
  const Temporary folder;
  arrow::ipc::IpcWriteOptions options = arrow::ipc::IpcWriteOptions::Defaults();
  for (const bool marks : {true, false}) {
    options.write_legacy_ipc_format = !marks;
    auto out = *arrow::io::FileOutputStream::Open(folder / "nulls");
    const auto schema = arrow::schema({arrow::field("n", arrow::null())});
    auto writer = *arrow::ipc::MakeStreamWriter(out, schema, options);
    const auto batch = arrow::RecordBatch::Make(schema, 3, {std::make_shared<arrow::NullArray>(3)});
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(writer->WriteRecordBatch(*batch).ok());
    ASSERT_TRUE(writer->Close().ok() && out->Close().ok());
    const StreamReport report = stream({folder / "nulls"}, {.budget = Bytes::gib(16), .format = "arrow"});
    EXPECT_THAT(report.diagnostics, testing::IsEmpty()) << marks;
    EXPECT_EQ(report.totals.rows, 9) << marks;
  }
}

StreamReport streamed_beside(const std::string& path, Bytes more) {
  return stream({path}, {.budget = Bytes(memory_of_this_process().rss) + more, .threads = 1});
}

TEST(WideSchemas, AreRefusedWithWhatTheyNeed) {
  const Temporary folder;
  write_arrow(*wide_table(20'000), folder / "arrow", true);
  write_parquet(*wide_table(2'000), folder / "parquet");
  for (const char* name : {"arrow", "parquet"}) {
    const StreamReport report = streamed_beside(folder / name, Bytes::mib(32));
    ASSERT_THAT(report.diagnostics, SizeIs(1)) << name;
    EXPECT_EQ(report.diagnostics[0].code, "measure/over-budget");
    EXPECT_THAT(report.diagnostics[0].message, testing::AnyOf(HasSubstr("20,000 fields"), HasSubstr("2,000 columns")));
  }
}

}  // namespace
}  // namespace oomplan::measure
