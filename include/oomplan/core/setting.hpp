// A fact with where it came from.
#pragma once

#include <string>

#include "oomplan/core/result.hpp"

namespace oomplan {

/// Where a fact came from.
struct Origin {
  enum class Kind {
    assumed,            ///< Nobody said; `source` says what was assumed and why.
    framework_default,  ///< The default of the framework named in `source` ("transformers 5.23.0: TrainingArguments").
    model,              ///< The model's own config.
    config,             ///< The user's file, at `where`; `source` is the key as written ("micro_batch_size").
    command_line,       ///< --set or another option; `source` is the text given.
  };
  Kind kind = Kind::assumed;
  std::string source{};
  Location where{};
  std::string written{};     ///< Of config: the value as its line has it ("qlora"); empty for a mapping.
  std::string derivation{};  ///< How the fact follows where it is not that value ("padded up to a multiple of 64").
  /// Whether the user said it, in a file or on the command line.
  bool is_said() const { return kind == Kind::config || kind == Kind::command_line; }
  friend bool operator==(const Origin&, const Origin&) = default;
};

/// A fact and its origin. Comparing two compares the facts, not their origins.
template <class T>
struct Setting {
  T value{};
  Origin origin{};
  friend bool operator==(const Setting& a, const Setting& b) { return a.value == b.value; }
};

}  // namespace oomplan
