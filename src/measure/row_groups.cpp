#include "row_groups.hpp"

#include <arrow/io/file.h>
#include <parquet/file_reader.h>
#include <parquet/properties.h>

#include <algorithm>
#include <exception>

#include "arrow_errors.hpp"
#include "oomplan/core/bytes.hpp"
#include "parquet_footer.hpp"
#include "pool.hpp"

namespace oomplan::measure {
namespace {

std::int64_t bytes_of(const parquet::RowGroupMetaData& group) {
  std::int64_t out = 0;
  for (int i = 0; i < group.num_columns(); ++i) {
    out = saturating_add(out, std::max<std::int64_t>(group.ColumnChunk(i)->total_compressed_size(), 0));
  }
  return out;
}

ParquetRows rows_in(const parquet::FileMetaData& metadata) {
  ParquetRows out{.declared = metadata.num_rows()};
  for (int i = 0; i < metadata.num_row_groups(); ++i) {
    const auto group = metadata.RowGroup(i);
    out.groups.push_back({std::max<std::int64_t>(group->num_rows(), 0), bytes_of(*group)});
  }
  return out;
}

}  // namespace

Result<ParquetRows> row_groups_of(const std::string& path, const Room& room) {
  if (const Result<FooterCounts> counts = footer_of(path, room); !counts) return counts.errors();
  LimitedPool pool(room.pool);
  try {
    parquet::ReaderProperties properties(&pool);
    const auto file = arrow::io::ReadableFile::Open(path, &pool);
    if (!file.ok()) return arrow_error(path, "the file", file.status().message(), pool);
    return rows_in(*parquet::ParquetFileReader::Open(*file, properties)->metadata());
  } catch (const std::exception& error) {
    return arrow_error(path, "the footer", error.what(), pool);
  }
}

}  // namespace oomplan::measure
