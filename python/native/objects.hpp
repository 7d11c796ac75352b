// Values as Python's objects.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "oomplan/measure/values.hpp"

namespace oomplan::python {

namespace nb = nanobind;

/// New references, or nullptr with Python's error set.
PyObject* object_of(const measure::Time& time);
PyObject* decimal_of(std::string_view digits);

/// Keys of rows, each made once: there are few, and many rows.
class Names {
 public:
  /// Null with Python's error set where it is not UTF-8.
  nb::object get(std::string_view name);
  /// Whether it is made already, and kept.
  bool has(std::string_view name) const { return known_.contains(name); }

 private:
  std::map<std::string, nb::object, std::less<>> known_{};
};

/// What a text takes beyond a byte a character: up to three more, where one of them does not fit into one.
std::int64_t width_beyond_bytes(PyObject* text);

/// What CPython 3.11 takes for an object, in bytes.
namespace weight {
inline constexpr std::int64_t place = 8;  ///< In a list.
inline constexpr std::int64_t number = 32;
inline constexpr std::int64_t text = 56;  ///< And its characters.
inline constexpr std::int64_t list = 88;
inline constexpr std::int64_t object = 232;
inline constexpr std::int64_t field = 104;
inline constexpr std::int64_t time = 64;
inline constexpr std::int64_t decimal = 104;
}  // namespace weight

}  // namespace oomplan::python
