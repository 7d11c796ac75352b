// Config files from the disk.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "descriptor.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan {
namespace {

// The size that stat gives is only a hint: files in /proc say 0, and a log may grow meanwhile.
Result<std::string> contents(const std::string& path, const read::Descriptor& file, std::size_t most) {
  std::string out;
  while (out.size() <= most) {
    constexpr std::size_t step = std::size_t{1} << 16;
    const std::size_t before = out.size();
    out.resize(before + std::min(step, most - before + 1));
    const ssize_t got = ::read(file.number(), out.data() + before, out.size() - before);
    if (got < 0 && errno != EINTR) return read::system_error(path, errno);
    out.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) break;
  }
  return out;
}

Result<std::string> read_file(const std::string& path, std::size_t most) {
  const Result<read::Descriptor> file = read::open_file(path);
  if (!file) return file.errors();
  return contents(path, *file, most);
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

Syntax syntax_of(const std::string& path, std::string_view text) {
  const std::string name = lower(path.substr(path.size() - std::min<std::size_t>(path.size(), 6)));
  if (name.ends_with(".toml")) return Syntax::toml;
  if (name.ends_with(".json")) return Syntax::json;
  if (name.ends_with(".py")) return Syntax::python;
  if (name.ends_with(".ipynb")) return Syntax::notebook;
  if (name.ends_with(".yaml") || name.ends_with(".yml")) return Syntax::yaml;
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  return json ? Syntax::json : Syntax::yaml;
}

}  // namespace

Result<Document> read_document(const std::string& path, const ReadBudget& budget) {
  Result<std::string> text = read_file(path, budget.bytes);
  if (!text) return text.errors();
  const Syntax syntax = syntax_of(path, *text);
  return parse_document(std::move(*text), path, syntax, budget);
}

}  // namespace oomplan
