// What a tower's class returns, which lives until the model that called it does (mm_encoder_outputs).
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class KeepOutput final : public Module {
 public:
  KeepOutput(const Attributes&, Builder&) {}
  void forward(Play&, Stream& s) const override { s.seen.kept.push_back(s.hidden); }
};

}  // namespace

extern const OpType keep_output;
const OpType keep_output{"keep_output", make_module<KeepOutput>};

}  // namespace oomplan::estimator::ops
