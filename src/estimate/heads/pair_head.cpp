// CLIPModel and SiglipModel once both sides are done: each picture's likeness to each text, by a trained scale (and
// bias), and the loss of it.
#include "head.hpp"

namespace oomplan::estimator::heads {
namespace {

enum class Loss { softmax, sigmoid };
constexpr std::array<std::string_view, 2> losses{"softmax", "sigmoid"};

class PairHead final : public Head {
 public:
  PairHead(const Attributes& a, Builder& b) : loss_(static_cast<Loss>(a.choice("loss", losses))) {
    const Dims sizes = loss_ == Loss::softmax ? Dims{} : Dims{1};
    scale_ = b.weight("logit_scale", sizes, Part::bias);
    if (loss_ == Loss::sigmoid) bias_ = b.weight("logit_bias", sizes, Part::bias);
    classifies = true;
  }

  void match(Play& play, const Tensor& texts, const Tensor& pictures, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor of_picture = t.div(pictures, norm(t, pictures));
    const Tensor of_text = t.div(texts, norm(t, texts));
    s.returned.push_back(of_picture);
    s.returned.push_back(of_text);
    Tensor logits = t.matmul(of_text, t.t(of_picture));
    logits = t.mul(logits, t.exp(scale_));
    if (bias_) logits = t.add(logits, bias_);
    s.logits = logits;
    s.loss = loss_ == Loss::softmax ? of_rows_and_columns(t, logits) : of_each(t, logits);
  }

 private:
  /// x / sqrt(sum(x^2)) of each row.
  static Tensor norm(Torch& t, const Tensor& x) {
    const Tensor sum = t.sum_dim(t.pow_scalar(x), static_cast<int>(x->sizes.size()) - 1, true);
    return t.pow_scalar(sum);
  }

  /// image_text_contrastive_loss
  static Tensor of_rows_and_columns(Torch& t, const Tensor& logits) {
    const Tensor labels = t.empty({logits->sizes[0]}, DType::int64, "aten::arange");
    const Tensor captions = t.cross_entropy(logits, labels);
    const Tensor images = t.cross_entropy(t.t(logits), labels);
    return t.div_scalar(t.add(captions, images));
  }

  static Tensor of_each(Torch& t, const Tensor& logits) {
    const Tensor signs = t.empty(logits->sizes, DType::fp32, "aten::add");
    const Tensor likelihood = t.softplus(t.mul(signs, logits));
    return t.sum_all(t.neg(t.sum_last(likelihood)));
  }

  Loss loss_;
  Tensor scale_{};
  Tensor bias_{};
};

}  // namespace

extern const HeadType pair_head;
const HeadType pair_head{"pair_head", make_head<PairHead>};

}  // namespace oomplan::estimator::heads
