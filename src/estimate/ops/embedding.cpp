// torch.nn.Embedding of the input ids; its output begins the residual stream. Where it is scaled, Gemma's embedding
// does it itself, by a buffer, BioGPT's by a number, and Granite's model by a number.
#include <utility>

#include "modules/embedding_hooks.hpp"
#include "modules/stable_embedding.hpp"

namespace oomplan::estimator::ops {
namespace {

enum class Scale { none, by_buffer, by_number, within };
constexpr std::array<std::string_view, 4> scales{"none", "by_buffer", "by_number", "within"};

class Embedding final : public Module {
 public:
  Embedding(const Attributes& a, Builder& b)
      : weight_{b.embedding(a.module(), sizes_of(a, b)),
                b.saved_copy(a.module(), "weight", sizes_of(a, b), Part::embedding)},
        scale_(static_cast<Scale>(a.choice("scale", scales))),
        named_(a.flag("named", true)) {
    b.embedding_weight = weight_.original;
    if (a.flag("replaced_in_4_bits", false) && b.facts.lightning && b.facts.quantized) stable_ = {b, sizes_of(a, b)};
    if (scale_ != Scale::by_buffer) return;
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    buffer_ = b.torch.empty({}, b.facts.weights, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    play.policy.enter_module(play.torch, Site::embedding, s.input_ids);
    const Tensor& weight = weight_.of(play.facts);
    play.policy.enter_leaf(play.torch, {&weight}, s.input_ids);
    s.inputs_embeds = stable_ ? stable_(play.torch, s.input_ids) : play.torch.embedding(weight, s.input_ids);
    if (buffer_) s.inputs_embeds = play.torch.mul(s.inputs_embeds, buffer_);
    if (scale_ == Scale::within) s.inputs_embeds = play.torch.mul_scalar(s.inputs_embeds);
    s.inputs_embeds = hooked_tokens(play, std::move(s.inputs_embeds));
    s.inputs_embeds = play.policy.leave_leaf(play.torch, {&weight}, s.inputs_embeds);
    s.inputs_embeds = play.policy.leave_module(play.torch, Site::embedding, s.inputs_embeds);
    if (scale_ == Scale::by_number) s.inputs_embeds = play.torch.mul_scalar(s.inputs_embeds);
    s.hidden = s.inputs_embeds;
    if (!named_) s.inputs_embeds.reset();
  }

 private:
  static Dims sizes_of(const Attributes& a, const Builder& b) {
    return {b.enlarged(a.integer("rows")), a.integer("width")};
  }

  Weight weight_;
  Scale scale_;
  bool named_;  ///< The model's forward has a name for it until it returns.
  StableEmbedding stable_{};
  Tensor buffer_{};
};

}  // namespace

extern const OpType embedding;
const OpType embedding{"embedding", make_module<Embedding>};

}  // namespace oomplan::estimator::ops
