#include "evaluation.hpp"

#include <algorithm>
#include <string>

namespace oomplan::ingestion {

const Input* asking(const Inputs& inputs, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const auto found = std::ranges::find(inputs, key, &Input::key);
    if (found != inputs.end() && is_set(*found->value)) return &*found;
  }
  return nullptr;
}

std::optional<Setting<std::int64_t>> count_of(const Inputs& inputs, std::string_view key, Draft& draft,
                                              std::optional<std::int64_t> (*read)(const Node&)) {
  const auto found = std::ranges::find(inputs, key, &Input::key);
  if (found == inputs.end() || found->value->kind == Node::Kind::null) return std::nullopt;
  const auto value = read(*found->value);
  if (value) return Setting<std::int64_t>{*value, origin_of(*found)};
  draft.errors.push_back(bad_value(*found, as::positive.expected, {}));
  draft.bad_keys.push_back(found->key);
  return std::nullopt;
}

void note_asking(const Inputs& inputs, std::initializer_list<std::string_view> keys, std::string_view feature,
                 Draft& draft) {
  if (const Input* input = asking(inputs, keys))
    draft.plan.unmodelled.push_back({std::string(feature), input->key, origin_of(*input).where});
}

}  // namespace oomplan::ingestion
