// BertLMPredictionHead and RobertaLMHead: a layer, its activation and norm before the matrix.
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
    dense_ = Linear(b, transform + ".dense", width, width, true);
    norm_ = LayerNorm(b, transform + "." + a.text("norm", "LayerNorm"), width);
    projection_ = Linear::head(b, a.module() + ".decoder", width, a.integer("vocabulary"), true,
                               a.flag("tied", true) ? b.embedding_weight : Tensor());
  }

  Tensor prepare(Play& play, const Tensor& x) const override {
    Tensor hidden = dense_(play, x);
    hidden = activation_(play.torch, hidden);
    return norm_(play, hidden);
  }

 private:
  Activation activation_;
  Linear dense_{};
  LayerNorm norm_{};
};

}  // namespace

extern const HeadType masked_lm_head;
const HeadType masked_lm_head{"masked_lm_head", make_head<MaskedLmHead>};

}  // namespace oomplan::estimator::heads
