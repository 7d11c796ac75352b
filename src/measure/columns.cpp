#include "columns.hpp"

#include <arrow/api.h>

#include <algorithm>
#include <vector>

#include "canonical.hpp"
#include "column_cells.hpp"
#include "oomplan/core/bytes.hpp"

namespace oomplan::measure {
namespace {

using arrow::Type;

/// The bytes of values, and `each` more for every value, lists and null among them.
std::int64_t weight(const arrow::Array& column, std::int64_t begin, std::int64_t end, std::int64_t each);

template <class ArrayType>
std::int64_t between_offsets(const arrow::Array& column, std::int64_t begin, std::int64_t end) {
  const auto& array = static_cast<const ArrayType&>(column);
  return static_cast<std::int64_t>(array.value_offset(end)) - array.value_offset(begin);
}

template <class ArrayType>
std::int64_t in_lists(const arrow::Array& column, std::int64_t begin, std::int64_t end, std::int64_t each) {
  const auto& array = static_cast<const ArrayType&>(column);
  return weight(*array.values(), array.value_offset(begin), array.value_offset(end), each);
}

template <class ArrayType>
std::int64_t in_views(const arrow::Array& column, std::int64_t begin, std::int64_t end) {
  const auto& array = static_cast<const ArrayType&>(column);
  std::int64_t out = 0;
  for (std::int64_t i = begin; i < end; ++i)
    out += array.IsNull(i) ? 0 : static_cast<std::int64_t>(array.GetView(i).size());
  return out;
}

std::int64_t in_dictionary(const arrow::Array& column, std::int64_t begin, std::int64_t end, std::int64_t each) {
  const auto& array = static_cast<const arrow::DictionaryArray&>(column);
  const auto values = array.dictionary();
  std::int64_t out = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    if (array.IsNull(i)) continue;
    const std::int64_t at = array.GetValueIndex(i);
    out = saturating_add(out, weight(*values, at, at + 1, each));
  }
  return out;
}

std::int64_t in_struct(const arrow::Array& column, std::int64_t begin, std::int64_t end, std::int64_t each) {
  const auto& array = static_cast<const arrow::StructArray&>(column);
  std::int64_t out = 0;
  for (int i = 0; i < array.num_fields(); ++i) {
    const std::int64_t name = each > 0 ? static_cast<std::int64_t>(column.type()->field(i)->name().size()) : 0;
    out = saturating_add(out, weight(*array.field(i), begin, end, each));
    out = saturating_add(out, saturating_mul(end - begin, name));
  }
  return out;
}

std::int64_t without_each(const arrow::Array& column, std::int64_t begin, std::int64_t end, std::int64_t each) {
  switch (column.type_id()) {
    case Type::NA:
      return 0;
    case Type::BOOL:
      return end - begin;
    case Type::STRING:
    case Type::BINARY:
      return between_offsets<arrow::BinaryArray>(column, begin, end);
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY:
      return between_offsets<arrow::LargeBinaryArray>(column, begin, end);
    case Type::STRING_VIEW:
    case Type::BINARY_VIEW:
      return in_views<arrow::BinaryViewArray>(column, begin, end);
    case Type::LIST:
    case Type::MAP:
      return in_lists<arrow::ListArray>(column, begin, end, each);
    case Type::LARGE_LIST:
      return in_lists<arrow::LargeListArray>(column, begin, end, each);
    case Type::FIXED_SIZE_LIST:
      return in_lists<arrow::FixedSizeListArray>(column, begin, end, each);
    case Type::STRUCT:
      return in_struct(column, begin, end, each);
    case Type::DICTIONARY:
      return in_dictionary(column, begin, end, each);
    case Type::EXTENSION:
      return weight(*static_cast<const arrow::ExtensionArray&>(column).storage(), begin, end, each);
    default:
      return saturating_mul(end - begin, std::max(column.type()->byte_width(), 0));
  }
}

std::int64_t weight(const arrow::Array& column, std::int64_t begin, std::int64_t end, std::int64_t each) {
  return saturating_add(without_each(column, begin, end, each), saturating_mul(end - begin, each));
}

// A tag, the length or the bytes of a time, and the end of a list; decimals are wider than they are as bytes, and few.
constexpr std::int64_t canonical_each = 16;

}  // namespace

std::int64_t value_bytes(const arrow::Array& column, std::int64_t begin, std::int64_t end) {
  return weight(column, begin, end, 0);
}

