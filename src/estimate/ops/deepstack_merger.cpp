// Qwen3VLVisionPatchMerger with use_postshuffle_norm: a tower's layer gives features of its own beside the last one's.
#include "modules/activation.hpp"
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class DeepstackMerger final : public Module {
 public:
  DeepstackMerger(const Attributes& a, Builder& b)
      : width_(a.integer("width")),
        norm_(b, a.module() + "." + a.text("norm", "norm"), width_),
        activation_(find_activation("gelu", b)),
        first_(b, a.module() + "." + a.text("first", "linear_fc1"), width_, width_, true),
        second_(b, a.module() + "." + a.text("second", "linear_fc2"), width_, a.integer("out"), true) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor x = norm_(play, t.view(s.hidden, {-1, width_}));
    s.seen.deep.push_back(second_(play, activation_(t, first_(play, x))));
  }

 private:
  std::int64_t width_;  ///< Of a square of patches.
  LayerNorm norm_;
  Activation activation_;
  Linear first_, second_;
};

}  // namespace

extern const OpType deepstack_merger;
const OpType deepstack_merger{"deepstack_merger", make_module<DeepstackMerger>};

}  // namespace oomplan::estimator::ops
