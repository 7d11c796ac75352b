#include "mesh_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace oomplan::estimator {

Diagnostic mesh_error(std::string code, std::string message, const Origin& origin) {
  return {Severity::error, std::move(code), std::move(message), origin.where, {}, {}};
}

Diagnostic unmodelled_under(const std::string& what, const MeshFacts& mesh, const Origin& origin) {
  const std::string_view name = is_zero(mesh.sharding.value)             ? "DeepSpeed's ZeRO"
                                : mesh.sharding.value == Sharding::fsdp1 ? "FSDP1"
                                                                         : "FSDP2";
  return mesh_error("estimate/unmodelled", fmt::format("{} under {} is not modelled yet", what, name), origin);
}

bool has_leaves_alone(const Architecture& architecture) {
  constexpr std::array<std::string_view, 9> hooked{"embedding",        "position_ids",     "causal_mask",
                                                   "rotary_embedding", "keep_residual",    "add_residual",
                                                   "rms_norm",         "rotary_attention", "gated_mlp"};
  const auto is_hooked = [&](const OpSpec& spec) { return std::ranges::count(hooked, spec.op) > 0; };
  const auto all = [&](const std::vector<OpSpec>& specs) { return std::ranges::all_of(specs, is_hooked); };
  return architecture.head.op == "linear_head" && all(architecture.tail) &&
         std::ranges::all_of(architecture.body, [&](const Segment& segment) {
           return segment.groups == 0 && all(segment.stem) && all(segment.tail) &&
                  std::ranges::all_of(segment.kinds, all) && std::ranges::all_of(segment.before, all) &&
                  std::ranges::all_of(segment.after, all);
         });
}

}  // namespace oomplan::estimator
