// GPT2MLP: Conv1D, activation, Conv1D, dropout.
#include "modules/activation.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class Conv1dMlp final : public Module {
 public:
  Conv1dMlp(const Attributes& a, Builder& b)
      : activation_(find_activation(a.text("activation", "gelu_new"), b)),
        dropout_(a.number("dropout", 0.0)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    c_fc_ = Linear(b, m + "c_fc", a.integer("width"), a.integer("inner"), true, LinearKind::conv1d);
    c_proj_ = Linear(b, m + "c_proj", a.integer("inner"), a.integer("width"), true, LinearKind::conv1d);
  }

  void forward(Play& play, Stream& s) const override { s.hidden = mlp(play, s.hidden); }

 private:
  Tensor mlp(Play& play, const Tensor& x) const {
    Restore module(play.torch.recorder.scope.module, std::int32_t{module_});
    Tensor hidden = c_fc_(play, x);
    hidden = activation_(play.torch, hidden);
    hidden = c_proj_(play, hidden);
    return play.torch.dropout(hidden, dropout_);
  }

  Activation activation_;
  double dropout_;
  std::int32_t module_;
  Linear c_fc_{}, c_proj_{};
};

}  // namespace

extern const OpType conv1d_mlp;
const OpType conv1d_mlp{"conv1d_mlp", make_module<Conv1dMlp>};

}  // namespace oomplan::estimator::ops
