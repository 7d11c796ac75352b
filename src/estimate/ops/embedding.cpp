// torch.nn.Embedding of the input ids; its output begins the residual stream. Where it is scaled, Gemma's embedding
// does it itself, by a buffer, in older code its model, by a number of the host, whose forward keeps a name for what
// came in; BioGPT's embedding does it by a number, and Granite's model by a number.
#include <utility>

#include "modules/embedding_adapter.hpp"
#include "modules/embedding_hooks.hpp"
#include "modules/stable_embedding.hpp"
#include "modules/tensor_parallel.hpp"
#include "oomplan/catalog/older_code.hpp"

namespace oomplan::estimator::ops {
namespace {

enum class Scale { none, by_buffer, by_number, within, beside };
constexpr std::array<std::string_view, 4> scales{"none", "by_buffer", "by_number", "within"};

Scale scale_of(const Attributes& a, const Builder& b) {
  if (a.find(older_code) != nullptr && !b.facts.unsloth) return Scale::beside;
  return static_cast<Scale>(a.choice("scale", scales));
}

class Embedding final : public Module {
 public:
  Embedding(const Attributes& a, Builder& b)
      : scale_(scale_of(a, b)), weight_(weight_of(a, b)), named_(a.flag("named", true)) {
    // peft adapts no module that it saves whole.
    if (adapts(b) && !weight_.copy) adapter_ = {b, a.module(), sizes_of(a, b)};
    b.embedding_weight = weight_.original;
    if (a.flag("replaced_in_4_bits", false) && b.facts.lightning && b.facts.quantized) stable_ = {b, sizes_of(a, b)};
    // Unsloth scales what was looked up in place, by a number of the host.
    if (scale_ != Scale::by_buffer || b.facts.unsloth) return;
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    buffer_ = b.torch.empty({}, b.facts.weights, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    play.policy.enter_module(play.torch, Site::embedding, s.input_ids);
    const Tensor& weight = weight_.of(play.facts);
    play.policy.enter_leaf(play.torch, {&weight}, s.input_ids);
    s.inputs_embeds = looked_up(play, weight, s.input_ids);
    s.inputs_embeds = adapter_(play, s.input_ids, std::move(s.inputs_embeds));
    if (buffer_) s.inputs_embeds = play.torch.mul(s.inputs_embeds, buffer_);
    if (scale_ == Scale::within) s.inputs_embeds = play.torch.mul_scalar(s.inputs_embeds);
    s.inputs_embeds = hooked_tokens(play, std::move(s.inputs_embeds));
    s.inputs_embeds = play.policy.leave_leaf(play.torch, {&weight}, s.inputs_embeds);
    s.inputs_embeds = play.policy.leave_module(play.torch, Site::embedding, s.inputs_embeds);
    if (scale_ == Scale::by_number) s.inputs_embeds = play.torch.mul_scalar(s.inputs_embeds);
    s.hidden = scale_ == Scale::beside ? play.torch.mul_scalar(s.inputs_embeds) : s.inputs_embeds;
    if (!named_) s.inputs_embeds.reset();
  }

 private:
  Weight weight_of(const Attributes& a, Builder& b) const {
    const std::int64_t ranks = b.facts.tensor_parallel.ranks;
    Restore parts(b.parts, std::int64_t{ranks});
    Restore padding(b.padding, sizes_of(a, b)[0] * ranks - b.enlarged(a.integer("rows")));
    return {b.embedding(a.module(), sizes_of(a, b), adapts(b)),
            b.saved_copy(a.module(), "weight", sizes_of(a, b), Part::embedding)};
  }

  static Dims sizes_of(const Attributes& a, const Builder& b) {
    return {b.vocabulary_part(a.integer("rows")), a.integer("width")};
  }

  Tensor looked_up(Play& play, const Tensor& weight, const Tensor& ids) const {
    if (stable_) return stable_(play.torch, ids);
    if (play.facts.tensor_parallel.ranks > 1) return shared_embedding(play, weight, ids);
    return play.torch.embedding(weight, ids);
  }

  /// Where the embedding scales by itself, peft scales what the adapter makes too, by a tensor of its own.
  bool adapts(const Builder& b) const {
    return b.facts.adapts_embeddings && scale_ != Scale::by_buffer && scale_ != Scale::within;
  }

  Scale scale_;
  Weight weight_;
  EmbeddingAdapter adapter_{};
  bool named_;  ///< The model's forward has a name for it until it returns.
  StableEmbedding stable_{};
  Tensor buffer_{};
};

}  // namespace

extern const OpType embedding;
const OpType embedding{"embedding", make_module<Embedding>};

}  // namespace oomplan::estimator::ops
