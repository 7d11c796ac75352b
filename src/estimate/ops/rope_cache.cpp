// torchtune's rotary embeddings, by a module that all layers share. Some builders of adapted models make one for each
// layer instead (`unless_adapted`).
#include "modules/rope_cache.hpp"

namespace oomplan::estimator::ops {
namespace {

class SharedRopeCache final : public Module {
 public:
  SharedRopeCache(const Attributes& a, Builder& b) {
    if (b.facts.adapts() && a.flag("unless_adapted", false)) return;
    rope_ = RopeCache(b, a.integer("positions"), a.integer("head_dim"), a.flag("halves", false));
  }

  void forward(Play&, Stream& s) const override { s.arguments.cos[0] = rope_.cache; }

 private:
  RopeCache rope_{};
};

}  // namespace

extern const OpType rope_cache;
const OpType rope_cache{"rope_cache", make_module<SharedRopeCache>};

}  // namespace oomplan::estimator::ops
