// residual = hidden_states
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class KeepResidual final : public Module {
 public:
  KeepResidual(const Attributes&, Builder&) {}
  void forward(Play&, Stream& s) const override { s.residual = s.hidden; }
};

}  // namespace

extern const OpType keep_residual;
const OpType keep_residual{"keep_residual", make_module<KeepResidual>, CalledBy::a_line};

}  // namespace oomplan::estimator::ops
