// Florence2MultiModalProjector, of a picture of DaViT's, and what Florence2Model does with its output: a token for each
// patch and one for their mean, in place of the tokens of the row that stand for them.
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"
#include "modules/pictures.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class FlorenceFeatures final : public Module {
 public:
  FlorenceFeatures(const Attributes& a, Builder& b) : width_(a.integer("width")), most_(a.integer("positions")) {
    const std::string m = a.module() + ".";
    const std::int64_t out = a.integer("out");
    if (b.facts.images.count == 0) a.unmodelled("rows without a picture");
    if (out != a.integer("language_width")) a.unmodelled("a projector of another width than the language model's");
    image_projection_ = Linear(b, m + "image_projection", width_, out, false);
    norm_ = LayerNorm(b, m + "image_proj_norm", out);
    rows_ = b.embedding(m + "image_position_embed.row_embeddings", {most_, width_ / 2});
    columns_ = b.embedding(m + "image_position_embed.column_embeddings", {most_, width_ - width_ / 2});
    {
      Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
      places_ = b.torch.empty({a.integer("moments"), width_}, b.facts.weights, "buffer");
    }
    const PictureSize size = picture_size(b, a.integer("image_size"));
    const std::int64_t step = a.integer("step");
    const std::int64_t height = divided_up(size.height, step);
    const std::int64_t columns = divided_up(size.width, step);
    if (height > most_ || columns > most_)
      refuse_images(b, "a picture has more patches a side than the model has positions",
                    "set image_height and image_width.");
    check_room(b, saturating_add(saturating_mul(height, columns), 1));
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Tensor features = projected(play, std::exchange(s.hidden, {}));
    features = t.to(features, s.inputs_embeds->dtype);
    s.seen.features = features;
    s.seen.mask = t.unsqueeze(t.empty(s.input_ids->sizes, DType::boolean, "aten::eq"), 2);
    s.inputs_embeds = masked_scatter(t, s.inputs_embeds, s.seen.mask, features);
    s.seen.kept.push_back(s.inputs_embeds);
    s.hidden = s.inputs_embeds;
  }

 private:
  /// Florence2VisionLearnedAbsolutePositionEmbedding2D
  Tensor positions(Torch& t, const Dims& picture) const {
    const std::int64_t rows = picture[2];
    const std::int64_t columns = picture[3];
    const Tensor width_values = t.empty({columns}, DType::int64, "aten::arange");
    const Tensor height_values = t.empty({rows}, DType::int64, "aten::arange");
    const Tensor across = t.embedding(columns_, width_values);
    const Tensor down = t.embedding(rows_, height_values);
    const Tensor wide = t.repeat_first(t.unsqueeze(across, 0), rows);
    const Tensor high = copies(t, t.unsqueeze(down, 1), {rows, columns, down->sizes[1]});
    Tensor pos = t.cat({wide, high}, 2);
    pos = t.unsqueeze(t.permute(pos, {2, 0, 1}), 0);
    return copies(t, pos, picture);
  }

  /// x.repeat(…), to these sizes.
  static Tensor copies(Torch& t, const Tensor& x, const Dims& sizes) {
    NodeRef node = t.record("RepeatBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
      g.out[0] = torch.empty(n.dims, g.in[0]->dtype, "aten::sum");
    });
    if (node) node->dims = x->sizes;
    return t.attach(node, t.empty(sizes, x->dtype, "aten::repeat"));
  }

  /// x.mean(dim=…), to these sizes.
  static Tensor mean(Torch& t, const Tensor& x, const Dims& sizes) {
    NodeRef node = t.record("MeanBackward1", {&x}, [](Torch& torch, Node& n, Grads& g) {
      g.out[0] = torch.empty(n.dims, g.in[0]->dtype, "aten::div");
    });
    if (node) node->dims = x->sizes;
    return t.attach(node, t.empty(sizes, x->dtype, "aten::mean"));
  }

  Tensor projected(Play& play, const Tensor& picture) const {
    Torch& t = play.torch;
    const Dims& sizes = picture->sizes;
    Tensor placed = t.add(picture, positions(t, sizes));
    placed = t.transpose(t.view(placed, {sizes[0], sizes[1], -1}), 1, 2);
    const Tensor moment = t.unsqueeze(t.slice(places_, 0, 0, 1), 1);
    const Tensor tokens = t.unsqueeze(t.add(placed, moment), 1);
    const Tensor spatial = mean(t, tokens, {sizes[0], 1, sizes[1]});
    const Tensor temporal = mean(t, tokens, placed->sizes);
    Tensor features = t.cat({spatial, temporal}, 1);
    features = image_projection_(play, features);
    return norm_(play, features);
  }

  std::int64_t width_;
  std::int64_t most_;
  Linear image_projection_{};
  LayerNorm norm_{};
  Tensor rows_{}, columns_{}, places_{};
};

}  // namespace

extern const OpType florence_features;
const OpType florence_features{"florence_features", make_module<FlorenceFeatures>};

}  // namespace oomplan::estimator::ops
