// The embedding of an encoder or a decoder that share one: the encoder makes the weight, the decoder takes its own ids.
// Where it is scaled, the embedding does it itself (BartScaledWordEmbedding, by 1 too), or its caller.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

enum class Scale { none, within, without };
constexpr std::array<std::string_view, 3> scales{"none", "within", "without"};

class StackEmbedding final : public Module {
 public:
  StackEmbedding(const Attributes& a, Builder& b)
      : of_labels_(a.flag("of_labels", false)), scale_(static_cast<Scale>(a.choice("scale", scales))) {
    if (!a.flag("tied", true) || !a.flag("shared", true))
      a.unmodelled("an encoder and a decoder with embeddings of their own");
    if (!b.embedding_weight) {
      const Dims sizes{a.integer("rows"), a.integer("width")};
      b.embedding_weight = b.embedding(a.module(), sizes);
      if (b.saved_copy(a.module(), "weight", sizes, Part::embedding)) a.unmodelled("a trained copy of their embedding");
    }
    weight_ = b.embedding_weight;
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Tensor x = t.embedding(weight_, of_labels_ ? s.decoder_ids : s.input_ids);
    if (scale_ == Scale::within) x = t.mul_scalar(x);
    if (play.facts.input_grads) x->requires_grad = true;
    if (scale_ == Scale::without) x = t.mul_scalar(x);
    s.inputs_embeds = x;
    s.hidden = std::move(x);
  }

 private:
  bool of_labels_;
  Scale scale_;
  Tensor weight_{};
};

}  // namespace

extern const OpType stack_embedding;
const OpType stack_embedding{"stack_embedding", make_module<StackEmbedding>};

}  // namespace oomplan::estimator::ops
