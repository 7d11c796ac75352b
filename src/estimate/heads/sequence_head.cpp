// The heads of encoder-decoders: T5's, which may scale what it is given, BART's, which adds a buffer to the logits, and
// Florence-2's, whose loss is of an fp32 copy of them.
#include "head.hpp"

namespace oomplan::estimator::heads {
namespace {

class SequenceHead final : public Head {
 public:
  SequenceHead(const Attributes& a, Builder& b)
      : Head(Linear::head(b, a.module(), a.integer("width"), a.integer("vocabulary"), false, b.embedding_weight)),
        scaled_(a.flag("scaled", false)) {
    names_input = true;
    raised_in_loss = a.flag("raised_in_loss", false);
    if (!a.flag("logits_bias", false)) return;
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    bias_ = b.torch.empty({1, a.integer("vocabulary")}, b.facts.weights, "buffer");
  }

  Tensor prepare(Play& play, const Tensor& x) const override { return scaled_ ? play.torch.mul_scalar(x) : x; }

 protected:
  Tensor finish(Torch& t, Tensor logits) const override { return bias_ ? t.add(logits, bias_) : logits; }

 private:
  bool scaled_;
  Tensor bias_{};
};

}  // namespace

extern const HeadType sequence_head;
const HeadType sequence_head{"sequence_head", make_head<SequenceHead>};

}  // namespace oomplan::estimator::heads
