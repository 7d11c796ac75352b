// post_layernorm of the first token (CLIPVisionModel's pooler_output); nobody reads it.
#include "modules/layer_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class PoolFirst final : public Module {
 public:
  PoolFirst(const Attributes& a, Builder& b) : norm_(b, a.module(), a.integer("width")) {}
  void forward(Play& play, Stream& s) const override {
    s.seen.kept.push_back(norm_(play, play.torch.select(s.hidden, 1)));
  }

 private:
  LayerNorm norm_;
};

}  // namespace

extern const OpType pool_first;
const OpType pool_first{"pool_first", make_module<PoolFirst>};

}  // namespace oomplan::estimator::ops
