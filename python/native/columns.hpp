// Rows gathered into columns: a dict of lists, all of one length.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "objects.hpp"
#include "oomplan/measure/rows.hpp"

namespace oomplan::python {

/// A column that a row lacks has None there, so that the i-th cells are the i-th row. A row that takes more than the
/// limit leaves is taken back whole.
class Columns final : public measure::Values {
 public:
  Columns(std::int64_t limit, Names& names) : limit_(limit), names_(names) {}

  enum class Added { yes, full };
  /// Throws Python's error, where a value has no object.
  Added add(const measure::RowReader& reader, std::int64_t row);
  std::int64_t rows() const { return rows_; }
  nb::dict take();

 private:
  struct Column {
    nb::object name{};
    std::string text{};
    nb::object cells{};
  };
  struct Open {
    PyObject* container = nullptr;  // its parent holds it
    nb::object key{};
    bool is_list = false;
  };

  void null() override;
  void boolean(bool value) override;
  void integer(std::int64_t value) override;
  void large_integer(std::uint64_t value) override;
  void number(double value) override;
  void decimal(std::string_view digits) override;
  void text(std::string_view utf8) override;
  void bytes(std::string_view bytes) override;
  void time(const measure::Time& value) override;
  void begin_list() override;
  void end_list() override;
  void begin_object() override;
  void name(std::string_view utf8) override;
  void end_object() override;
  bool stopped() const override { return stopped_; }

  bool wants(std::int64_t more);
  void put(PyObject* value);
  void put_cell(PyObject* value);
  void open(PyObject* container, bool is_list);
  nb::object key_of(std::string_view name);
  std::size_t column_of(std::string_view name);
  std::size_t new_column(std::string_view name);
  void fill();
  void take_back(std::size_t columns_before);

  const std::int64_t limit_;
  Names& names_;
  std::int64_t weight_ = 0;
  std::int64_t rows_ = 0;
  bool stopped_ = false;  // at the limit, or with Python's error set
  bool in_row_ = false;
  std::size_t column_ = 0;  // that the next value is for
  std::size_t filled_ = 0;  // columns with a cell of this row
  std::vector<Column> columns_{};
  std::map<std::string, std::size_t, std::less<>> index_{};
  std::vector<Open> open_{};
};

}  // namespace oomplan::python
