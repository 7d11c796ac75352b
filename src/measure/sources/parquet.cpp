// Parquet, a few rows at a time: as many as the rows so far let expect to fill a batch. Where the next ones turn out
// much larger, the pool refuses their memory, and the file is opened again and read on in smaller steps.
#include <arrow/api.h>
#include <arrow/io/file.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/properties.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <vector>

#include "../arrow_errors.hpp"
#include "../columns.hpp"
#include "../parquet_footer.hpp"
#include "../pool.hpp"
#include "../source.hpp"
#include "oomplan/core/bytes.hpp"

namespace oomplan::measure {
namespace {

constexpr std::int64_t most_buffer = std::int64_t{256} << 10;
constexpr std::int64_t of_cell_writer = 850;  // an object for each column whose values are looked at
constexpr std::int64_t most_rows = std::int64_t{64} << 10;

std::int64_t rows_in_groups(const parquet::FileMetaData& metadata) {
  std::int64_t out = 0;
  for (int i = 0; i < metadata.num_row_groups(); ++i) out = saturating_add(out, metadata.RowGroup(i)->num_rows());
  return out;
}

class Parquet final : public RowSource {
 public:
  Parquet(const Input& input, const FooterCounts& counts)
      : path_(input.path),
        part_(input.part),
        room_(input.room),
        counts_(counts),
        contents_(input.wanted.contents()),
        pool_(input.room.pool),
        slices_(input),
        step_(1024) {}

  /// Sets apart what the schema and its columns take beside pages and values.
  Result<bool> reserve() {
    const std::int64_t writers = contents_ ? of_cell_writer * counts_.elements : 0;
    return guarded(what_of(counts_), [&] { return pool_.reserve(counts_.as_read() + counts_.readers() + writers); });
  }

  Result<bool> open() {
    return guarded("the file", [&]() -> arrow::Status {
      columns_.clear();
      reader_.reset();
      parquet::ReaderProperties properties(&pool_);
      properties.enable_buffered_stream();
      const std::int64_t for_each = room_.pool / 8 / std::max<std::int64_t>(counts_.leaves, 1);
      properties.set_buffer_size(std::clamp<std::int64_t>(for_each, 1024, std::min(room_.batch / 8, most_buffer)));
      properties.set_thrift_string_size_limit(
          static_cast<std::int32_t>(std::min<std::int64_t>(room_.pool / 4, 100'000'000)));
      ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path_, &pool_));
      parquet::arrow::FileReaderBuilder builder;
      ARROW_RETURN_NOT_OK(builder.Open(file, properties));
      if (builder.raw_reader()->metadata()->is_encryption_algorithm_set()) return arrow::Status::Invalid(encrypted);
      if (part_) {
        const auto only = builder.raw_reader()->metadata()->Subset({static_cast<int>(part_->begin)});
        builder = parquet::arrow::FileReaderBuilder();
        ARROW_RETURN_NOT_OK(builder.Open(file, properties, only));
      }
      parquet::ArrowReaderProperties arrow_properties(false);
      arrow_properties.set_pre_buffer(false);
      ARROW_ASSIGN_OR_RAISE(reader_, builder.memory_pool(&pool_)->properties(arrow_properties)->Build());
      ARROW_RETURN_NOT_OK(reader_->GetSchema(&schema_));
      const auto metadata = reader_->parquet_reader()->metadata();
      declared_ = metadata->num_rows();
      if (declared_ != rows_in_groups(*metadata))
        return arrow::Status::Invalid("its row groups have other rows than it");
      columns_.resize(static_cast<std::size_t>(schema_->num_fields()));
      for (int i = 0; i < schema_->num_fields(); ++i) {
        ARROW_RETURN_NOT_OK(reader_->GetColumn(i, &columns_[static_cast<std::size_t>(i)]));
      }
      return arrow::Status::OK();
    });
  }

  std::optional<std::int64_t> declared() const override { return declared_; }

  Result<bool> next(RowBatch& out) override {
    while (slices_.empty()) {
      if (row_ >= declared_) return whole();
      if (Result<bool> read = read_on(); !read) return read.errors();
    }
    return slices_.next(out);
  }

 private:
  /// Whatever Arrow returns or throws, as a diagnostic.
  Result<bool> guarded(const std::string& what, const std::function<arrow::Status()>& action) {
    std::string why;
    try {
      const arrow::Status status = action();
      if (status.ok()) return true;
      why = status.message();
    } catch (const std::exception& error) {
      why = error.what();
    }
    return arrow_error(path_, what, why, pool_);
  }

