// The model as the host has it: while it is loaded, offloaded, saved.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "oomplan/core/text.hpp"
#include "terms.hpp"

namespace oomplan::host {

/// Whether ranks have parts of the model, which no loader here makes of one that is whole.
inline bool is_parted(const MeshFacts& mesh) { return mesh.tensor_parallel.value > 1 || is_pipelined(mesh); }

/// Whose copy it is.
enum class Whose : std::uint8_t { nobody, first, each };

/// Bytes of the trained model's parameters for which `counts` holds, each in the dtype that it is held in.
template <class Counts>
Bytes bytes_of_model(const HostModel& model, Counts counts) {
  Bytes out;
  for (const HeldParameter& p : model.parameters) {
    if (p.of_policy && std::invoke(counts, p)) out += saturating_mul(p.layers, p.elements) * Bytes(bytes_of(p.dtype));
  }
  return out;
}

inline std::int64_t copies(Whose whose, const LoaderPlan& loader) {
  return whose == Whose::nobody ? 0 : whose == Whose::first ? 1 : loader.ranks.value;
}

/// "8 ranks".
inline std::string text_of(Whose whose, const LoaderPlan& loader) {
  return whose == Whose::first ? "the first rank" : counted(loader.ranks.value, "rank");
}

}  // namespace oomplan::host
