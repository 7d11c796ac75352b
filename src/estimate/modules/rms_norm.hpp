// LlamaRMSNorm: four lines of Python that save an fp32 copy, its statistics and a normalised copy.
#pragma once

#include <string>

#include "play.hpp"

namespace oomplan::estimator {

class RmsNorm {
 public:
  RmsNorm() = default;
  RmsNorm(Builder& builder, const std::string& name, std::int64_t width)
      : weight_(builder.weight(name + ".weight", {width}, Part::norm)), module_(builder.module_id(name)) {}
  Tensor operator()(Play& play, const Tensor& x) const;
  explicit operator bool() const { return bool(weight_); }

 private:
  Tensor weight_{};
  std::int32_t module_ = -1;
};

}  // namespace oomplan::estimator
