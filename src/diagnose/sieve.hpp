// What of the sentences found in a line is a report, and not somebody's words about one.
#pragma once

#include <cstddef>
#include <vector>

#include "article.hpp"
#include "line.hpp"
#include "matcher.hpp"
#include "page.hpp"
#include "sentence.hpp"

namespace oomplan::diagnose {

/// A sentence where it was found.
struct Found {
  const Sentence* sentence = nullptr;
  Match match{};
  std::size_t line = 0;   ///< Where it begins,
  std::size_t begin = 0;  ///< and where in that line.
};

class Sieve {
 public:
  /// Both must outlive this.
  Sieve(const Wordings& wordings, const std::vector<Line>& lines)
      : wordings_(wordings), lines_(lines), help_(wordings, lines), articles_(wordings, lines) {}

  /// Of what was found from line `index` on: general words that report nothing, examples, code, pages of help, what is
  /// denied, and what a longer sentence says too.
  void drop_what_is_no_report(std::size_t index, std::vector<Found>& found);
  /// Whether it is no report of its own line but somebody's words about one, or the subject of a mail.
  bool is_told_of(const Found& one);

 private:
  void drop_general(std::size_t index, std::vector<Found>& found) const;
  void drop_denied(std::size_t index, std::vector<Found>& found) const;
  void drop_examples(std::size_t index, std::vector<Found>& found) const;
  void drop_code(std::vector<Found>& found) const;
  void drop_help(std::size_t index, std::vector<Found>& found);
  bool heads_traceback(std::size_t index) const;
  bool names_kind(const Found& one) const;
  bool is_quoted(const Found& one) const;
  bool is_subject(const Found& one) const;
  bool is_reported(const Found& one) const;
  bool is_of_a_writer(const Found& one) const;
  std::size_t end_of(const Found& one) const;

  const Wordings& wordings_;
  const std::vector<Line>& lines_;
  HelpPages help_;
  Articles articles_;
};

}  // namespace oomplan::diagnose