std::optional<std::string> objection_to(const arrow::DataType& type) {
  switch (type.id()) {
    case Type::SPARSE_UNION:
    case Type::DENSE_UNION:
    case Type::RUN_END_ENCODED:
    case Type::INTERVAL_MONTHS:
    case Type::INTERVAL_DAY_TIME:
    case Type::INTERVAL_MONTH_DAY_NANO:
    case Type::LIST_VIEW:
    case Type::LARGE_LIST_VIEW:
    case Type::DECIMAL32:
    case Type::DECIMAL64:
      return type.ToString();
    case Type::DICTIONARY:
      return objection_to(*static_cast<const arrow::DictionaryType&>(type).value_type());
    case Type::EXTENSION:
      return objection_to(*static_cast<const arrow::ExtensionType&>(type).storage_type());
    default:
      break;
  }
  for (const auto& field : type.fields()) {
    if (auto why = objection_to(*field->type())) return why;
  }
  return std::nullopt;
}

namespace {

struct NamedColumn {
  std::string name{};
  ByteBuffer written{};  // the name as put_name() has it
  std::unique_ptr<CellWriter> cells{};
};

/// Those that count, by name.
std::vector<NamedColumn> writers_of(const arrow::RecordBatch& batch, KeyColumns& key) {
  std::vector<NamedColumn> out;
  for (int i = 0; i < batch.num_columns(); ++i) {
    const std::string& name = batch.column_name(i);
    if (key.takes(name)) out.push_back({name, named(name), cell_writer(*batch.column(i))});
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  // Of columns of one name the last counts.
  const auto kept =
      std::unique(out.rbegin(), out.rend(), [](const auto& a, const auto& b) { return a.name == b.name; });
  out.erase(out.begin(), kept.base());
  return out;
}

void put_rows(const arrow::RecordBatch& batch, KeyColumns& key, CanonicalRows& canonical) {
  const std::vector<NamedColumn> columns = writers_of(batch, key);
  for (std::int64_t row = 0; row < batch.num_rows(); ++row) {
    ByteBuffer& out = canonical.open();
    begin_object(out);
    for (const NamedColumn& column : columns) column.cells->put_field(column.written.view(), row, out);
    end_object(out);
    canonical.close();
  }
}

}  // namespace

void Slices::put(std::shared_ptr<arrow::RecordBatch> batch) {
  at_ = 0;
  batch_ = batch->num_rows() > 0 ? std::move(batch) : nullptr;
}

std::int64_t Slices::bytes_in(std::int64_t begin, std::int64_t end) const {
  std::int64_t out = 0;
  for (const auto& column : batch_->columns()) out = saturating_add(out, value_bytes(*column, begin, end));
  return out;
}

/// What rows take here: a list of nothing but null has no bytes, and a canonical form all the same.
std::int64_t Slices::taken_by(std::int64_t begin, std::int64_t end) const {
  if (!wanted_.canonical) return bytes_in(begin, end);
  std::int64_t out = 0;
  for (int i = 0; i < batch_->num_columns(); ++i) {
    const auto name = static_cast<std::int64_t>(batch_->column_name(i).size());
    out = saturating_add(out, weight(*batch_->column(i), begin, end, canonical_each));
    out = saturating_add(out, saturating_mul(end - begin, name));
  }
  return out;
}

Result<bool> Slices::next(RowBatch& out) {
  for (const auto& field : batch_->schema()->fields()) {
    const auto why = wanted_.contents() ? objection_to(*field->type()) : std::nullopt;
    if (why)
      return bad_file(path_, "the column '" + field->name() + "' has the type " + *why + ", whose values are not " +
                                 (wanted_.canonical ? "compared" : "handed on"));
  }
  const std::int64_t rows = batch_->num_rows();
  // From here on, not back from the end: to weigh a dictionary's rows takes as long as there are rows.
  std::int64_t end = at_ + 1;
  for (std::int64_t step = 1; end < rows; step *= 2) {
    const std::int64_t further = std::min(rows, end + step);
    if (taken_by(at_, further) > 2 * room_.batch) break;
    end = further;
  }
  if (const std::int64_t taken = taken_by(at_, end); wanted_.canonical && taken > std::max(room_.row, 2 * room_.batch))
    return over_budget({path_}, "a row with its lists written out", taken, room_.row);
  out.columns = batch_->Slice(at_, end - at_);
  out.rows = end - at_;
  out.decoded = bytes_in(at_, end);
  for (std::int64_t row = at_; wanted_.sizes && row < end; ++row) out.sizes.push_back(bytes_in(row, row + 1));
  if (wanted_.canonical) put_rows(*out.columns, *key_, out.canonical);
  at_ = end;
  if (at_ == rows) batch_.reset();
  return true;
}

}  // namespace oomplan::measure
