// BertLMPredictionHead and its like: a layer, its activation and norm before the matrix, or that alone (`plain`). ESM
// adds its bias to what the matrix makes (`added_bias`).
#include "head.hpp"
#include "modules/activation.hpp"
#include "modules/layer_norm.hpp"

namespace oomplan::estimator::heads {
namespace {

class MaskedLmHead final : public Head {
 public:
  MaskedLmHead(const Attributes& a, Builder& b) : activation_(find_activation(a.text("activation", "gelu"), b)) {
    const std::int64_t width = a.integer("width");
    const std::string transform = a.text("transform", a.module());
    const std::int64_t inner = a.integer("inner", width);
    const Affine affine = a.flag("norm_bias", true) ? Affine::weight_and_bias : Affine::weight;
    const bool tied = a.flag("tied", true);
    // The module's own, which is the decoder's too where that is tied, and which nothing reads where it is not.
    if (!tied && a.flag("own_bias", false))
      bias_ = b.weight(below(a.module(), "bias"), {a.integer("vocabulary")}, Part::bias);
    plain_ = a.flag("plain", false);
    if (!plain_) {
      dense_ = Linear(b, below(transform, a.text("dense", "dense")), width, inner, a.flag("dense_bias", true));
      norm_ = LayerNorm(b, below(transform, a.text("norm", "LayerNorm")), inner, affine);
    }
    projection_ = Linear::head(b, below(a.module(), a.text("decoder", "decoder")), inner, a.integer("vocabulary"),
                               a.flag("bias", true), tied ? b.embedding_weight : Tensor());
    if (a.flag("added_bias", false))
      added_ = b.weight(below(a.module(), "bias"), {a.integer("vocabulary")}, Part::bias);
    raised_in_loss = a.flag("raised_in_loss", false);
  }

  Tensor prepare(Play& play, const Tensor& x) const override {
    if (plain_) return x;
    Tensor hidden = dense_(play, x);
    hidden = activation_(play.torch, hidden);
    return norm_(play, hidden);
  }

 protected:
  Tensor finish(Torch& t, Tensor logits) const override { return added_ ? t.add(logits, added_) : logits; }

 private:
  static std::string below(const std::string& module, const std::string& name) {
    return module.empty() ? name : module + "." + name;
  }

  Activation activation_;
  bool plain_ = false;
  Linear dense_{};
  LayerNorm norm_{};
  Tensor bias_{};
  Tensor added_{};
};

}  // namespace

extern const HeadType masked_lm_head;
const HeadType masked_lm_head{"masked_lm_head", make_head<MaskedLmHead>};

}  // namespace oomplan::estimator::heads
