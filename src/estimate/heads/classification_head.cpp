// ...ClassificationHead and its like: from the first token (or from each) by a layer with its activation, where the
// family has one, to the labels. RoBERTa's, DistilBERT's, DeBERTa's, BERT's with its pooler, and ModernBERT's with a
// norm; those of encoder-decoders from the token that ends a row. For each token, or each text of a row, they are the
// heads of question answering and of multiple choice too.
#include "head.hpp"
#include "modules/activation.hpp"
#include "modules/layer_norm.hpp"

namespace oomplan::estimator::heads {
namespace {

class ClassificationHead final : public Head {
 public:
  ClassificationHead(const Attributes& a, Builder& b)
      : pools_(a.flag("pools", true)),
        at_end_(a.flag("at_end", false)),
        input_dropout_(a.number("input_dropout", 0.0)),
        dropout_(a.number("dropout", 0.0)),
        has_dense_(a.find("dense") != nullptr && a.flag("projects", true)) {
    const std::int64_t width = a.integer("width");
    const std::string whole = a.text("whole", "classifier");
    if (has_dense_) {
      activation_ = find_activation(a.text("activation", "tanh"), b);
      dense_ = Linear::classifier(b, a.text("dense", ""), width, width, a.flag("dense_bias", true), whole);
    }
    if (a.find("norm") != nullptr)
      norm_ =
          LayerNorm(b, a.text("norm", ""), width, a.flag("norm_bias", true) ? Affine::weight_and_bias : Affine::weight);
    const std::string pooling = a.text("pooling", "cls");
    averages_tokens = pooling == "late";  // EuroBERT's
    if (averages_tokens) pools_ = false;
    if (pooling != "cls" && pooling != "first" && pooling != "bos" && !averages_tokens)
      a.unmodelled("a classifier of other than the first of a row's tokens");
    projection_ =
        Linear::classifier(b, a.module(), width, a.integer("labels", b.facts.labels), a.flag("bias", true), whole);
    raised_in_loss = a.flag("raised_in_loss", false);
    classifies = true;
  }

  Tensor prepare(Play& play, const Tensor& hidden) const override {
    Torch& t = play.torch;
    Tensor x = at_end_  ? last_token(play, hidden)
               : pools_ ? t.slice(t.select(hidden, 1), 0, 0, hidden->sizes[0])
                        : hidden;
    x = t.dropout(x, input_dropout_);
    if (has_dense_) x = activation_(t, dense_(play, x));
    if (norm_) x = norm_(play, x);
    return t.dropout(x, dropout_);
  }

 private:
  /// hidden_states[eos_mask, :], of rows that have one such token each.
  static Tensor last_token(Play& play, const Tensor& hidden) {
    Torch& t = play.torch;
    const std::int64_t rows = play.facts.batch;
    const std::int64_t tokens = hidden->sizes[1];
    const Tensor mask = t.empty({rows, tokens}, DType::boolean, "aten::eq");
    const Tensor at = t.empty({rows, 2}, DType::int64, "aten::nonzero");
    const Tensor selected = t.index_rows(t.view(hidden, {rows * tokens, hidden->sizes[2]}), t.select(at, 1));
    return t.slice(selected, 0, 0, rows);
  }

  bool pools_;
  bool at_end_;
  double input_dropout_;
  double dropout_;
  bool has_dense_;
  Activation activation_ = nullptr;
  Linear dense_{};
  LayerNorm norm_{};
};

}  // namespace

extern const HeadType classification_head;
const HeadType classification_head{"classification_head", make_head<ClassificationHead>};

}  // namespace oomplan::estimator::heads
