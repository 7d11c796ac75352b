#include "modules/lora_init.hpp"

#include <algorithm>

namespace oomplan::estimator {

void play_lora_init(Builder& builder, std::int64_t in, std::int64_t out) {
  const Facts& facts = builder.facts;
  if (facts.init == AdapterInit::plain) return;
  const auto make = [&](const Dims& sizes, const char* op) { return builder.while_adapting(sizes, DType::fp32, op); };
  const Tensor raised = facts.weights == DType::fp32 ? Tensor() : make({out, in}, "aten::_to_copy");
  if (facts.init == AdapterInit::olora) {
    const std::int64_t least = std::min(in, out);
    const Tensor q = make({out, least}, "aten::linalg_qr");
    const Tensor r = make({least, in}, "aten::linalg_qr");
    const Tensor update = make({out, in}, "aten::mm");  // Taken from the weight in place.
    return;
  }
  const Tensor update = make({out, in}, "aten::mm");
  const Tensor residual = make({out, in}, "aten::sub");
}

}  // namespace oomplan::estimator
