// Facts as the keys of a config's framework.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/plan/plan.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan {

/// A key of a config and its value, as YAML has it.
struct KeyValue {
  std::string key{};  ///< Dotted where it is inside a mapping.
  std::string value{};
  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};

/// The value at a dotted key, each part of it a mapping's; null where it is not there.
const Node* find_path(const Node& root, std::string_view key);

/// The keys that say these facts of `after`, where they say something else than of `before`: in the plan's dialect,
/// each by the name that the config has for it. Empty where the dialect has none.
std::vector<KeyValue> keys_for(const std::vector<std::string>& facts, const TrainingPlan& before,
                               const TrainingPlan& after, const Document& document);

/// The dialect's key that says the fact as it stands; nothing where it has none.
std::optional<std::string> key_of_fact(std::string_view fact, const std::string& dialect);

/// Whether the dialect's framework runs a config alone, so that what no key says is not to be had there.
bool is_closed(std::string_view dialect);

/// How a config of this dialect asks for a fix of rules/ladder that no fact says, in words; empty where it has none.
std::string_view words_for_fix(std::string_view fix, std::string_view dialect);

}  // namespace oomplan
