// CLIPVisionEmbeddings, SiglipVisionEmbeddings: patches of a picture of one size, a token of the class before them, and
// learned positions.
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class ImageEmbeddings final : public Module {
 public:
  ImageEmbeddings(const Attributes& a, Builder& b)
      : channels_(a.integer("channels")), size_(a.integer("image_size")), width_(a.integer("width")) {
    const std::string m = a.module() + ".";
    const std::int64_t patch = a.integer("patch_size");
    side_ = size_ / patch;
    if (a.flag("class_token", false)) class_ = b.weight(m + "class_embedding", {width_}, Part::embedding);
    convolution_ = PatchConvolution(b, m + "patch_embedding", saturating_mul(channels_, saturating_mul(patch, patch)),
                                    width_, a.flag("bias", false));
    const std::int64_t count = saturating_add(saturating_mul(side_, side_), class_ ? 1 : 0);
    positions_ = b.weight(m + "position_embedding.weight", {count, width_}, Part::embedding);
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    position_ids_ = b.torch.empty({1, count}, DType::int64, "buffer");
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    send_pixels(t, f, s, {tiles_of(f), channels_, size_, size_});
  }

  void forward(Play& play, Stream& s) const override { s.hidden = embed(play, s.pixels); }

 private:
  Tensor embed(Play& play, const Tensor& pixels) const {
    Torch& t = play.torch;
    const std::int64_t rows = pixels->sizes[0];
    const Tensor grid = convolution_(play, pixels, {rows, width_, side_, side_});
    const Tensor patches = t.transpose(t.view(grid, {rows, width_, -1}), 1, 2);
    const Tensor embeddings = class_ ? t.cat({t.expand(t.view(class_, {1, 1, width_}), {rows, 1, width_}), patches}, 1)
                                     : patches;
    return t.add(embeddings, t.embedding(positions_, position_ids_));
  }

  std::int64_t channels_;
  std::int64_t size_;
  std::int64_t width_;
  std::int64_t side_ = 1;  ///< Patches of a row.
  Tensor class_{}, positions_{}, position_ids_{};
  PatchConvolution convolution_{};
};

}  // namespace

extern const OpType image_embeddings;
const OpType image_embeddings{"image_embeddings", make_module<ImageEmbeddings>};

}  // namespace oomplan::estimator::ops
