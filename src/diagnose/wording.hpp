// The words by which texts, runs and programs are told apart: rules/wording, a file a list.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace oomplan::diagnose {

/// The lists, each named after its file.
enum class Wording : std::uint8_t {
  begins_a_post,
  columns_of_failures,
  columns_that_explain,
  defines,
  explains,
  fails_with,
  has_no_optimizer_state,
  headings_of_help,
  heads_a_report,
  in_that_case,
  is_said_to_be,
  kinds_of_failures,
  leads_to_an_example,
  names_how_it_looks,
  of_any_run,
  says_what_may_come,
  shows_messages,
  speaks_of_itself,
  speaks_to_all,
  supposes,
  talks_to_others,
  tells_of_changes,
  tells_of_own_run,
  titles_of_help,
  titles_that_explain,
  trains_nothing,
  watches_a_host,
};
constexpr std::size_t wordings = 27;

std::optional<Wording> wording_named(std::string_view name);
std::string_view name_of(Wording list);

/// A line in which phrases are looked for: with a blank at each end, and in small letters beside.
class Phrasing {
 public:
  explicit Phrasing(std::string_view text);

 private:
  friend class Phrases;
  std::string as_written_;
  std::string small_;
};

/// One list. A phrase in small letters stands for capitals too; one with capitals has to be written so.
class Phrases {
 public:
  std::vector<std::string> parts{};   ///< Stand anywhere in a line; a blank at an end is a line's end too.
  std::vector<std::string> words{};   ///< Whole words of letters, in small ones.
  std::vector<std::string> wholes{};  ///< All of a text, where one `*` stands for anything.

  bool are_in(const Phrasing& line) const;
  bool are_in(std::string_view line) const { return are_in(Phrasing(line)); }
  /// Adds each part that the line has.
  void find(const Phrasing& line, std::set<std::string_view>& found) const;
  /// Whether the text is one of the wholes.
  bool have(std::string_view text) const;
};

/// All lists, by Wording.
using Wordings = std::array<Phrases, wordings>;

inline const Phrases& list_of(const Wordings& all, Wording list) { return all[static_cast<std::size_t>(list)]; }

}  // namespace oomplan::diagnose
