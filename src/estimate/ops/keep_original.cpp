// original_hidden_states = torch.clone(inputs_embeds), which some blocks read again.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class KeepOriginal final : public Module {
 public:
  KeepOriginal(const Attributes&, Builder&) {}
  void forward(Play& play, Stream& s) const override { s.arguments.original = play.torch.clone(s.inputs_embeds); }
};

}  // namespace

extern const OpType keep_original;
const OpType keep_original{"keep_original", make_module<KeepOriginal>};

}  // namespace oomplan::estimator::ops
