// An encoder's forward returns: its variables die, and its hidden states are the decoder's argument, and the caller's.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class EndEncoder final : public Module {
 public:
  EndEncoder(const Attributes& a, Builder&) : of_caller_(a.flag("seen_by_caller", false)) {}

  void forward(Play&, Stream& s) const override {
    const Tensor output = std::exchange(s.hidden, {});
    Seen seen = of_caller_ ? std::exchange(s.seen, {}) : Seen();
    s.leave_base();
    s.seen = std::move(seen);
    s.returned.push_back(output);
    s.arguments.encoder = output;
  }

 private:
  bool of_caller_;  ///< What pictures left are variables of the function that calls the encoder.
};

}  // namespace

extern const OpType end_encoder;
const OpType end_encoder{"end_encoder", make_module<EndEncoder>};

}  // namespace oomplan::estimator::ops
