// oomplan._core: what the program answers to a command line, in this process.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "oomplan/cli/cli.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan::python {
namespace {

namespace nb = nanobind;

nb::bytes bytes_of(const std::string& text) { return nb::bytes(text.data(), text.size()); }

/// Words are bytes: not every file's name is UTF-8.
std::vector<std::string> texts_of(const nb::list& words) {
  std::vector<std::string> out;
  for (const nb::handle word : words) {
    const auto bytes = nb::cast<nb::bytes>(word);
    out.emplace_back(bytes.c_str(), bytes.size());
  }
  return out;
}

/// Exit code, standard output and standard error.
nb::tuple reply(const nb::list& words, const nb::bytes& input) {
  const std::vector<std::string> texts = texts_of(words);
  const std::string given(input.c_str(), input.size());
  Reply out;
  {
    const nb::gil_scoped_release unlocked;
    out = reply_to(texts, given);
  }
  return nb::make_tuple(out.code, bytes_of(out.out), bytes_of(out.err));
}

/// As the program itself: both streams are written, and the process is its own. `words` begin with the program's path.
/// `find_arrow` as run() takes it.
int run_program(const nb::list& words, const nb::callable& find_arrow) {
  std::vector<std::string> texts = texts_of(words);
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  const nb::gil_scoped_release unlocked;
  return run(static_cast<int>(texts.size()), pointers.data(), [&find_arrow] {
    const nb::gil_scoped_acquire locked;
    return nb::cast<std::string>(find_arrow());
  });
}

}  // namespace
}  // namespace oomplan::python

NB_MODULE(_core, m) {
  m.def("reply", &oomplan::python::reply);
  m.def("run", &oomplan::python::run_program);
  m.attr("version") = std::string(oomplan::version()).c_str();
}
