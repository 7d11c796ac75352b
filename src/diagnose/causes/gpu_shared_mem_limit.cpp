#include <fmt/format.h>

#include "../cause.hpp"

namespace oomplan::diagnose {

Judgement causes::gpu_shared_mem_limit(const Case& c) {
  if (c.root == nullptr || c.root->says != Says::gpu_kernel_limit) return {};
  Judgement out{.cause = Cause::gpu_shared_mem_limit, .weight = 90, .confidence = Confidence::proved};
  out.reason = "one kernel asked for more of an SM's own resources than the GPU has; the GPU's memory is not short";
  const auto asked = c.number("requested");
  const auto limit = c.number("limit");
  if (asked && limit) out.arithmetic.push_back(fmt::format("required {} > {} that the hardware has", *asked, *limit));
  return out;
}

}  // namespace oomplan::diagnose
