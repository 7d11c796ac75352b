// HubertModel: what goes into each layer is held until the model returns.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class KeepAllHidden final : public Module {
 public:
  KeepAllHidden(const Attributes&, Builder&) {}
  void forward(Play&, Stream& s) const override { s.all_hidden = std::vector{s.hidden}; }
};

}  // namespace

extern const OpType keep_all_hidden;
const OpType keep_all_hidden{"keep_all_hidden", make_module<KeepAllHidden>};

}  // namespace oomplan::estimator::ops
