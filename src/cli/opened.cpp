#include "opened.hpp"

#include "given_input.hpp"
#include "oomplan/read/event_list.hpp"

namespace oomplan::cli {

Result<LogText> open_text(const std::string& path, LogText::Part part) {
  const auto given = path == "-" ? given_input() : std::nullopt;
  return given ? LogText::from_memory(*given) : LogText::open(path, part);
}

Result<LogText> open_plain(const std::string& path) {
  if (path == "-") return open_text(path);
  const Result<EventList> plain = EventList::open(path);
  if (!plain) return plain.errors();
  return open_text(path);
}

std::string shown_path(const std::string& path) { return path == "-" ? "standard input" : path; }

}  // namespace oomplan::cli
