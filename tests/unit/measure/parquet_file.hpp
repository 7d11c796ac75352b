// Parquet and Arrow files with the same rows, for tests.
#pragma once

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/ipc/writer.h>
#include <parquet/arrow/writer.h>

#include <memory>
#include <string>

namespace oomplan::measure {

inline void write_parquet(
    const arrow::Table& table, const std::string& path, std::int64_t rows_in_group = 1 << 20,
    std::shared_ptr<parquet::WriterProperties> properties = parquet::default_writer_properties()) {
  auto out = *arrow::io::FileOutputStream::Open(path);
  const arrow::Status status =
      parquet::arrow::WriteTable(table, arrow::default_memory_pool(), out, rows_in_group, std::move(properties));
  if (!status.ok() || !out->Close().ok()) throw std::runtime_error(status.ToString());
}

inline void write_arrow(const arrow::Table& table, const std::string& path, bool stream) {
  auto out = *arrow::io::FileOutputStream::Open(path);
  auto writer =
      stream ? *arrow::ipc::MakeStreamWriter(out, table.schema()) : *arrow::ipc::MakeFileWriter(out, table.schema());
  if (!writer->WriteTable(table, 2).ok() || !writer->Close().ok() || !out->Close().ok()) throw std::runtime_error(path);
}

inline std::shared_ptr<arrow::Table> table_of_texts(const std::vector<std::string>& texts) {
  arrow::StringBuilder builder;
  if (!builder.AppendValues(texts).ok()) throw std::runtime_error("no memory");
  return arrow::Table::Make(arrow::schema({arrow::field("text", arrow::utf8())}), {*builder.Finish()});
}

/// id 1, 2 and null; name a, b and c; score 0.5, 2 and null; tags [1, 2], null and [].
inline std::shared_ptr<arrow::Table> small_table() {
  arrow::Int32Builder id;
  arrow::StringBuilder name;
  arrow::DoubleBuilder score;
  auto tag = std::make_shared<arrow::Int64Builder>();
  arrow::ListBuilder tags(arrow::default_memory_pool(), tag);
  const bool built = id.AppendValues({1, 2, 0}, {true, true, false}).ok() && name.AppendValues({"a", "b", "c"}).ok() &&
                     score.AppendValues({0.5, 2, 0}, {true, true, false}).ok() && tags.Append().ok() &&
                     tag->AppendValues({1, 2}).ok() && tags.AppendNull().ok() && tags.Append().ok();
  if (!built) throw std::runtime_error("no memory");
  return arrow::Table::Make(
      arrow::schema({arrow::field("tags", arrow::list(arrow::int64())), arrow::field("id", arrow::int32()),
                     arrow::field("name", arrow::utf8()), arrow::field("score", arrow::float64())}),
      {*tags.Finish(), *id.Finish(), *name.Finish(), *score.Finish()});
}

}  // namespace oomplan::measure
