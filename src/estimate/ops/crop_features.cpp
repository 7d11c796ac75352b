// Phi4MultimodalImageEmbedding.forward after its tower: of each picture the features of its crops, of which each four
// are one, put together as they lie in it and cut to what is no padding, a learned one behind each row; another between
// them and those of the whole; and two layers over all, picture by picture.
#include "modules/hd_crops.hpp"
#include "modules/linear.hpp"
#include "modules/vision.hpp"
#include "torch/stacking.hpp"

namespace oomplan::estimator::ops {
namespace {

class CropFeatures final : public Module {
 public:
  CropFeatures(const Attributes& a, Builder& b) : width_(a.integer("width")) {
    const std::string m = a.module() + ".";
    up_ = Linear(b, m + "img_projection_up", width_, a.integer("out"), true);
    down_ = Linear(b, m + "img_projection_down", a.integer("out"), a.integer("out"), true);
    between_ = b.weight(m + "global_img_feature_extensor", {1, 1, width_}, Part::embedding);
    behind_ = b.weight(m + "sub_img_feature_extensor", {1, 1, width_}, Part::embedding);
    const Images& i = b.facts.images;
    if (i.count == 0) return;
    constexpr std::int64_t most_pictures = 256;
    if (std::ranges::none_of(b.architecture.body, [](const Segment& s) { return s.tower && s.taken.has_value(); }))
      a.unmodelled("features of what goes into the first layer");
    if (saturating_mul(b.facts.batch, i.count) > most_pictures)
      a.unmodelled("so many pictures, which are put together one by one");
    crops_ = hd_crops({a.integer("image_size"), a.integer("patch_size")}, i.height, i.width);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const std::int64_t pictures = saturating_mul(play.facts.batch, play.facts.images.count);
    const Tensor features = t.view(pooled(t, std::exchange(s.taken, {})),
                                   {pictures, crops_.crops() + 1, crops_.half * crops_.half, width_});
    s.hidden.reset();
    s.pixels.reset();
    s.seen.kept.clear();  // What its class's forward function was given, and had a name for.
    s.arguments.mask(Span::full).reset();
    std::vector<Tensor> put;
    for (std::int64_t i = 0; i < pictures; ++i) put.push_back(put_together(t, features));
    std::vector<Tensor> made;
    for (const Tensor& one : put) made.push_back(down_(play, t.gelu(up_(play, t.to(one, up_dtype(play))))));
    const Tensor all = cat_all(t, made, 1);
    s.hidden = t.view(all, {all->sizes[1], all->sizes[2]});
    for (auto* held : {&put, &made}) s.seen.kept.insert(s.seen.kept.end(), held->begin(), held->end());
    s.seen.kept.push_back(features);
  }

 private:
  static DType up_dtype(const Play& play) { return play.facts.weights; }

  /// image_token_compression, which is given channels that stand last, and gives such.
  Tensor pooled(Torch& t, const Tensor& taken) const {
    const Tensor x = taken;
    NodeRef node = t.record("AvgPool2DBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
      g.out[0] = torch.empty(torch.unpack(n, 0)->sizes, g.in[0]->dtype, "aten::avg_pool2d_backward");
    });
    t.save(node, 0, x);
    return t.attach(node, t.empty({x->sizes[0], crops_.half * crops_.half, width_}, x->dtype, "aten::avg_pool2d"));
  }

  /// Rows with the learned feature behind each.
  Tensor ended(Torch& t, const Tensor& rows) const {
    const std::int64_t count = rows->sizes[1];
    const Tensor ends = t.view(t.repeat_first(behind_, count), {1, count, 1, width_});
    return t.reshape(t.cat({rows, ends}, 2), {1, -1, width_});
  }

  Tensor put_together(Torch& t, const Tensor& features) const {
    const std::int64_t half = crops_.half;
    const Tensor whole = ended(t, t.reshape(t.slice(t.select(features, 0), 0, 0, 1), {1, half, half, width_}));
    Tensor parts = t.slice(t.select(features, 0), 0, 1, crops_.crops());
    parts = t.reshape(parts, {crops_.down, crops_.across, half, half, width_});
    parts = t.reshape(t.transpose(parts, 1, 2), {1, crops_.down * half, crops_.across * half, width_});
    parts = t.slice(t.slice(parts, 1, 0, crops_.rows), 2, 0, crops_.columns);
    parts = ended(t, parts);
    return t.cat({parts, between_, whole}, 1);
  }

  std::int64_t width_;
  HdCrops crops_{};
  Linear up_{}, down_{};
  Tensor between_{}, behind_{};
};

}  // namespace

extern const OpType crop_features;
const OpType crop_features{"crop_features", make_module<CropFeatures>};

}  // namespace oomplan::estimator::ops
