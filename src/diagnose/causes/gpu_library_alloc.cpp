#include "../cause.hpp"

namespace oomplan::diagnose {

Judgement causes::gpu_library_alloc(const Case& c) {
  if (c.root == nullptr || c.root->says != Says::gpu_library_failed || c.survived) return {};
  if (!may_be_of_memory(*c.root)) return {};
  Judgement out{.cause = Cause::gpu_library_alloc, .weight = 60, .confidence = Confidence::likely};
  out.reason = "a library that allocates beside PyTorch's allocator found no memory on the GPU";
  const std::string status = c.root->text_of("status");
  const bool vague = status.find("NOT_INITIALIZED") != std::string::npos ||
                     status.find("INTERNAL") != std::string::npos || status == "no algorithm";
  if (vague) out.confidence = Confidence::possible;
  if (vague) out.against.push_back("the same state comes from a driver and a library that do not fit together");
  if (const auto asked = c.number("requested"))
    out.arithmetic.push_back("asked " + shown(*asked) + ", so the card was full");
  return out;
}

}  // namespace oomplan::diagnose
