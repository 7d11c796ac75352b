// transformers/optimization.py (5.23): Adafactor.step without first moment, one parameter after the other.
#include <map>

#include "optimizer.hpp"

namespace oomplan::estimator::optimizers {
namespace {

/// Python's names outlive a loop's pass, so the last gradient copy, parameter copy and update stay alive until the next
/// replaces them.
class Adafactor final : public OptimizerCode {
 public:
  void update(Torch& t, const Parameter& parameter) override {
    const Tensor& p = parameter.held;
    grad_.reset();  // `grad = p.grad` comes before `grad = grad.float()`, and so of the weight.
    grad_ = t.to(p->grad, DType::fp32);
    State& s = state_of(t, parameter);
    weight_.reset();
    weight_ = t.to(p, DType::fp32);
    s.rms = root_mean_square(t);
    t.recorder.at(s.rms->storage).bucket = Bucket::optimizer;
    Tensor squared = t.pointwise({&grad_}, DType::fp32, "aten::pow");
    Tensor sum = t.pointwise({&grad_}, DType::fp32, "aten::add");
    squared.reset();
    update_ = std::move(sum);
    update_ = s.columns ? factored(t, s) : t.pointwise({&s.rows}, DType::fp32, "aten::rsqrt");
    root_mean_square(t);
    t.pointwise({&update_}, DType::fp32, "aten::neg");
  }

  void end() override {
    update_.reset();
    weight_.reset();
    grad_.reset();
  }

 private:
  struct State {
    Tensor rows{};  ///< Of a matrix the rows' second moments, of a vector all of them.
    Tensor columns{};
    Tensor rms{};
  };

  static Tensor root_mean_square(Torch& t) {
    const Tensor norm = t.empty({}, DType::fp32, "aten::linalg_vector_norm");
    return t.div_scalar(norm);
  }

  static Tensor factored(Torch& t, const State& s) {
    const Tensor r = t.div_scalar(s.rows);
    const Tensor c = t.pointwise({&s.columns}, DType::fp32, "aten::rsqrt");
    Dims sizes = s.rows->sizes;
    sizes.push(s.columns->sizes.back());
    return t.empty(sizes, DType::fp32, "aten::mul");
  }

  State& state_of(Torch& t, const Parameter& parameter) {
    const auto [at, fresh] = states_.try_emplace(&parameter);
    if (fresh) create(t, parameter.held, at->second);
    return at->second;
  }

  static void create(Torch& t, const Tensor& p, State& s) {
    if (p->dim() < 2) {
      s.rows = optimizer_state(t, p->sizes, DType::fp32, "aten::zeros_like");
      return;
    }
    Dims row = p->sizes;
    row.erase(row.size() - 1);
    Dims column = p->sizes;
    column.erase(column.size() - 2);
    s.rows = optimizer_state(t, row, DType::fp32, "aten::_to_copy");
    s.columns = optimizer_state(t, column, DType::fp32, "aten::_to_copy");
  }

  std::map<const Parameter*, State> states_{};
  Tensor grad_{};
  Tensor weight_{};
  Tensor update_{};
};

}  // namespace

extern const MakeOptimizerCode adafactor;
const MakeOptimizerCode adafactor = [] { return std::unique_ptr<OptimizerCode>(std::make_unique<Adafactor>()); };

}  // namespace oomplan::estimator::optimizers
