// Positions of an encoder or a decoder, added to its tokens: learned for each row (BartLearnedPositionalEmbedding,
// where its caller gives none) or for all alike (`plain`: Blenderbot's), an embedding that is frozen
// (PegasusSinusoidalPositionalEmbedding), or a buffer by the tokens' own places (M2M100SinusoidalPositionalEmbedding)
// or by the rows' (a table, XGLM); or rows of the weight itself (Whisper).
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

enum class Kind { learned, frozen, buffer, indexed, table, plain };
constexpr std::array<std::string_view, 6> kinds{"learned", "frozen", "buffer", "indexed", "table", "plain"};

class StackPositions final : public Module {
 public:
  StackPositions(const Attributes& a, Builder& b)
      : kind_(static_cast<Kind>(a.choice("kind", kinds))), each_row_(a.flag("each_row", false)) {
    const Dims sizes{saturating_add(a.integer("rows"), a.count("offset")), a.integer("width")};
    if (kind_ == Kind::learned || kind_ == Kind::indexed || kind_ == Kind::plain) {
      weight_ = b.embedding(a.module(), sizes);
    } else if (kind_ == Kind::frozen) {
      weight_ = b.frozen(a.module() + ".weight", sizes, Part::embedding);
    } else {
      Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
      weight_ = b.torch.empty(sizes, b.facts.weights, "buffer");
    }
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.position_embeds = positions(t, play.facts, s);
    s.hidden = t.add(s.inputs_embeds, s.position_embeds);
    if (kind_ == Kind::table) s.position_embeds.reset();  // It has no name.
  }

 private:
  Tensor positions(Torch& t, const Facts& f, Stream& s) const {
    if (kind_ == Kind::buffer) return of_tokens(t, f);
    if (kind_ == Kind::table) {
      const Tensor moved = t.add_scalar(s.position_ids);
      return t.empty({1, f.length, weight_->sizes[1]}, weight_->dtype, "aten::index_select");
    }
    if (kind_ == Kind::indexed) return indexed(t, f, s);
    if (kind_ == Kind::frozen) {
      Restore no_grad(t.grad_enabled, false);
      return t.embedding(weight_, t.empty({f.length}, DType::int64, "aten::arange"));
    }
    const Tensor range = t.empty({f.length}, DType::int64, "aten::arange");
    if (kind_ == Kind::plain) return t.embedding(weight_, range);
    if (each_row_) return t.embedding(weight_, t.empty({f.batch, f.length}, DType::int64, "aten::add"));
    s.position_ids = t.add_scalar(range);  // The decoder's own variable.
    return t.embedding(weight_, t.add_scalar(t.unsqueeze(s.position_ids, 0)));
  }

  /// WhisperPositionalEmbedding: weight[position_ids].
  Tensor indexed(Torch& t, const Facts& f, Stream& s) const {
    {
      const Tensor range = t.empty({f.length}, DType::int64, "aten::arange");
      const Tensor moved = t.add_scalar(range);
      s.position_ids = t.empty({f.batch, f.length}, DType::int64, "aten::repeat");
    }
    NodeRef node = t.record("IndexBackward0", {&weight_},
                            [](Torch& torch, Node& n, Grads& g) { g.out[0] = torch.zeros(n.dims, g.in[0]->dtype); });
    if (node) node->dims = weight_->sizes;
    t.save(node, 0, s.position_ids);
    return t.attach(node, t.empty({f.batch, f.length, weight_->sizes[1]}, weight_->dtype, "aten::index"));
  }

  /// create_position_ids_from_input_ids, and the rows that it names.
  Tensor of_tokens(Torch& t, const Facts& f) const {
    const Dims sizes{f.batch, f.length};
    Tensor ids;
    {
      const Tensor real = t.to(t.empty(sizes, DType::boolean, "aten::ne"), DType::int32);
      const Tensor sums = t.to(t.empty(sizes, DType::int64, "aten::cumsum"), DType::int32);
      const Tensor counted = t.pointwise({&sums, &real}, DType::int32, "aten::mul");
      ids = t.add_scalar(t.to(counted, DType::int64));
    }
    return t.empty({f.batch, f.length, weight_->sizes[1]}, weight_->dtype, "aten::index_select");
  }

  Kind kind_;
  bool each_row_;
  Tensor weight_{};
};

}  // namespace

extern const OpType stack_positions;
const OpType stack_positions{"stack_positions", make_module<StackPositions>};

}  // namespace oomplan::estimator::ops
