#include "errors.hpp"

#include <string>

#include "oomplan/core/text.hpp"

namespace oomplan::python {
namespace {

namespace nb = nanobind;

/// As Python itself has names of files.
nb::object decoded(const std::string& text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

std::string text_of(const Diagnostics& errors) {
  std::string out;
  for (const Diagnostic& error : errors) out += to_text(error);
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

nb::object ours(const char* name) { return nb::module_::import_("oomplan._errors").attr(name); }

/// Where the program asked for the rows.
void warn(const nb::object& text, std::int64_t count) {
  nb::module_::import_("warnings").attr("warn")(ours("SkippedRow")(text, count), nb::none(), 2);
}

}  // namespace

void raise(const Diagnostics& errors) {
  const nb::object type = ours("DataError");
  const nb::object error =
      type(decoded(text_of(errors)), errors.front().code.c_str(), decoded(errors.front().where.file));
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

void warn(const Diagnostic& skipped) {
  Diagnostic warning = skipped;
  warning.severity = Severity::warning;
  warn(decoded(text_of({warning})), 1);
}

void warn_of_more(std::int64_t count) { warn(decoded("warning: and " + with_separators(count) + " more"), count); }

}  // namespace oomplan::python
