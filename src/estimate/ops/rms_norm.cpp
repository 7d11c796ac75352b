// LlamaRMSNorm and its like, as transformers writes it in Python: in fp32, then scaled.
#include "modules/rms_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class RmsNormStep final : public Module {
 public:
  RmsNormStep(const Attributes& a, Builder& b)
      : norm_(a.flag("scaled", true) ? RmsNorm(b, a.module(), a.integer("width"), rms_style(a, "style"))
                                     : RmsNorm::unscaled(b, a.module(), rms_style(a, "style"))) {}
  // SequenceParallel: of parts of rows it works on DTensors.
  void forward(Play& play, Stream& s) const override {
    Restore subclasses(play.torch.subclasses, bool{play.facts.tensor_parallel.sequence});
    s.hidden = norm_(play, s.hidden);
  }

 private:
  RmsNorm norm_;
};

}  // namespace

extern const OpType rms_norm;
const OpType rms_norm{"rms_norm", make_module<RmsNormStep>, CalledBy::position};

}  // namespace oomplan::estimator::ops
