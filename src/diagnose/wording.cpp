#include "wording.hpp"

#include <algorithm>

#include "oomplan/core/text.hpp"
#include "words.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::array<std::string_view, wordings> list_names{"begins_a_post",
                                                            "columns_of_failures",
                                                            "columns_that_explain",
                                                            "defines",
                                                            "explains",
                                                            "fails_with",
                                                            "has_no_optimizer_state",
                                                            "headings_of_help",
                                                            "heads_a_report",
                                                            "in_that_case",
                                                            "is_said_to_be",
                                                            "kinds_of_failures",
                                                            "leads_to_an_example",
                                                            "names_how_it_looks",
                                                            "of_any_run",
                                                            "says_what_may_come",
                                                            "shows_messages",
                                                            "speaks_of_itself",
                                                            "speaks_to_all",
                                                            "supposes",
                                                            "talks_to_others",
                                                            "tells_of_changes",
                                                            "tells_of_own_run",
                                                            "titles_of_help",
                                                            "titles_that_explain",
                                                            "trains_nothing",
                                                            "watches_a_host"};

bool is_small(std::string_view phrase) {
  return std::ranges::none_of(phrase, [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool fits(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  const std::string_view begin = pattern.substr(0, star);
  const std::string_view end = pattern.substr(star + 1);
  return text.size() >= begin.size() + end.size() && text.starts_with(begin) && text.ends_with(end);
}

}  // namespace

std::optional<Wording> wording_named(std::string_view name) {
  const auto found = std::ranges::find(list_names, name);
  if (found == list_names.end()) return std::nullopt;
  return static_cast<Wording>(found - list_names.begin());
}

std::string_view name_of(Wording list) { return list_names[static_cast<std::size_t>(list)]; }

Phrasing::Phrasing(std::string_view text) : small_(lowered(text)) {
  as_written_.append(" ").append(text).append(" ");
  small_.insert(0, 1, ' ').push_back(' ');
}

bool Phrases::are_in(const Phrasing& line) const {
  const auto is_part = [&](const std::string& part) {
    return (is_small(part) ? line.small_ : line.as_written_).find(part) != std::string::npos;
  };
  return std::ranges::any_of(parts, is_part) || (!words.empty() && has_word_of(line.small_, words));
}

void Phrases::find(const Phrasing& line, std::set<std::string_view>& found) const {
  for (const std::string& part : parts)
    if ((is_small(part) ? line.small_ : line.as_written_).find(part) != std::string::npos) found.insert(part);
}

bool Phrases::have(std::string_view text) const {
  const std::string small = lowered(text);
  return std::ranges::any_of(
      wholes, [&](const std::string& whole) { return fits(whole, is_small(whole) ? std::string_view(small) : text); });
}

}  // namespace oomplan::diagnose
