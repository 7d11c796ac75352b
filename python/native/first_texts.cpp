#include "first_texts.hpp"

#include <string>

#include "oomplan/measure/rows.hpp"

namespace oomplan::python {
namespace {

namespace nb = nanobind;

struct Text {
  std::string_view bytes{};
  std::uint8_t kind = 0;
};

// Equal strings have equal characters of equal width, so that they can be compared as they lie in memory.
Text text_of(PyObject* object) {
  if (!PyUnicode_Check(object)) {
    throw nb::type_error((std::string("rows are str, not ") + Py_TYPE(object)->tp_name).c_str());
  }
  const int kind = PyUnicode_KIND(object);
  const auto size = static_cast<std::size_t>(PyUnicode_GET_LENGTH(object)) * static_cast<std::size_t>(kind);
  return {{static_cast<const char*>(PyUnicode_DATA(object)), size}, static_cast<std::uint8_t>(kind)};
}

}  // namespace

std::vector<std::int64_t> first_texts(const nb::tuple& texts) {
  const Py_ssize_t count = PyTuple_GET_SIZE(texts.ptr());
  for (Py_ssize_t i = 0; i < count; ++i) text_of(PyTuple_GET_ITEM(texts.ptr(), i));
  const nb::gil_scoped_release unlocked;  // the tuple holds the strings, and nothing changes either
  std::vector<std::int64_t> out;
  measure::SeenTexts seen;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Text text = text_of(PyTuple_GET_ITEM(texts.ptr(), i));
    if (seen.insert(text.bytes, text.kind)) out.push_back(i);
  }
  return out;
}

}  // namespace oomplan::python
