// residual = residual.to(torch.float32), as Mamba's blocks have it where their config says so.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class RaiseResidual final : public Module {
 public:
  RaiseResidual(const Attributes&, Builder&) {}
  void forward(Play& play, Stream& s) const override { s.residual = play.torch.to(s.residual, DType::fp32); }
};

}  // namespace

extern const OpType raise_residual;
const OpType raise_residual{"raise_residual", make_module<RaiseResidual>};

}  // namespace oomplan::estimator::ops
