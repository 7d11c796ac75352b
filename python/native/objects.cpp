#include "objects.hpp"

#include <datetime.h>

namespace oomplan::python {
namespace {

constexpr std::size_t most_names = 4096;

bool load_datetime() {
  if (PyDateTimeAPI == nullptr) PyDateTime_IMPORT;
  return PyDateTimeAPI != nullptr;
}

/// Anything more would be lost: Python's times end at microseconds.
bool whole_microseconds(const measure::Time& time) {
  if (time.nanoseconds % 1000 == 0) return true;
  PyErr_SetString(PyExc_ValueError, "a time has nanoseconds, which Python's datetime cannot hold");
  return false;
}

nb::object duration_of(const measure::Time& time) {
  const std::int64_t days = time.seconds / 86400 - (time.seconds % 86400 < 0 ? 1 : 0);
  if (days < -999'999'999 || days > 999'999'999) {
    PyErr_SetString(PyExc_OverflowError, "a time is beyond what Python's datetime holds");
    return {};
  }
  const auto seconds = static_cast<int>(time.seconds - days * 86400);
  return nb::steal(PyDelta_FromDSU(static_cast<int>(days), seconds, time.nanoseconds / 1000));
}

/// Added to the epoch, so that datetime itself says what is out of its range.
nb::object instant_of(const measure::Time& time) {
  const nb::object since = duration_of(time);
  if (!since.is_valid()) return {};
  PyObject* const zone = time.zoned ? PyDateTime_TimeZone_UTC : Py_None;
  const nb::object epoch =
      nb::steal(PyDateTimeAPI->DateTime_FromDateAndTime(1970, 1, 1, 0, 0, 0, 0, zone, PyDateTimeAPI->DateTimeType));
  return epoch.is_valid() ? nb::steal(PyNumber_Add(epoch.ptr(), since.ptr())) : epoch;
}

PyObject* date_of(const measure::Time& time) {
  const nb::object at = instant_of(time);
  if (!at.is_valid()) return nullptr;
  return PyDate_FromDate(PyDateTime_GET_YEAR(at.ptr()), PyDateTime_GET_MONTH(at.ptr()), PyDateTime_GET_DAY(at.ptr()));
}

PyObject* time_of_day(const measure::Time& time) {
  const auto seconds = static_cast<int>(time.seconds % 86400);
  return PyTime_FromTime(seconds / 3600, seconds / 60 % 60, seconds % 60, time.nanoseconds / 1000);
}

}  // namespace

PyObject* object_of(const measure::Time& time) {
  if (!load_datetime() || !whole_microseconds(time)) return nullptr;
  switch (time.kind) {
    case measure::Time::Kind::instant:
      return instant_of(time).release().ptr();
    case measure::Time::Kind::date:
      return date_of(time);
    case measure::Time::Kind::duration:
      return duration_of(time).release().ptr();
    case measure::Time::Kind::of_day:
      return time_of_day(time);
  }
  return nullptr;
}

PyObject* decimal_of(std::string_view digits) {
  const nb::object module = nb::steal(PyImport_ImportModule("decimal"));
  const nb::object type = module.is_valid() ? nb::steal(PyObject_GetAttrString(module.ptr(), "Decimal")) : module;
  const auto size = static_cast<Py_ssize_t>(digits.size());
  const nb::object text = nb::steal(PyUnicode_DecodeASCII(digits.data(), size, nullptr));
  if (!type.is_valid() || !text.is_valid()) return nullptr;
  return PyObject_CallFunctionObjArgs(type.ptr(), text.ptr(), nullptr);
}

std::int64_t width_beyond_bytes(PyObject* text) {
  return PyUnicode_GET_LENGTH(text) * (static_cast<std::int64_t>(PyUnicode_KIND(text)) - 1);
}

nb::object Names::get(std::string_view name) {
  if (const auto found = known_.find(name); found != known_.end()) return found->second;
  nb::object made = nb::steal(PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), nullptr));
  if (made.is_valid() && known_.size() < most_names && name.size() < 256) known_.emplace(name, made);
  return made;
}

}  // namespace oomplan::python
