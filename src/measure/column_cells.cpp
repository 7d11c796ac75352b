#include "column_cells.hpp"

#include <arrow/api.h>
#include <arrow/util/float16.h>

#include <algorithm>
#include <vector>

#include "canonical.hpp"
#include "decimal_text.hpp"

namespace oomplan::measure {
namespace {

using arrow::Type;

template <class ArrayType, class Put>
class Cells final : public CellWriter {
 public:
  Cells(const arrow::Array& column, Put put)
      : column_(static_cast<const ArrayType&>(column)), nulls_(column.null_count() != 0), put_(std::move(put)) {}
  bool is_null(std::int64_t row) const override { return nulls_ && column_.IsNull(row); }
  void put(std::int64_t row, ByteBuffer& out) const override { put_(column_, row, out); }
  // The same as the base's, where the compiler sees through all of it.
  void put_field(std::string_view name, std::int64_t row, ByteBuffer& out) const override {
    if (is_null(row)) return;
    out.put(name);
    put_(column_, row, out);
  }

 private:
  const ArrayType& column_;
  const bool nulls_;
  Put put_;
};

template <class ArrayType, class Put>
std::unique_ptr<CellWriter> cells(const arrow::Array& column, Put put) {
  return std::make_unique<Cells<ArrayType, Put>>(column, std::move(put));
}

template <class ArrayType>
std::unique_ptr<CellWriter> integers(const arrow::Array& column) {
  return cells<ArrayType>(column,
                          [](const ArrayType& a, std::int64_t i, ByteBuffer& out) { put_integer(out, a.Value(i)); });
}

template <class ArrayType>
std::unique_ptr<CellWriter> numbers(const arrow::Array& column) {
  return cells<ArrayType>(column, [](const ArrayType& a, std::int64_t i, ByteBuffer& out) {
    put_number(out, static_cast<double>(a.Value(i)));
  });
}

template <class ArrayType>
std::unique_ptr<CellWriter> texts(const arrow::Array& column) {
  return cells<ArrayType>(column,
                          [](const ArrayType& a, std::int64_t i, ByteBuffer& out) { put_text(out, a.GetView(i)); });
}

template <class ArrayType>
std::unique_ptr<CellWriter> decimals(const arrow::Array& column) {
  return cells<ArrayType>(
      column, [](const ArrayType& a, std::int64_t i, ByteBuffer& out) { put_decimal(out, decimal_text(a, i)); });
}

/// `per_second` units; the quotient is rounded down, so that nanoseconds count forwards.
void put_units(ByteBuffer& out, char kind, std::int64_t value, std::int64_t per_second) {
  std::int64_t seconds = value / per_second;
  std::int64_t rest = value % per_second;
  if (rest < 0) rest += per_second, --seconds;
  put_time(out, kind, seconds, static_cast<std::int32_t>(rest * (1'000'000'000 / per_second)));
}

std::int64_t per_second(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return 1;
    case arrow::TimeUnit::MILLI:
      return 1'000;
    case arrow::TimeUnit::MICRO:
      return 1'000'000;
    case arrow::TimeUnit::NANO:
      return 1'000'000'000;
  }
  return 1;
}

template <class ArrayType>
std::unique_ptr<CellWriter> times(const arrow::Array& column, char kind, std::int64_t units) {
  return cells<ArrayType>(column, [kind, units](const ArrayType& a, std::int64_t i, ByteBuffer& out) {
    put_units(out, kind, a.Value(i), units);
  });
}

template <class TypeClass>
std::int64_t units_of(const arrow::Array& column) {
  return per_second(static_cast<const TypeClass&>(*column.type()).unit());
}

template <class ArrayType>
class Lists final : public CellWriter {
 public:
  explicit Lists(const arrow::Array& column)
      : column_(static_cast<const ArrayType&>(column)), values_(column_.values()), elements_(cell_writer(*values_)) {}
  bool is_null(std::int64_t row) const override { return column_.IsNull(row); }
  void put(std::int64_t row, ByteBuffer& out) const override {
    begin_list(out);
    const std::int64_t begin = column_.value_offset(row);
    for (std::int64_t i = begin; i < begin + column_.value_length(row); ++i) {
      if (elements_->is_null(i))
        put_null(out);
      else
        elements_->put(i, out);
    }
    end_list(out);
  }

 private:
  const ArrayType& column_;
  std::shared_ptr<arrow::Array> values_;
  std::unique_ptr<CellWriter> elements_;
};

class Structs final : public CellWriter {
 public:
  explicit Structs(const arrow::Array& column) : column_(static_cast<const arrow::StructArray&>(column)) {
    for (int i = 0; i < column_.num_fields(); ++i) {
      arrays_.push_back(column_.field(i));
      const std::string& name = column_.type()->field(i)->name();
      fields_.push_back({name, named(name), cell_writer(*arrays_.back())});
    }
    std::stable_sort(fields_.begin(), fields_.end(), [](const Field& a, const Field& b) { return a.name < b.name; });
  }
  bool is_null(std::int64_t row) const override { return column_.IsNull(row); }
  void put(std::int64_t row, ByteBuffer& out) const override {
    begin_object(out);
    for (const Field& field : fields_) field.cells->put_field(field.written.view(), row, out);
    end_object(out);
  }

 private:
  struct Field {
    std::string name;
    ByteBuffer written;  // the name as put_name() has it
    std::unique_ptr<CellWriter> cells;
  };
  const arrow::StructArray& column_;
  std::vector<std::shared_ptr<arrow::Array>> arrays_{};
  std::vector<Field> fields_{};
};

class Dictionary final : public CellWriter {
 public:
  explicit Dictionary(const arrow::Array& column)
      : column_(static_cast<const arrow::DictionaryArray&>(column)),
        values_(column_.dictionary()),
        cells_(cell_writer(*values_)) {}
  bool is_null(std::int64_t row) const override {
    return column_.IsNull(row) || cells_->is_null(column_.GetValueIndex(row));
  }
  void put(std::int64_t row, ByteBuffer& out) const override { cells_->put(column_.GetValueIndex(row), out); }

 private:
  const arrow::DictionaryArray& column_;
  std::shared_ptr<arrow::Array> values_;
  std::unique_ptr<CellWriter> cells_;
};

class Storage final : public CellWriter {
 public:
  explicit Storage(const arrow::Array& column)
      : storage_(static_cast<const arrow::ExtensionArray&>(column).storage()), cells_(cell_writer(*storage_)) {}
  bool is_null(std::int64_t row) const override { return cells_->is_null(row); }
  void put(std::int64_t row, ByteBuffer& out) const override { cells_->put(row, out); }

 private:
  std::shared_ptr<arrow::Array> storage_;
  std::unique_ptr<CellWriter> cells_;
};

class Nulls final : public CellWriter {
 public:
  bool is_null(std::int64_t) const override { return true; }
  void put(std::int64_t, ByteBuffer&) const override {}
};

}  // namespace

std::unique_ptr<CellWriter> cell_writer(const arrow::Array& column) {
  switch (column.type_id()) {
    case Type::BOOL:
      return cells<arrow::BooleanArray>(
          column, [](const arrow::BooleanArray& a, std::int64_t i, ByteBuffer& out) { put_boolean(out, a.Value(i)); });
    case Type::INT8:
      return integers<arrow::Int8Array>(column);
    case Type::INT16:
      return integers<arrow::Int16Array>(column);
    case Type::INT32:
      return integers<arrow::Int32Array>(column);
    case Type::INT64:
      return integers<arrow::Int64Array>(column);
    case Type::UINT8:
      return integers<arrow::UInt8Array>(column);
    case Type::UINT16:
      return integers<arrow::UInt16Array>(column);
    case Type::UINT32:
      return integers<arrow::UInt32Array>(column);
    case Type::UINT64:
      return cells<arrow::UInt64Array>(
          column, [](const arrow::UInt64Array& a, std::int64_t i, ByteBuffer& out) { put_unsigned(out, a.Value(i)); });
    case Type::HALF_FLOAT:
      return cells<arrow::HalfFloatArray>(column, [](const arrow::HalfFloatArray& a, std::int64_t i, ByteBuffer& out) {
        put_number(out, arrow::util::Float16::FromBits(a.Value(i)).ToDouble());
      });
    case Type::FLOAT:
      return numbers<arrow::FloatArray>(column);
    case Type::DOUBLE:
      return numbers<arrow::DoubleArray>(column);
    case Type::STRING:
    case Type::BINARY:
      return texts<arrow::BinaryArray>(column);
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY:
      return texts<arrow::LargeBinaryArray>(column);
    case Type::STRING_VIEW:
    case Type::BINARY_VIEW:
      return texts<arrow::BinaryViewArray>(column);
    case Type::FIXED_SIZE_BINARY:
      return texts<arrow::FixedSizeBinaryArray>(column);
    case Type::DECIMAL128:
      return decimals<arrow::Decimal128Array>(column);
    case Type::DECIMAL256:
      return decimals<arrow::Decimal256Array>(column);
    case Type::DATE32:
      return cells<arrow::Date32Array>(column, [](const arrow::Date32Array& a, std::int64_t i, ByteBuffer& out) {
        put_time(out, 'T', std::int64_t{a.Value(i)} * 86400, 0);
      });
    case Type::DATE64:
      return times<arrow::Date64Array>(column, 'T', 1'000);
    case Type::TIMESTAMP:
      return times<arrow::TimestampArray>(column, 'T', units_of<arrow::TimestampType>(column));
    case Type::TIME32:
      return times<arrow::Time32Array>(column, 'C', units_of<arrow::Time32Type>(column));
    case Type::TIME64:
      return times<arrow::Time64Array>(column, 'C', units_of<arrow::Time64Type>(column));
    case Type::DURATION:
      return times<arrow::DurationArray>(column, 'D', units_of<arrow::DurationType>(column));
    case Type::LIST:
      return std::make_unique<Lists<arrow::ListArray>>(column);
    case Type::LARGE_LIST:
      return std::make_unique<Lists<arrow::LargeListArray>>(column);
    case Type::FIXED_SIZE_LIST:
      return std::make_unique<Lists<arrow::FixedSizeListArray>>(column);
    case Type::MAP:
      return std::make_unique<Lists<arrow::MapArray>>(column);
    case Type::STRUCT:
      return std::make_unique<Structs>(column);
    case Type::DICTIONARY:
      return std::make_unique<Dictionary>(column);
    case Type::EXTENSION:
      return std::make_unique<Storage>(column);
    default:
      return std::make_unique<Nulls>();  // NA; the others were objected to
  }
}

}  // namespace oomplan::measure
