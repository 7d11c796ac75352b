#include "column_values.hpp"

#include <arrow/api.h>
#include <arrow/util/float16.h>

#include <utility>

#include "decimal_text.hpp"

namespace oomplan::measure {
namespace {

using arrow::Type;

constexpr std::int64_t elements_between_looks = 4096;

std::unique_ptr<CellTeller> teller_of(const arrow::Array& column);

template <class ArrayType, class Tell>
class Cells final : public CellTeller {
 public:
  Cells(const arrow::Array& column, Tell tell)
      : column_(static_cast<const ArrayType&>(column)), tell_(std::move(tell)) {}
  void tell(std::int64_t row, Values& values) const override {
    if (column_.IsNull(row)) return values.null();
    tell_(column_, row, values);
  }

 private:
  const ArrayType& column_;
  Tell tell_;
};

template <class ArrayType, class Tell>
std::unique_ptr<CellTeller> cells(const arrow::Array& column, Tell tell) {
  return std::make_unique<Cells<ArrayType, Tell>>(column, std::move(tell));
}

template <class ArrayType>
std::unique_ptr<CellTeller> integers(const arrow::Array& column) {
  return cells<ArrayType>(column, [](const ArrayType& a, std::int64_t i, Values& out) { out.integer(a.Value(i)); });
}

template <class ArrayType>
std::unique_ptr<CellTeller> numbers(const arrow::Array& column) {
  return cells<ArrayType>(
      column, [](const ArrayType& a, std::int64_t i, Values& out) { out.number(static_cast<double>(a.Value(i))); });
}

template <class ArrayType>
std::unique_ptr<CellTeller> texts(const arrow::Array& column) {
  return cells<ArrayType>(column, [](const ArrayType& a, std::int64_t i, Values& out) { out.text(a.GetView(i)); });
}

template <class ArrayType>
std::unique_ptr<CellTeller> blobs(const arrow::Array& column) {
  return cells<ArrayType>(column, [](const ArrayType& a, std::int64_t i, Values& out) { out.bytes(a.GetView(i)); });
}

template <class ArrayType>
std::unique_ptr<CellTeller> decimals(const arrow::Array& column) {
  return cells<ArrayType>(column,
                          [](const ArrayType& a, std::int64_t i, Values& out) { out.decimal(decimal_text(a, i)); });
}

std::int64_t per_second(arrow::TimeUnit::type unit) {
  constexpr std::int64_t units[] = {1, 1'000, 1'000'000, 1'000'000'000};
  return units[unit];
}

/// The quotient is rounded down, so that nanoseconds count forwards.
Time time_of(Time time, std::int64_t value, std::int64_t units) {
  time.seconds = value / units - (value % units < 0 ? 1 : 0);
  time.nanoseconds = static_cast<std::int32_t>((value % units + units) % units * (1'000'000'000 / units));
  return time;
}

template <class ArrayType>
std::unique_ptr<CellTeller> times(const arrow::Array& column, Time::Kind kind, std::int64_t units, bool zoned = false) {
  const Time time{.kind = kind, .zoned = zoned};
  return cells<ArrayType>(column, [time, units](const ArrayType& a, std::int64_t i, Values& out) {
    out.time(time_of(time, a.Value(i), units));
  });
}

template <class TypeClass>
std::int64_t units_of(const arrow::Array& column) {
  return per_second(static_cast<const TypeClass&>(*column.type()).unit());
}

std::unique_ptr<CellTeller> timestamps(const arrow::Array& column) {
  const bool zoned = !static_cast<const arrow::TimestampType&>(*column.type()).timezone().empty();
  return times<arrow::TimestampArray>(column, Time::Kind::instant, units_of<arrow::TimestampType>(column), zoned);
}

template <class ArrayType>
class Lists final : public CellTeller {
 public:
  explicit Lists(const arrow::Array& column)
      : column_(static_cast<const ArrayType&>(column)), values_(column_.values()), elements_(teller_of(*values_)) {}
  void tell(std::int64_t row, Values& values) const override {
    if (column_.IsNull(row)) return values.null();
    values.begin_list();
    const std::int64_t begin = column_.value_offset(row);
    const std::int64_t end = begin + column_.value_length(row);
    for (std::int64_t i = begin; i < end; ++i) {
      if (i % elements_between_looks == 0 && values.stopped()) return;
      elements_->tell(i, values);
    }
    values.end_list();
  }

 private:
  const ArrayType& column_;
  std::shared_ptr<arrow::Array> values_;
  std::unique_ptr<CellTeller> elements_;
};

class Structs final : public CellTeller {
 public:
  explicit Structs(const arrow::Array& column) : column_(static_cast<const arrow::StructArray&>(column)) {
    for (int i = 0; i < column_.num_fields(); ++i) {
      arrays_.push_back(column_.field(i));
      fields_.push_back({column_.type()->field(i)->name(), teller_of(*arrays_.back())});
    }
  }
  void tell(std::int64_t row, Values& values) const override {
    if (column_.IsNull(row)) return values.null();
    values.begin_object();
    for (const Field& field : fields_) {
      values.name(field.name);
      field.cells->tell(row, values);
    }
    values.end_object();
  }

 private:
  struct Field {
    std::string name;
    std::unique_ptr<CellTeller> cells;
  };
  const arrow::StructArray& column_;
  std::vector<std::shared_ptr<arrow::Array>> arrays_{};
  std::vector<Field> fields_{};
};

class Dictionary final : public CellTeller {
 public:
  explicit Dictionary(const arrow::Array& column)
      : column_(static_cast<const arrow::DictionaryArray&>(column)),
        values_(column_.dictionary()),
        cells_(teller_of(*values_)) {}
  void tell(std::int64_t row, Values& values) const override {
    if (column_.IsNull(row)) return values.null();
    cells_->tell(column_.GetValueIndex(row), values);
  }

 private:
  const arrow::DictionaryArray& column_;
  std::shared_ptr<arrow::Array> values_;
  std::unique_ptr<CellTeller> cells_;
};

class Storage final : public CellTeller {
 public:
  explicit Storage(const arrow::Array& column)
      : storage_(static_cast<const arrow::ExtensionArray&>(column).storage()), cells_(teller_of(*storage_)) {}
  void tell(std::int64_t row, Values& values) const override { cells_->tell(row, values); }

 private:
  std::shared_ptr<arrow::Array> storage_;
  std::unique_ptr<CellTeller> cells_;
};

class Nulls final : public CellTeller {
 public:
  void tell(std::int64_t, Values& values) const override { values.null(); }
};

std::unique_ptr<CellTeller> teller_of(const arrow::Array& column) {
  switch (column.type_id()) {
    case Type::BOOL:
      return cells<arrow::BooleanArray>(
          column, [](const arrow::BooleanArray& a, std::int64_t i, Values& out) { out.boolean(a.Value(i)); });
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
          column, [](const arrow::UInt64Array& a, std::int64_t i, Values& out) { out.large_integer(a.Value(i)); });
    case Type::HALF_FLOAT:
      return cells<arrow::HalfFloatArray>(column, [](const arrow::HalfFloatArray& a, std::int64_t i, Values& out) {
        out.number(arrow::util::Float16::FromBits(a.Value(i)).ToDouble());
      });
    case Type::FLOAT:
      return numbers<arrow::FloatArray>(column);
    case Type::DOUBLE:
      return numbers<arrow::DoubleArray>(column);
    case Type::STRING:
      return texts<arrow::StringArray>(column);
    case Type::LARGE_STRING:
      return texts<arrow::LargeStringArray>(column);
    case Type::STRING_VIEW:
      return texts<arrow::StringViewArray>(column);
    case Type::BINARY:
      return blobs<arrow::BinaryArray>(column);
    case Type::LARGE_BINARY:
      return blobs<arrow::LargeBinaryArray>(column);
    case Type::BINARY_VIEW:
      return blobs<arrow::BinaryViewArray>(column);
    case Type::FIXED_SIZE_BINARY:
      return blobs<arrow::FixedSizeBinaryArray>(column);
    case Type::DECIMAL128:
      return decimals<arrow::Decimal128Array>(column);
    case Type::DECIMAL256:
      return decimals<arrow::Decimal256Array>(column);
    case Type::DATE32:
      return cells<arrow::Date32Array>(column, [](const arrow::Date32Array& a, std::int64_t i, Values& out) {
        out.time({.kind = Time::Kind::date, .seconds = std::int64_t{a.Value(i)} * 86400});
      });
    case Type::DATE64:
      return times<arrow::Date64Array>(column, Time::Kind::date, 1'000);
    case Type::TIMESTAMP:
      return timestamps(column);
    case Type::TIME32:
      return times<arrow::Time32Array>(column, Time::Kind::of_day, units_of<arrow::Time32Type>(column));
    case Type::TIME64:
      return times<arrow::Time64Array>(column, Time::Kind::of_day, units_of<arrow::Time64Type>(column));
    case Type::DURATION:
      return times<arrow::DurationArray>(column, Time::Kind::duration, units_of<arrow::DurationType>(column));
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

}  // namespace

ColumnValues::ColumnValues(std::shared_ptr<arrow::RecordBatch> batch) : batch_(std::move(batch)) {
  for (int i = 0; i < batch_->num_columns(); ++i) {
    columns_.push_back({batch_->column_name(i), teller_of(*batch_->column(i))});
  }
}

ColumnValues::~ColumnValues() = default;

void ColumnValues::tell(std::int64_t row, Values& values) const {
  values.begin_object();
  for (const Column& column : columns_) {
    values.name(column.name);
    column.cells->tell(row, values);
  }
  values.end_object();
}

}  // namespace oomplan::measure
