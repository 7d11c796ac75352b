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

void note_asking(const Inputs& inputs, std::initializer_list<std::string_view> keys, std::string_view feature,
                 Draft& draft) {
  if (const Input* input = asking(inputs, keys))
    draft.plan.unmodelled.push_back({std::string(feature), input->key, origin_of(*input).where});
}

}  // namespace oomplan::ingestion
