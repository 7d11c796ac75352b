#include "modules/fused_linear.hpp"

#include <bit>

namespace oomplan::estimator {
namespace {

/// How many rows a chunk has: so many that its logits are no larger than all hidden states, up to a power of two.
std::int64_t chunk_of(std::int64_t rows, std::int64_t width, std::int64_t vocabulary) {
  const std::int64_t factor = divided_up(vocabulary, width);
  const auto chunk = static_cast<std::uint64_t>(divided_up(rows, factor));
  return std::min(static_cast<std::int64_t>(std::bit_ceil(chunk)), rows);
}

/// One call of the function: what its chunks have in common.
class Call {
 public:
  Call(Torch& torch, const FusedLinear& how, const Tensor& input, const Tensor& weight, bool input_trained)
      : t_(torch), how_(how), input_(input), weight_(weight) {
    grad_input_ = t_.zeros(input->sizes, input->dtype);
    if (input_trained && weight->requires_grad) grad_weight_ = t_.zeros(weight->sizes, weight->dtype);
    with_gradients_ = input_trained;
  }

  /// The sum of the losses.
  Tensor run() {
    const std::int64_t rows = input_->sizes[0];
    const Tensor losses = t_.zeros({rows}, DType::fp32);
    const Tensor mask = t_.empty({rows}, DType::boolean, "aten::ne");
    const std::int64_t chunk = chunk_of(rows, input_->sizes[1], weight_->sizes[0]);
    if (into_buffer()) logits_ = t_.empty({chunk, weight_->sizes[0]}, input_->dtype, "aten::empty");
    // All full chunks from the second on are alike.
    for (std::int64_t i = 0; i < std::min<std::int64_t>(rows / chunk, 2); ++i) play(chunk);
    if (rows % chunk != 0) play(rows % chunk);
    logits_.reset();
    return t_.empty({}, DType::fp32, "aten::sum");
  }

  const Tensor& grad_input() const { return grad_input_; }
  const Tensor& grad_weight() const { return grad_weight_; }

 private:
  /// _can_use_mm_out: nothing is cast.
  bool into_buffer() const {
    return how_.one_buffer && input_->dtype == weight_->dtype && (!t_.autocast() || input_->dtype == *t_.autocast());
  }

  void play(std::int64_t rows) {
    const Tensor input = t_.slice(input_, 0, 0, rows);
    if (!into_buffer()) {
      if (how_.one_buffer) logits_.reset();
      logits_ = t_.matmul(input, t_.t(weight_));
    }
    if (!with_gradients_) return;
    if (!into_buffer()) t_.matmul(logits_, weight_);  // Copied into the input's gradient.
    if (grad_weight_) add_to_weight(input);
  }

  void add_to_weight(const Tensor& input) {
    const DType made = logits_->dtype;
    const bool low = made == DType::bf16 || made == DType::fp16;
    if (how_.adds_in_place && low && (grad_weight_->dtype == DType::fp32 || grad_weight_->dtype == made)) {
      t_.to(input, made);
      return;
    }
    const Tensor product = t_.matmul(t_.t(logits_), input);
    t_.to(product, DType::fp32);
  }

  Torch& t_;
  const FusedLinear& how_;
  const Tensor& input_;
  const Tensor& weight_;
  bool with_gradients_ = false;
  Tensor grad_input_{};
  Tensor grad_weight_{};
  Tensor logits_{};
};

void fused_backward(Torch& t, Node& n, Grads& g) {
  if (n.needs(0)) g.out[0] = t.unpack(n, 0);
  if (n.needs(1)) g.out[1] = t.unpack(n, 1);
}

}  // namespace

Tensor FusedLinear::operator()(Play& play, const Tensor& states, const Tensor& weight) const {
  Torch& t = play.torch;
  const Tensor input = t.view(states, {-1, states->sizes.back()});
  NodeRef node = t.record("LigerFusedLinearCrossEntropyFunctionBackward", {&input, &weight}, fused_backward);
  Restore no_grad(t.grad_enabled, false);
  Call call(t, *this, input, weight, input->requires_grad);
  Tensor loss = call.run();
  t.save(node, 0, call.grad_input());
  t.save(node, 1, call.grad_weight());
  return t.attach(node, std::move(loss));
}

}  // namespace oomplan::estimator
