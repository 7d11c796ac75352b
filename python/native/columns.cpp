#include "columns.hpp"

#include <utility>

namespace oomplan::python {

bool Columns::wants(std::int64_t more) {
  if (stopped_) return false;
  weight_ += more;
  stopped_ = weight_ > limit_;
  return !stopped_;
}

/// Takes the reference over; nullptr is Python's error.
void Columns::put(PyObject* value) {
  const nb::object held = nb::steal(value);
  if (value == nullptr) {
    stopped_ = true;
  } else if (open_.empty()) {
    put_cell(value);
  } else if (open_.back().is_list) {
    stopped_ = PyList_Append(open_.back().container, value) != 0;
  } else {
    stopped_ = PyDict_SetItem(open_.back().container, open_.back().key.ptr(), value) != 0;
  }
}

/// Of two fields of one name the last counts.
void Columns::put_cell(PyObject* value) {
  PyObject* const cells = columns_[column_].cells.ptr();
  if (PyList_GET_SIZE(cells) > rows_) {
    Py_INCREF(value);
    stopped_ = PyList_SetItem(cells, rows_, value) != 0;
    return;
  }
  ++filled_;
  stopped_ = PyList_Append(cells, value) != 0;
}

void Columns::null() {
  if (wants(weight::place)) put(Py_NewRef(Py_None));
}
void Columns::boolean(bool value) {
  if (wants(weight::place)) put(PyBool_FromLong(value ? 1 : 0));
}
void Columns::integer(std::int64_t value) {
  if (wants(weight::place + weight::number)) put(PyLong_FromLongLong(value));
}
void Columns::large_integer(std::uint64_t value) {
  if (wants(weight::place + weight::number)) put(PyLong_FromUnsignedLongLong(value));
}
void Columns::number(double value) {
  if (wants(weight::place + weight::number)) put(PyFloat_FromDouble(value));
}
void Columns::decimal(std::string_view digits) {
  if (wants(weight::place + weight::decimal)) put(decimal_of(digits));
}

void Columns::text(std::string_view utf8) {
  const auto size = static_cast<Py_ssize_t>(utf8.size());
  if (!wants(weight::place + weight::text + size)) return;
  PyObject* const made = PyUnicode_DecodeUTF8(utf8.data(), size, nullptr);
  if (made != nullptr) weight_ += width_beyond_bytes(made);
  put(made);
}

void Columns::bytes(std::string_view bytes) {
  const auto size = static_cast<Py_ssize_t>(bytes.size());
  if (wants(weight::place + weight::text + size)) put(PyBytes_FromStringAndSize(bytes.data(), size));
}
void Columns::time(const measure::Time& value) {
  if (wants(weight::place + weight::time)) put(object_of(value));
}

void Columns::open(PyObject* container, bool is_list) {
  put(container);
  if (!stopped_) open_.push_back({container, {}, is_list});
}

void Columns::begin_list() {
  if (wants(weight::place + weight::list)) open(PyList_New(0), true);
}
void Columns::end_list() {
  if (!stopped_) open_.pop_back();
}

/// The outermost object is the row.
void Columns::begin_object() {
  if (!in_row_) {
    in_row_ = true;
  } else if (wants(weight::place + weight::object)) {
    open(PyDict_New(), false);
  }
}

void Columns::end_object() {
  if (stopped_) return;
  if (!open_.empty()) return open_.pop_back();
  if (filled_ < columns_.size()) fill();
}

void Columns::name(std::string_view utf8) {
  if (stopped_) return;
  if (open_.empty()) {
    column_ = column_of(utf8);
  } else {
    open_.back().key = key_of(utf8);
  }
}

/// A name that is not kept is made anew for each field that has it.
nb::object Columns::key_of(std::string_view name) {
  const bool kept = names_.has(name);
  if (!wants(weight::field + (kept ? 0 : weight::text + static_cast<std::int64_t>(name.size())))) return {};
  nb::object key = names_.get(name);
  stopped_ = !key.is_valid();
  if (key.is_valid() && !kept) weight_ += width_beyond_bytes(key.ptr());
  return key;
}

/// Most rows have the columns of the row before, in the same order.
std::size_t Columns::column_of(std::string_view name) {
  const std::size_t next = filled_ == 0 ? 0 : column_ + 1;
  if (next < columns_.size() && columns_[next].text == name) return next;
  const auto found = index_.find(name);
  return found == index_.end() ? new_column(name) : found->second;
}

std::size_t Columns::new_column(std::string_view name) {
  const auto size = static_cast<std::int64_t>(name.size());
  if (!wants(weight::list + 2 * size + rows_ * weight::place)) return column_;
  nb::object key = key_of(name);
  if (stopped_) return column_;
  nb::object cells = nb::steal(PyList_New(static_cast<Py_ssize_t>(rows_)));
  if (!cells.is_valid()) return stopped_ = true, column_;
  for (std::int64_t row = 0; row < rows_; ++row) PyList_SET_ITEM(cells.ptr(), row, Py_NewRef(Py_None));
  columns_.push_back({std::move(key), std::string(name), std::move(cells)});
  index_.emplace(name, columns_.size() - 1);
  return columns_.size() - 1;
}

void Columns::fill() {
  for (const Column& column : columns_) {
    if (PyList_GET_SIZE(column.cells.ptr()) > rows_) continue;
    if (!wants(weight::place)) return;
    if (PyList_Append(column.cells.ptr(), Py_None) != 0) return void(stopped_ = true);
  }
}

Columns::Added Columns::add(const measure::RowReader& reader, std::int64_t row) {
  const std::size_t columns_before = columns_.size();
  const std::int64_t weight_before = weight_;
  filled_ = 0;
  in_row_ = stopped_ = false;
  reader.tell(row, *this);
  open_.clear();
  if (!stopped_) {
    ++rows_;
    return Added::yes;
  }
  if (PyErr_Occurred() != nullptr) {
    nb::python_error error;
    take_back(columns_before);
    throw error;
  }
  weight_ = weight_before;
  take_back(columns_before);
  return Added::full;
}

void Columns::take_back(std::size_t columns_before) {
  for (std::size_t i = columns_before; i < columns_.size(); ++i) index_.erase(columns_[i].text);
  columns_.resize(columns_before);
  for (const Column& column : columns_) {
    if (PyList_SetSlice(column.cells.ptr(), rows_, rows_ + 1, nullptr) != 0) throw nb::python_error();
  }
}

nb::dict Columns::take() {
  nb::dict out;
  for (const Column& column : columns_) {
    if (PyDict_SetItem(out.ptr(), column.name.ptr(), column.cells.ptr()) != 0) throw nb::python_error();
  }
  return out;
}

}  // namespace oomplan::python