  /// At the end of what the footer says: false, unless a column has more.
  Result<bool> whole() {
    const Result<bool> looked = guarded("the end", [&]() -> arrow::Status {
      for (const auto& column : columns_) {
        std::shared_ptr<arrow::ChunkedArray> more;
        ARROW_RETURN_NOT_OK(column->NextBatch(1, &more));
        if (more && more->length() > 0) return arrow::Status::Invalid("a column has more rows than the file");
      }
      return arrow::Status::OK();
    });
    if (!looked) return looked.errors();
    return false;
  }

  Result<bool> read_on() {
    while (true) {
      std::shared_ptr<arrow::RecordBatch> batch;
      const Result<bool> read = rows(step_, batch);
      if (read) {
        take(std::move(batch));
        return true;
      }
      if (pool_.refused() == 0 || step_ == 1) return read.errors();
      largest_step_ = step_ = std::max<std::int64_t>(step_ / 16, 1);
      if (Result<bool> back = again(); !back) return back.errors();
    }
  }

  void take(std::shared_ptr<arrow::RecordBatch> batch) {
    std::int64_t bytes = 1;
    for (int i = 0; i < batch->num_columns(); ++i) bytes += value_bytes(*batch->column(i), 0, batch->num_rows());
    const std::int64_t fit = static_cast<std::int64_t>(static_cast<double>(room_.batch) / static_cast<double>(bytes) *
                                                       static_cast<double>(batch->num_rows()));
    step_ = std::clamp<std::int64_t>(fit, 1, std::min(largest_step_, 4 * step_));
    row_ += batch->num_rows();
    slices_.put(std::move(batch));
  }

  /// The next `count` rows, or as many as there are.
  Result<bool> rows(std::int64_t count, std::shared_ptr<arrow::RecordBatch>& out) {
    count = std::min(count, declared_ - row_);
    return guarded(place(count), [&]() -> arrow::Status {
      std::vector<std::shared_ptr<arrow::Array>> arrays;
      for (const auto& column : columns_) {
        std::shared_ptr<arrow::ChunkedArray> chunks;
        ARROW_RETURN_NOT_OK(column->NextBatch(count, &chunks));
        if (!chunks || chunks->length() != count)
          return arrow::Status::Invalid("a column has fewer rows than the file");
        if (chunks->num_chunks() == 1) {
          arrays.push_back(chunks->chunk(0));
        } else {
          ARROW_ASSIGN_OR_RAISE(auto joined, arrow::Concatenate(chunks->chunks(), &pool_));
          arrays.push_back(std::move(joined));
        }
      }
      out = arrow::RecordBatch::Make(schema_, count, std::move(arrays));
      return out->Validate();
    });
  }

  /// Opens the file once more and goes to where it was.
  Result<bool> again() {
    pool_.forget_refusal();
    if (Result<bool> opened = open(); !opened) return opened.errors();
    const std::int64_t target = row_;
    for (row_ = 0; row_ < target;) {
      std::shared_ptr<arrow::RecordBatch> passed;
      const Result<bool> read = rows(std::min(step_, target - row_), passed);
      if (!read) return read.errors();
      row_ += passed->num_rows();
    }
    return true;
  }

  std::string place(std::int64_t count) const {
    return count == 1 ? "row " + std::to_string(row_ + 1)
                      : "rows " + std::to_string(row_ + 1) + " to " + std::to_string(row_ + count);
  }

  std::string path_;
  std::optional<Part> part_;
  Room room_;
  FooterCounts counts_;
  bool contents_;
  LimitedPool pool_;  // outlives all that is below
  Slices slices_;
  std::unique_ptr<parquet::arrow::FileReader> reader_{};
  std::shared_ptr<arrow::Schema> schema_{};
  std::vector<std::unique_ptr<parquet::arrow::ColumnReader>> columns_{};
  std::int64_t declared_ = 0;
  std::int64_t row_ = 0;
  std::int64_t step_;
  std::int64_t largest_step_ = most_rows;
};

}  // namespace

Result<std::unique_ptr<RowSource>> sources::parquet(Input input) {
  if (input.packed)
    return bad_file(input.path, "a Parquet file that is packed once more cannot be read in place; unpack it first");
  const Result<FooterCounts> counts = footer_of(input.path, input.room);
  if (!counts) return counts.errors();
  auto source = std::make_unique<Parquet>(input, *counts);
  if (Result<bool> reserved = source->reserve(); !reserved) return reserved.errors();
  if (Result<bool> opened = source->open(); !opened) return opened.errors();
  return std::unique_ptr<RowSource>(std::move(source));
}

}  // namespace oomplan::measure
