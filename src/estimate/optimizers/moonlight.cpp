// Moonlight's Muon, as LLaMA-Factory 0.9.5 has it (third_party/muon/muon.py: Muon.step, zeropower_via_newtonschulz5) and
// axolotl-contribs-mit 0.0.6: products and sums written out, one matrix after the other. Axolotl compiles them, which
// makes no more.
#include "optimizer.hpp"

namespace oomplan::estimator::optimizers {
namespace {

constexpr int iterations = 5;  // ns_steps

class Moonlight final : public OptimizerCode {
 public:
  /// Python's `g` and `u` keep the last matrix's tensors until the next one's are made.
  void update(Torch& t, const Parameter& parameter) override {
    const Tensor& gradient = parameter.held->grad;
    nesterov_ = t.empty(gradient->sizes, gradient->dtype, "aten::add");
    Tensor x = t.to(nesterov_, DType::bf16);
    {
      const Tensor norm = t.empty({}, DType::bf16, "aten::linalg_vector_norm");
      const Tensor raised = t.empty({}, DType::bf16, "aten::add");
      x = t.empty(x->sizes, DType::bf16, "aten::div");
    }
    const std::int64_t rows = std::min(x->sizes[0], x->sizes[1]);
    const auto square = [&](const char* op) { return t.empty({rows, rows}, DType::bf16, op); };
    Tensor gram;
    Tensor polynomial;
    for (int i = 0; i < iterations; ++i) {
      gram = square("aten::mm");
      polynomial = sum_of(t, square("aten::mul"), square);
      const Tensor scaled = t.empty(x->sizes, DType::bf16, "aten::mul");
      const Tensor product = t.empty(x->sizes, DType::bf16, "aten::mm");
      x = t.empty(x->sizes, DType::bf16, "aten::add");
    }
    update_ = std::move(x);
  }

  /// The loop over other parameters, of the same function, uses the name `g` again, and `u` no more.
  void end() override { nesterov_.reset(); }
  void end_of_step() override { update_.reset(); }

 private:
  /// b * A + c * A @ A
  template <class Square>
  static Tensor sum_of(Torch&, const Tensor& scaled, const Square& square) {
    Tensor product;
    {
      const Tensor other = square("aten::mul");
      product = square("aten::mm");
    }
    return scaled ? square("aten::add") : product;
  }

  Tensor nesterov_{};
  Tensor update_{};
};

}  // namespace

extern const MakeOptimizerCode moonlight;
const MakeOptimizerCode moonlight = [] { return std::unique_ptr<OptimizerCode>(std::make_unique<Moonlight>()); };

}  // namespace oomplan::estimator::optimizers
