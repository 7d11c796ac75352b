// A fix as rules/ladder has it, with what it asks of a plan and does to one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/advise/advice.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::advise {

/// A fact of the plan with a value.
struct FactRule {
  std::string fact{};
  Node value{};
};

/// What a fix asks of a fact: one of these values, a number above one, or a text without another.
struct Guard {
  std::string fact{};
  std::vector<Node> any_of{};
  std::optional<double> more_than{};
  std::string lacks{};
};

/// What a fix does to a fact: a value, a whole number divided, or a text with another behind a comma.
struct Edit {
  std::string fact{};
  std::optional<Node> value{};
  bool unsaid = false;                 ///< A value that a config says of it stays.
  std::vector<std::string> or_else{};  ///< Values that a framework's key may say in its place: other versions of it.
  std::int64_t divide_by = 0;
  std::string append{};
};

/// A launcher's config that a fix writes, of accelerate; `text` lacks how many processes there are.
struct LauncherRule {
  std::string file{};  ///< What it is called; empty: the fix changes the config, and no launcher's.
  std::string text{};
};

struct Example {
  std::vector<FactRule> before{};
  std::vector<FactRule> after{};
};

struct Rung {
  LadderFix fix{};
  int order = 0;        ///< Of application, from the first to the last.
  bool played = false;  ///< Else the estimator cannot play it, and it is offered in words.
  std::vector<Guard> guard{};
  std::vector<Edit> edit{};
  LauncherRule launch{};
  std::string move_from{};   ///< This fact is divided by its smallest prime factor,
  std::string move_to{};     ///< which multiplies this one.
  bool packed_rows = false;  ///< The move divides by the rows that a batch packs into one.
  int repeat = 1;            ///< How often it may be taken.
  bool only_against_fragmentation = false;
  bool only_trained_weights = false;  ///< Of the weights it relieves no others.
  bool needs_key = false;             ///< Only where the config has a key for it; its facts alone are not enough.
  bool key_decides = false;           ///< Where the config has a key for it, the framework has to read it so.
  bool in_environment = false;        ///< Where the config has no key for it, what starts the run says it.
  std::string needs_capability{};     ///< CUDA's, at least; empty: any.
  std::vector<std::string> conflicts{};
  std::string how{};  ///< In words, whatever the config's dialect.
  std::vector<Example> examples{};
};

/// Reads one. Error: advise/bad-fix.
Result<Rung> rung_of(const std::string& id, const Document& document);

}  // namespace oomplan::advise
