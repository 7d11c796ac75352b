#include "modules/router_loss.hpp"

#include <tuple>

namespace oomplan::estimator {
namespace {

/// How many tokens each expert gets: chosen.histc(…), or where some do not count zeros.scatter_add_(…).
Tensor counted(Torch& t, const Tensor& chosen, std::int64_t experts, const Tensor& mask) {
  const Dims all{chosen->numel()};
  if (!mask) {
    const Tensor numbers = t.empty(all, DType::int32, "aten::_to_copy");
    return t.empty({experts}, DType::int32, "aten::histc");
  }
  Tensor zeros = t.zeros({experts}, DType::fp32);
  const Tensor repeated = t.empty(all, DType::fp32, "aten::repeat_interleave");
  return zeros;
}

Tensor summed(Torch& t, const Tensor& weights, const Tensor& mask) {
  const Tensor raised = t.to(weights, DType::fp32);
  return t.sum_dim(mask ? t.mul(raised, t.unsqueeze(mask, 1)) : raised, 0, false);
}

}  // namespace

Tensor router_loss(Torch& t, const RouterLogits& collected, bool masked) {
  InBucket bucket(t, Bucket::logits_and_loss);
  const Dims& sizes = collected.routers().front().logits->sizes;
  const std::int64_t experts = sizes.back();
  Tensor tokens = t.zeros({experts}, DType::fp32);
  Tensor probabilities = t.zeros({experts}, DType::fp32);
  const Tensor mask = masked ? t.empty({sizes[0]}, DType::fp32, "aten::_to_copy") : Tensor();
  Tensor weights, highest, chosen;  // Until the next layer's take their places.
  for (const RouterLogits::Router& router : collected.routers()) {
    Restore in_layer(t.recorder.scope.layer, std::int16_t{router.layer});
    weights = t.softmax_last(router.logits);
    std::tie(highest, chosen) = t.topk_last(weights, router.per_token);
    const Tensor count = counted(t, chosen, experts, mask);
    tokens = t.pointwise({&tokens, &count}, DType::fp32, "aten::add");
    probabilities = t.add(probabilities, summed(t, weights, mask));
  }
  const Tensor product = t.mul(t.div_scalar(probabilities), t.div_scalar(tokens));
  return t.mul_scalar(t.sum_all(product));
}

}  // namespace oomplan::estimator
