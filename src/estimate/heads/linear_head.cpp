// The lm_head of causal language models: one matrix, whose products some families multiply, divide or cap.
#include "head.hpp"
#include "oomplan/catalog/older_code.hpp"

namespace oomplan::estimator::heads {
namespace {

/// What is done to the logits by a number of the config. capped: by a function, which has a name for them (litgpt's
/// do_softcapping).
enum class After { nothing, multiplied, divided, raised, capped };
constexpr std::array<std::string_view, 5> afters{"nothing", "multiplied", "divided", "raised", "capped"};

/// Of all but the last token's logits, in the dtype that they have or in fp32.
constexpr std::array<std::string_view, 2> older_losses{"shifted", "shifted_raised"};

Tensor capped(Torch& t, const Tensor& logits) {
  Tensor out = t.div_scalar(logits);
  out = t.tanh(out);
  return t.mul_scalar(out);
}

class LinearHead final : public Head {
 public:
  LinearHead(const Attributes& a, Builder& b)
      : Head(Linear::head(b, a.module(), a.integer("width"), b.enlarged(a.integer("vocabulary")), a.flag("bias", false),
                          a.flag("tied", false) ? b.embedding_weight : Tensor())),
        casts_(a.flag("casts", false)),
        divides_(a.text("before", "") == "divided"),
        after_(static_cast<After>(a.choice("after", afters))),
        softcapped_(a.find("softcap") != nullptr) {
    names_input = divides_;
    if (b.facts.logit_shift == LogitShift::raised_logits && after_ == After::nothing) after_ = After::raised;
    const bool older = a.find(older_code) != nullptr;
    shifts_logits = older || a.flag("shifts_logits", false);
    shifts_raised = older && a.choice("older_loss", older_losses) == 1;
  }

  Tensor prepare(Play& play, const Tensor& hidden) const override {
    if (divides_) return play.torch.div_scalar(hidden);
    return casts_ ? play.torch.to(hidden, play.facts.weights) : hidden;
  }

 protected:
  Tensor finish(Torch& t, Tensor logits) const override {
    if (after_ == After::multiplied) logits = t.mul_scalar(logits);
    if (after_ == After::divided) logits = t.div_scalar(logits);
    if (after_ == After::raised) logits = t.to(logits, DType::fp32);
    if (after_ == After::capped) return capped(t, logits);
    if (!softcapped_) return logits;
    logits = t.div_scalar(logits);
    logits = t.tanh(logits);
    return t.mul_scalar(logits);
  }

 private:
  bool casts_;    ///< hidden_states.to(self.lm_head.weight.dtype), which a loss in the head's place does not do.
  bool divides_;  ///< Hidden states by a number, as MiniCPM 3.
  After after_;
  bool softcapped_;
};

}  // namespace

extern const HeadType linear_head;
const HeadType linear_head{"linear_head", make_head<LinearHead>};

}  // namespace oomplan::estimator::heads
