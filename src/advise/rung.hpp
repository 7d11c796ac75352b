// A fix as rules/ladder has it, with what it asks of a plan and does to one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "oomplan/advice.hpp"
#include "oomplan/document.hpp"

namespace oomplan::advise {

/// A fact of the plan, and what is asked of it or done to it.
struct FactRule {
  std::string fact{};
  Node value{};
};

/// The keys that say a fix in one framework: each one name, or several with '|' between, of which the one that the
/// config has is taken. Values may name facts of the changed plan in braces, besides
/// {rows}, those packed into one, and {row_length}, the length of each.
struct KeyRules {
  std::string dialect{};
  std::vector<std::pair<std::string, std::string>> keys{};
};

struct Example {
  std::vector<FactRule> before{};
  std::vector<FactRule> after{};
};

struct Rung {
  LadderFix fix{};
  int order = 0;        ///< Of application, from the first to the last.
  bool played = false;  ///< Else the estimator cannot play it, and it is offered in words.
  std::vector<FactRule> guard{};
  std::vector<FactRule> edit{};
  std::string move_from{};  ///< This fact is divided by its smallest prime factor,
  std::string move_to{};    ///< which multiplies this one.
  std::vector<std::pair<std::string, std::string>> packed_rows{};  ///< By dialect, the key of the rows that a batch
                                                                   ///< packs into one; set: the move divides by them.
  int repeat = 1;                                                  ///< How often it may be taken.
  bool only_against_fragmentation = false;
  std::string needs_capability{};  ///< CUDA's, at least; empty: any.
  std::vector<std::string> conflicts{};
  std::vector<KeyRules> keys{};
  std::vector<std::pair<std::string, std::string>> how{};  ///< In words, by dialect or "any".
  std::vector<Example> examples{};
};

/// Reads one. Error: advise/bad-fix.
Result<Rung> rung_of(const std::string& id, const Document& document);

}  // namespace oomplan::advise
