// Two linear layers with an activation between them (PhiMLP, GPTNeoXMLP, Starcoder2MLP), dropout after them where the
// family has it.
#include "modules/activation.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class PlainMlp final : public Module {
 public:
  PlainMlp(const Attributes& a, Builder& b)
      : activation_(find_activation(a.text("activation", "gelu"), b)),
        drop_(b.dropout()),
        inner_dropout_(a.number("inner_dropout", 0.0)),
        dropout_(a.number("dropout", 0.0)),
        inline_(a.module().empty()),
        nested_(a.flag("nested", false)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module().empty() ? "" : a.module() + ".";
    const std::int64_t out = a.integer("out", a.integer("width"));
    const bool bias = a.flag("bias", true);
    const LinearKind kind = a.flag("matmul", false) ? LinearKind::matmul : LinearKind::linear;
    const std::int64_t inner = inner_of(a);
    first_ = Linear(b, m + a.text("first", "fc1"), a.integer("width"), inner, bias, kind);
    second_ = Linear(b, m + a.text("second", "fc2"), inner, out, bias, kind);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    Tensor hidden = first_(play, s.hidden);
    if (inline_ && !nested_) s.hidden.reset();
    hidden = activation_(t, hidden);
    if (inline_) s.hidden.reset();
    hidden = (t.*drop_)(hidden, inner_dropout_);
    hidden = second_(play, hidden);
    s.hidden = (t.*drop_)(hidden, dropout_);
  }

 private:
  /// As it is given, or as int(ratio * width).
  static std::int64_t inner_of(const Attributes& a) {
    if (a.find("ratio") == nullptr) return a.integer("inner");
    constexpr double most = 1e6;
    const double ratio = std::min(a.number("ratio", 1.0), most);
    return std::max<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(a.integer("width")) * ratio), 1);
  }

  Activation activation_;
  Builder::Dropout drop_;
  double inner_dropout_;
  double dropout_;
  bool inline_;  ///< Lines of the block itself, whose one variable each of them assigns anew,
  bool nested_;  ///< … the first of them act(fc1(x)).
  std::int32_t module_;
  Linear first_{}, second_{};
};

}  // namespace

extern const OpType plain_mlp;
const OpType plain_mlp{"plain_mlp", make_module<PlainMlp>};

}  // namespace oomplan::estimator::ops
