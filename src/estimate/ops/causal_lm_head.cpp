// lm_head and transformers' ForCausalLMLoss (loss/loss_utils.py): an fp32 copy of the logits, labels shifted by a pad.
#include "modules/chunked_logprob.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

/// What is done to the logits by a number of the config.
enum class After { nothing, multiplied, divided };
constexpr std::array<std::string_view, 3> afters{"nothing", "multiplied", "divided"};

class CausalLmHead final : public Module {
 public:
  CausalLmHead(const Attributes& a, Builder& b)
      : vocabulary_(a.integer("vocabulary")),
        head_(Linear::head(b, a.module(), a.integer("width"), vocabulary_, a.flag("bias", false),
                           a.flag("tied", false) ? b.embedding_weight : Tensor())),
        after_(static_cast<After>(a.choice("after", afters))),
        softcapped_(a.find("softcap") != nullptr) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.leave_base();
    t.recorder.begin_loss();
    InBucket bucket(t, Bucket::logits_and_loss);
    if (play.facts.loss == Loss::chunked_logprob) {
      s.loss = chunked_logprob_loss(play, s, head_.weight());
      return;
    }
    s.logits = head_(play, s.hidden);
    if (after_ == After::multiplied) s.logits = t.mul_scalar(s.logits);
    if (after_ == After::divided) s.logits = t.div_scalar(s.logits);
    if (softcapped_) softcap(t, s.logits);
    Tensor logits = t.to(s.logits, DType::fp32);
    const Tensor labels = shifted(t, s.labels);
    logits = t.view(logits, {-1, vocabulary_});
    s.loss = t.cross_entropy(logits, labels);
  }

 private:
  /// logits / cap, tanh, * cap, each under the same name.
  static void softcap(Torch& t, Tensor& logits) {
    logits = t.div_scalar(logits);
    logits = t.tanh(logits);
    logits = t.mul_scalar(logits);
  }

  static Tensor shifted(Torch& t, const Tensor& labels) {
    const Tensor padded = t.pad_last(labels, 1);
    return t.view(t.contiguous(t.slice(padded, 1, 1, labels->sizes[1])), {-1});
  }

  std::int64_t vocabulary_;
  Linear head_;
  After after_;
  bool softcapped_;
};

}  // namespace

extern const OpType causal_lm_head;
const OpType causal_lm_head{"causal_lm_head", make_module<CausalLmHead>};

}  // namespace oomplan::estimator::ops
