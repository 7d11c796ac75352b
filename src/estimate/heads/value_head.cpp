// The head of values beside a causal model's own (trl 0.24: models/modeling_value_head.py ValueHead): a number for each
// token. It is made in fp32, and cast where DeepSpeed casts all; what it is given goes to its dtype.
#include "head.hpp"

namespace oomplan::estimator::heads {
namespace {

constexpr double dropout = 0.1;  // summary_dropout_prob

class ValueHead final : public Head {
 public:
  ValueHead(const Attributes& a, Builder& b)
      : weight_(b.adapter_weight("v_head.summary", {1, a.integer("width")}, DType::fp32)),
        bias_(b.adapter_weight("v_head.summary.bias", {1}, DType::fp32)) {}

  Tensor prepare(Play& play, const Tensor& hidden) const override {
    Torch& t = play.torch;
    Tensor output = t.dropout(hidden, dropout);
    output = t.to(output, weight_->dtype);
    return t.squeeze(t.linear(output, weight_, bias_), 2);
  }

 private:
  Tensor weight_{};
  Tensor bias_{};
};

}  // namespace

extern const HeadType value_head;
const HeadType value_head{"value_head", make_head<ValueHead>};

}  // namespace oomplan::estimator::heads
