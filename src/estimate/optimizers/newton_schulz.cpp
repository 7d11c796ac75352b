// torch/optim/_muon.py (2.13): _single_tensor_muon and _zeropower_via_newtonschulz, one matrix after the other.
#include "optimizer.hpp"

namespace oomplan::estimator::optimizers {
namespace {

constexpr int iterations = 5;  // DEFAULT_NS_STEPS

class NewtonSchulz final : public OptimizerCode {
 public:
  /// Python's `update` keeps the last matrix's result until the next one's first is made.
  void update(Torch& t, const Parameter& parameter) override {
    const Tensor& gradient = parameter.held->grad;
    Tensor nesterov = t.empty(gradient->sizes, gradient->dtype, "aten::lerp");
    update_ = nesterov;
    Tensor x = t.to(nesterov, DType::bf16);
    normalise(t);
    const std::int64_t rows = x->sizes[0] > x->sizes[1] ? x->sizes[1] : x->sizes[0];
    Tensor gram;
    Tensor polynomial;
    for (int i = 0; i < iterations; ++i) {
      gram = t.empty({rows, rows}, DType::bf16, "aten::mm");
      polynomial = t.empty({rows, rows}, DType::bf16, "aten::addmm");
      x = t.empty(x->sizes, DType::bf16, "aten::addmm");
    }
    update_ = std::move(x);
  }

  void end() override { update_.reset(); }

 private:
  /// ortho_grad.div_(ortho_grad.norm().clamp(min=eps))
  static void normalise(Torch& t) {
    const Tensor norm = t.empty({}, DType::bf16, "aten::linalg_vector_norm");
    t.empty({}, DType::bf16, "aten::clamp");
  }

  Tensor update_{};
};

}  // namespace

extern const MakeOptimizerCode newton_schulz;
const MakeOptimizerCode newton_schulz = [] { return std::unique_ptr<OptimizerCode>(std::make_unique<NewtonSchulz>()); };

}  // namespace oomplan::estimator::optimizers
