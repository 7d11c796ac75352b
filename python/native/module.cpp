// oomplan._native: what the Python modules beside it are made of.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "errors.hpp"
#include "first_texts.hpp"
#include "reading.hpp"

namespace oomplan::python {
namespace {

/// File names are bytes: not every one is UTF-8.
Settings settings_of(const nb::list& paths, std::string format, std::string budget, bool skip_bad) {
  Settings out{.format = std::move(format), .budget = std::move(budget), .skip_bad = skip_bad};
  for (const nb::handle path : paths) {
    const auto bytes = nb::cast<nb::bytes>(path);
    out.paths.emplace_back(bytes.c_str(), bytes.size());
  }
  return out;
}

std::string format_of(const nb::bytes& path) {
  const Result<std::string> format = measure::format_of({path.c_str(), path.size()});
  if (!format) raise(format.errors());
  return *format;
}

}  // namespace
}  // namespace oomplan::python

NB_MODULE(_native, m) {
  using namespace oomplan::python;
  nb::class_<ValueReader>(m, "ValueReader")
      .def("__init__",
           [](ValueReader* self, const nb::list& paths, std::string format, std::string budget, bool skip_bad) {
             new (self) ValueReader(settings_of(paths, std::move(format), std::move(budget), skip_bad));
           })
      .def("next", &ValueReader::next)
      .def_prop_ro("rows", &ValueReader::rows)
      .def_prop_ro("skipped", &ValueReader::skipped);
  nb::class_<HashReader>(m, "HashReader")
      .def("__init__",
           [](HashReader* self, const nb::list& paths, std::string format, std::string budget, bool skip_bad,
              const std::vector<std::string>& key) {
             new (self) HashReader(settings_of(paths, std::move(format), std::move(budget), skip_bad), key);
           })
      .def("next", &HashReader::next)
      .def_prop_ro("skipped", &HashReader::skipped)
      .def_prop_ro("unseen_columns", &HashReader::unseen_columns);
  m.def("first_texts", &first_texts);
  m.def("format_of", &format_of);
  m.def("shards", [](const nb::list& paths) {
    const auto found = oomplan::measure::files_of(settings_of(paths, "", "", false).paths);
    if (!found) raise(found.errors());
    nb::list out;
    for (const std::string& path : *found) out.append(nb::bytes(path.data(), path.size()));
    return out;
  });
}
