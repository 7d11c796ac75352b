// An encoder's forward returns: its variables die, and its hidden states are the decoder's argument, and the caller's.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class EndEncoder final : public Module {
 public:
  EndEncoder(const Attributes&, Builder&) {}

  void forward(Play&, Stream& s) const override {
    const Tensor output = std::exchange(s.hidden, {});
    s.leave_base();
    s.returned.push_back(output);
    s.arguments.encoder = output;
  }
};

}  // namespace

extern const OpType end_encoder;
const OpType end_encoder{"end_encoder", make_module<EndEncoder>};

}  // namespace oomplan::estimator::ops
