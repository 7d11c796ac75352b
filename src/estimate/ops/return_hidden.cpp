// The model's output holds these hidden states too (text_model_output, vision_model_output of CLIP).
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class ReturnHidden final : public Module {
 public:
  ReturnHidden(const Attributes&, Builder&) {}
  void forward(Play&, Stream& s) const override { s.returned.push_back(s.hidden); }
};

}  // namespace

extern const OpType return_hidden;
const OpType return_hidden{"return_hidden", make_module<ReturnHidden>};

}  // namespace oomplan::estimator::ops
