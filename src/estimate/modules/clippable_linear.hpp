// Gemma4ClippableLinear: a linear layer within a module that may clip what comes in and what goes out.
#pragma once

#include <array>
#include <string>

#include "modules/linear.hpp"

namespace oomplan::estimator {

class ClippableLinear {
 public:
  ClippableLinear() = default;
  /// `name` is the outer module's. `clipped` of the attributes: it clips, by four numbers of its own.
  ClippableLinear(const Attributes& a, Builder& b, const std::string& name, std::int64_t in, std::int64_t out);

  Tensor operator()(Play& play, const Tensor& x) const;

 private:
  Linear linear_{};
  std::array<Tensor, 4> limits_{};
};

}  // namespace oomplan::estimator
