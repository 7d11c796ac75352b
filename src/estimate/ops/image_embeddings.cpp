// CLIPVisionEmbeddings, SiglipVisionEmbeddings and their like: patches of a picture of one size, a token of the class
// before them, and learned positions, which are an embedding's or a plain parameter; resized to a picture of another
// size where the family does so (`resized`); tokens of no place, put behind the class's (`registers`).
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

enum class Positions { embedding, of_each, parameter, none };
constexpr std::array<std::string_view, 4> position_names{"embedding", "of_each", "parameter", "none"};

class ImageEmbeddings final : public Module {
 public:
  ImageEmbeddings(const Attributes& a, Builder& b)
      : channels_(a.integer("channels")),
        size_(a.integer("image_size")),
        width_(a.integer("width")),
        kind_(static_cast<Positions>(a.choice("positions", position_names))),
        chosen_(a.flag("real_pictures", false)),
        resized_(a.flag("resized", false)),
        tiles_(b.tiles_by_size) {
    const std::string m = a.module() + ".";
    const std::int64_t patch = a.integer("patch_size");
    side_ = size_ / patch;
    if (side_ == 0) a.unmodelled("pictures smaller than a patch of them");
    const Images& pictures = b.facts.images;
    height_ = resized_ && pictures.height > 0 ? pictures.height : size_;
    width_of_picture_ = resized_ && pictures.width > 0 ? pictures.width : size_;
    rows_ = std::max<std::int64_t>(height_ / patch, 1);
    columns_ = std::max<std::int64_t>(width_of_picture_ / patch, 1);
    const bool plain = kind_ == Positions::embedding || kind_ == Positions::of_each;
    if (const std::string name = a.text("class_token", ""); !name.empty())
      class_ = b.weight(m + name, plain ? Dims{width_} : Dims{1, 1, width_}, Part::embedding);
    if (const std::string name = a.text("second_token", ""); !name.empty())
      second_ = b.weight(m + name, Dims{1, 1, width_}, Part::embedding);
    // Of training to guess hidden patches: held, and never used.
    if (const std::string name = a.text("mask_token", ""); !name.empty() && a.flag("has_mask_token", false))
      b.weight(m + name, Dims{width_}, Part::embedding);
    convolution_ =
        PatchConvolution(b, m + a.text("patches", "patch_embedding"),
                         saturating_mul(channels_, saturating_mul(patch, patch)), width_, a.flag("bias", false));
    registered_ = a.integer("registers", 0);
    count_ = saturating_add(saturating_mul(side_, side_), (class_ ? 1 : 0) + (second_ ? 1 : 0));
    if (kind_ == Positions::none) return;
    const Dims places = plain ? Dims{count_, width_} : Dims{1, count_, width_};
    positions_ = b.weight(m + a.text("position_weight", "position_embedding.weight"), places, Part::embedding);
    if (registered_ > 0) registers_ = b.weight(m + "register_tokens", {1, registered_, width_}, Part::embedding);
    if (kind_ != Positions::embedding) return;
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    position_ids_ = b.torch.empty({1, count_}, DType::int64, "buffer");
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    const std::int64_t pictures = saturating_mul(f.batch, f.images.count);
    const std::int64_t tiles = tiles_ > 0 ? saturating_mul(pictures, tiles_) : tiles_of(f);
    send_pixels(t, f, s, {tiles, channels_, height_, width_of_picture_});
    if (chosen_ && f.images.count > 0) s.sent.push_back(t.empty({tiles, size_, size_}, DType::boolean, "batch"));
  }

  void forward(Play& play, Stream& s) const override {
    if (tiles_ > 0) s.pixels = play.torch.empty(s.pixels->sizes, s.pixels->dtype, "aten::cat");
    s.hidden = embed(play, chosen_ ? real_pictures(play.torch, s) : s.pixels);
    if (chosen_) ask_for_gradient(play.facts, s.hidden);  // The hook is on all of it.
  }

