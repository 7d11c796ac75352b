// torch.nn.GroupNorm.
#pragma once

#include <string>

#include "play.hpp"

namespace oomplan::estimator {

/// torch.nn.functional.group_norm of x (batch × channels × …); autocast runs it in fp32.
Tensor group_norm(Torch& t, const Tensor& x, const Tensor& weight, const Tensor& bias, std::int64_t groups);

class GroupNorm {
 public:
  GroupNorm() = default;
  GroupNorm(Builder& b, const std::string& name, std::int64_t groups, std::int64_t channels)
      : groups_(groups),
        weight_(b.weight(name + ".weight", {channels}, Part::norm)),
        bias_(b.weight(name + ".bias", {channels}, Part::norm)) {}
  Tensor operator()(Play& play, const Tensor& x) const { return group_norm(play.torch, x, weight_, bias_, groups_); }

 private:
  std::int64_t groups_ = 1;
  Tensor weight_{};
  Tensor bias_{};
};

}  // namespace oomplan::estimator
