#include "registered.hpp"

#include <algorithm>
#include <string_view>

#include "decay.hpp"

namespace oomplan::estimator {
namespace {

/// "model.layers.*.input_layernorm.weight", and not "model.layers.*.self_attn.q_norm.weight".
bool is_norm_of_block(const Parameter& p) {
  const std::string_view name = p.name;
  const auto star = name.find(".*.");
  if (star == name.npos || p.of_layer_norm || decays(p)) return false;
  const std::string_view within = name.substr(star + 3);
  return std::ranges::count(within, '.') == 1 && !within.ends_with(".bias");
}

}  // namespace

void order_as_registered(std::vector<Parameter*>& members) {
  for (auto first = members.begin(); first != members.end();) {
    const std::int16_t layer = (*first)->layer();
    const auto end = std::find_if(first, members.end(), [&](const Parameter* p) { return p->layer() != layer; });
    std::stable_partition(first, end, [](const Parameter* p) { return !is_norm_of_block(*p); });
    first = end;
  }
}

}  // namespace oomplan::estimator
