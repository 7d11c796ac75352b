// BertLMPredictionHead and RobertaLMHead with the cross entropy of BertForMaskedLM: no fp32 copy of the logits but
// autocast's.
#include "modules/activation.hpp"
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class MaskedLmHead final : public Module {
 public:
  MaskedLmHead(const Attributes& a, Builder& b)
      : vocabulary_(a.integer("vocabulary")), activation_(find_activation(a.text("activation", "gelu"), b)) {
    const std::int64_t width = a.integer("width");
    const std::string transform = a.text("transform", a.module());
    dense_ = Linear(b, transform + ".dense", width, width, true);
    norm_ = LayerNorm(b, transform + "." + a.text("norm", "LayerNorm"), width);
    decoder_ = Linear::head(b, a.module() + ".decoder", width, vocabulary_, true,
                            a.flag("tied", true) ? b.embedding_weight : Tensor());
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.leave_base();
    s.logits = predict(play, s.hidden);
    s.loss = t.cross_entropy(t.view(s.logits, {-1, vocabulary_}), t.view(s.labels, {-1}));
    t.recorder.scope.bucket = Bucket::temporaries;
  }

 private:
  Tensor predict(Play& play, const Tensor& x) const {
    Tensor hidden = dense_(play, x);
    hidden = activation_(play.torch, hidden);
    hidden = norm_(play, hidden);
    play.torch.recorder.begin_loss();
    play.torch.recorder.scope.bucket = Bucket::logits_and_loss;
    return decoder_(play, hidden);
  }

  std::int64_t vocabulary_;
  Activation activation_;
  Linear dense_{}, decoder_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType masked_lm_head;
const OpType masked_lm_head{"masked_lm_head", make_module<MaskedLmHead>};

}  // namespace oomplan::estimator::ops
