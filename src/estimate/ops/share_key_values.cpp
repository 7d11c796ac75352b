// shared_kv_states = KVSharingDict(): where layers leave keys and values for later ones.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class ShareKeyValues final : public Module {
 public:
  ShareKeyValues(const Attributes&, Builder&) {}
  void forward(Play&, Stream& s) const override { s.arguments.shared = std::make_shared<SharedStates>(); }
};

}  // namespace

extern const OpType share_key_values;
const OpType share_key_values{"share_key_values", make_module<ShareKeyValues>};

}  // namespace oomplan::estimator::ops
