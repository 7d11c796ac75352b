#include <arrow/api.h>
#include <arrow/io/file.h>
#include <parquet/arrow/writer.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <functional>

#include "arrow_errors.hpp"
#include "output_file.hpp"
#include "pool.hpp"
#include "row_writer.hpp"

namespace oomplan::measure {
namespace {

class ParquetWriter final : public RowWriter {
 public:
  ParquetWriter(OutputFile file, const Room& room) : file_(std::move(file)), room_(room), pool_(room.pool / 2) {}

  Result<bool> write(const RowBatch& batch, std::int64_t first, const RowSet& left_out) override {
    if (!batch.columns) {
      return Diagnostic{.code = "measure/output-kind",
                        .message = "Parquet is written of Parquet and Arrow inputs only: others name no types",
                        .where = {file_.path()},
                        .hint = "a .jsonl.zst output takes any"};
    }
    return guarded([&]() -> arrow::Status {
      if (!writer_) ARROW_RETURN_NOT_OK(begin(*batch.columns->schema()));
      if (!batch.columns->schema()->Equals(*schema_))
        return arrow::Status::Invalid("the inputs have different columns");
      return write_runs(batch, first, left_out);
    });
  }

  Result<bool> finish() override {
    Result<bool> closed = guarded([&]() -> arrow::Status {
      if (!writer_) return arrow::Status::Invalid("there is no row, and so no schema");
      ARROW_RETURN_NOT_OK(writer_->Close());
      return stream_->Close();
    });
    return closed ? file_.publish() : closed;
  }

 private:
  arrow::Status begin(const arrow::Schema& schema) {
    schema_ = arrow::schema(schema.fields(), schema.metadata());
    const int descriptor = ::dup(file_.descriptor());  // the stream closes its own
    if (descriptor < 0) return arrow::Status::IOError("no descriptor is left");
    ARROW_ASSIGN_OR_RAISE(stream_, arrow::io::FileOutputStream::Open(descriptor));
    const auto properties = parquet::WriterProperties::Builder()
                                .compression(arrow::Compression::ZSTD)
                                ->memory_pool(&pool_)
                                ->data_pagesize(room_.batch / 4)
                                ->dictionary_pagesize_limit(room_.batch / 4)
                                ->build();
    ARROW_ASSIGN_OR_RAISE(writer_, parquet::arrow::FileWriter::Open(*schema_, &pool_, stream_, properties));
    return arrow::Status::OK();
  }

  /// A row group's columns wait in memory, packed, until it is whole.
  arrow::Status write_runs(const RowBatch& batch, std::int64_t first, const RowSet& left_out) {
    for (std::int64_t row = 0; row < batch.rows;) {
      std::int64_t end = row;
      while (end < batch.rows && !left_out.contains(first + end)) ++end;
      if (end > row) ARROW_RETURN_NOT_OK(writer_->WriteRecordBatch(*batch.columns->Slice(row, end - row)));
      row = end + 1;
    }
    if (pool_.bytes_allocated() > pool_.limit() / 3) ARROW_RETURN_NOT_OK(writer_->NewBufferedRowGroup());
    return arrow::Status::OK();
  }

  Result<bool> guarded(const std::function<arrow::Status()>& action) {
    std::string why;
    try {
      const arrow::Status status = action();
      if (status.ok()) return true;
      why = status.message();
      if (status.IsIOError())
        return Diagnostic{.code = "measure/cannot-write", .message = why, .where = {file_.path()}};
    } catch (const std::exception& error) {
      why = error.what();
    }
    return arrow_error(file_.path(), "writing", why, pool_);
  }

  OutputFile file_;
  Room room_;
  LimitedPool pool_;
  std::shared_ptr<arrow::Schema> schema_{};
  std::shared_ptr<arrow::io::FileOutputStream> stream_{};
  std::unique_ptr<parquet::arrow::FileWriter> writer_{};
};

}  // namespace

Result<std::unique_ptr<RowWriter>> parquet_writer(const std::string& path, const Room& room) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return file.errors();
  return std::unique_ptr<RowWriter>(std::make_unique<ParquetWriter>(std::move(*file), room));
}

}  // namespace oomplan::measure
