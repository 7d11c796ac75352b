// One rank that holds all of the model.
#include "policies/policies.hpp"

namespace oomplan::estimator {
namespace {

class Single final : public Policy {
 public:
  void hold(Torch& t, Parameter& p, DType dtype) override { p.held = p.whole = t.parameter(p.sizes, dtype, p.trained); }
  bool repeats() const override { return true; }
};

}  // namespace

std::unique_ptr<Policy> single() { return std::make_unique<Single>(); }

}  // namespace oomplan::estimator
