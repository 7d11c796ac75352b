// oomplan._core: what the program answers to a command line, in this process.
#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "oomplan/cli/cli.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan::python {
namespace {

namespace nb = nanobind;

nb::bytes bytes_of(const std::string& text) { return nb::bytes(text.data(), text.size()); }

/// Exit code, standard output and standard error. Words are bytes: not every file's name is UTF-8.
nb::tuple reply(const nb::list& words, const nb::bytes& input) {
  std::vector<std::string> texts;
  for (const nb::handle word : words) {
    const auto bytes = nb::cast<nb::bytes>(word);
    texts.emplace_back(bytes.c_str(), bytes.size());
  }
  const std::string given(input.c_str(), input.size());
  Reply out;
  {
    const nb::gil_scoped_release unlocked;
    out = reply_to(texts, given);
  }
  return nb::make_tuple(out.code, bytes_of(out.out), bytes_of(out.err));
}

}  // namespace
}  // namespace oomplan::python

NB_MODULE(_core, m) {
  m.def("reply", &oomplan::python::reply);
  m.attr("version") = std::string(oomplan::version()).c_str();
}