 private:
  /// pixel_values[real_images_inds], where no picture is of zeros alone, and the same of their mask.
  Tensor real_pictures(Torch& t, Stream& s) const {
    const Tensor pixels = t.to(s.pixels, convolution_.dtype());
    const Dims& sizes = pixels->sizes;
    const Tensor zero = t.empty(sizes, DType::boolean, "aten::eq");
    const Tensor copy = t.empty(sizes, pixels->dtype, "aten::index");
    s.sent.push_back(copy);
    s.sent.push_back(t.empty({sizes[0], sizes[2], sizes[3]}, DType::boolean, "aten::index"));
    return copy;
  }

  /// interpolate_pos_encoding of Dinov2Embeddings.
  Tensor resized(Torch& t) const {
    const Tensor first = t.slice(positions_, 1, 0, 1);
    Tensor patches = t.slice(positions_, 1, 1, count_ - 1);
    patches = t.permute(t.reshape(patches, {1, side_, side_, width_}), {0, 3, 1, 2});
    patches = t.to(patches, DType::fp32);
    NodeRef node = t.record("UpsampleBicubic2DBackward0", {&patches},
                            [](Torch& torch, Node& n, Grads& g) { g.out[0] = torch.zeros(n.dims, g.in[0]->dtype); });
    if (node) node->dims = patches->sizes;
    patches = t.attach(node, t.empty({1, width_, rows_, columns_}, DType::fp32, "aten::upsample_bicubic2d"));
    patches = t.to(patches, positions_->dtype);
    patches = t.view(t.permute(patches, {0, 2, 3, 1}), {1, -1, width_});
    return t.cat({first, patches}, 1);
  }

  Tensor positions(Torch& t, std::int64_t rows) const {
    const bool same = height_ == width_of_picture_ && rows_ == side_ && columns_ == side_;
    if (kind_ == Positions::parameter) return same ? positions_ : resized(t);
    if (kind_ == Positions::embedding) return t.embedding(positions_, position_ids_);
    return t.embedding(positions_, t.empty({rows, count_}, DType::int64, "aten::where"));
  }

  Tensor embed(Play& play, const Tensor& pixels) const {
    Torch& t = play.torch;
    const std::int64_t rows = pixels->sizes[0];
    const Tensor grid = convolution_(play, pixels, {rows, width_, rows_, columns_});
    if (!chosen_) ask_for_gradient(play.facts, grid);
    const Tensor patches = t.transpose(t.view(grid, {rows, width_, -1}), 1, 2);
    if (!class_) return t.add(patches, positions(t, rows));
    const Tensor first = t.expand(class_, {rows, 1, width_});
    const Tensor all =
        second_ ? t.cat({first, t.expand(second_, {rows, 1, width_}), patches}, 1) : t.cat({first, patches}, 1);
    if (kind_ == Positions::none) return all;
    const Tensor placed = t.add(all, positions(t, rows));
    if (!registers_) return placed;
    const Tensor others = t.slice(placed, 1, 1, placed->sizes[1] - 1);
    return t.cat({t.slice(placed, 1, 0, 1), t.expand(registers_, {rows, registered_, width_}), others}, 1);
  }

  std::int64_t channels_;
  std::int64_t size_;
  std::int64_t width_;
  std::int64_t side_ = 1;   ///< Patches of a row.
  std::int64_t count_ = 1;  ///< Tokens of a picture.
  Positions kind_;
  bool chosen_;  ///< Pictures of zeros are left out (Idefics 3): the others are copied.
  bool resized_;
  std::int64_t tiles_;                 ///< As Builder::tiles_by_size has it.
  std::int64_t height_ = 1;            ///< Of a picture, in pixels,
  std::int64_t width_of_picture_ = 1;  ///< … as is this.
  std::int64_t rows_ = 1;              ///< Of its patches,
  std::int64_t columns_ = 1;           ///< … and how many one has.
  std::int64_t registered_ = 0;        ///< How many registers it has.
  Tensor registers_{};
  Tensor class_{}, second_{}, positions_{}, position_ids_{};
  PatchConvolution convolution_{};
};

}  // namespace

extern const OpType image_embeddings;
const OpType image_embeddings{"image_embeddings", make_module<ImageEmbeddings>};

}  // namespace oomplan::estimator::ops
