// Whether a line stands on a page of help, or in a list of changes, which name failures that did not happen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "line.hpp"
#include "wording.hpp"

namespace oomplan::diagnose {

/// Pages of help among lines, which outlive it as the lists do. Many lines may be asked for, each of which has others
/// before it: what is known of these is kept.
class HelpPages {
 public:
  HelpPages(const Wordings& wordings, const std::vector<Line>& lines) : wordings_(wordings), lines_(lines) {}

  /// Below a heading such as "## Troubleshooting" or "FAQ", and nothing between them that a program wrote or that
  /// somebody tells of a run of his own; or anywhere on a page whose plain titles are those of such a page.
  bool holds(std::size_t index);

 private:
  bool is_of_no_page(std::size_t index);
  bool is_on_titled_page(std::size_t index);
  std::size_t first_title(int file);

  const Wordings& wordings_;
  const std::vector<Line>& lines_;
  std::vector<std::uint8_t> known_{};       ///< By line, once one is asked for: what is_of_no_page() said.
  std::map<int, std::size_t> titled_at_{};  ///< By file: the line of its first title; none is past all lines.
};

/// In a list of what was changed in a program: "- fix: …", an item below the heading of a release ("## 1.2.3", "###
/// Fixed"), or one of three lines and more of `git log --oneline`, which says what was done before it comes to the
/// words at `begin`. It names failures that were repaired.
bool stands_in_history(const std::vector<Line>& lines, std::size_t index, std::size_t begin);

}  // namespace oomplan::diagnose
