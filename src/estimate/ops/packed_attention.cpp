// Qwen2-VL's VisionAttention and its like: one projection for q, k and v (or three, `apart`), rotation in fp32, and
// attention within each picture, or within each window of one (`window`, in pixels); q and k of each head are normed
// first where the family does so (`qk_norm`). Keys and values may have heads of their own number (`kv_heads`,
// EXAONE 4.5).
#include "modules/packed_attention.hpp"

#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class PackedAttention final : public Module {
 public:
  PackedAttention(const Attributes& a, Builder& b)
      : heads_(a.integer("heads")),
        kv_heads_(a.integer("kv_heads", 0)),
        width_(a.integer("width")),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t of_keys = kv_heads_ == 0 ? width_ : saturating_mul(kv_heads_, width_ / heads_);
    if (a.flag("apart", false)) {
      const std::string end = a.flag("short_names", false) ? "" : "_proj";
      for (const char* name : {"q", "k", "v"}) apart_.emplace_back(b, m + name + end, width_, width_, true);
    } else {
      qkv_ = Linear(b, m + "qkv", width_, saturating_add(width_, saturating_mul(2, of_keys)), a.flag("bias", true));
    }
    proj_ = Linear(b, m + a.text("output", "proj"), width_, width_, a.flag("o_bias", true));
    if (a.flag("qk_norm", false)) {
      q_norm_ = RmsNorm(b, m + "q_norm", width_ / heads_);
      k_norm_ = RmsNorm(b, m + "k_norm", width_ / heads_);
    }
    const std::int64_t patch = a.integer("patch_size");
    const std::int64_t merge = a.integer("merge");
    const Grid grid = grid_of(b, patch, saturating_mul(patch, merge));
    pieces_ = pieces_of(grid, merge, a.integer("window", 0) / patch / merge);
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  /// Of a picture; a window is so many squares of merged patches a side, 0: all of it.
  static std::vector<Pieces> pieces_of(const Grid& grid, std::int64_t merge, std::int64_t window) {
    if (window <= 0) return {{1, grid.height * grid.width}};
    const std::int64_t high = grid.height / merge;
    const std::int64_t wide = grid.width / merge;
    std::vector<Pieces> out;
    for (const auto& [rows, tall] : {Pieces{high / window, window}, Pieces{1, high % window}}) {
      for (const auto& [columns, broad] : {Pieces{wide / window, window}, Pieces{1, wide % window}}) {
        if (rows * columns > 0 && tall * broad > 0) out.push_back({rows * columns, tall * broad * merge * merge});
      }
    }
    return out;
  }

  /// (x * cos) + (rotate_half(x) * sin)
  static Tensor turned(Torch& t, const Tensor& x, const Tensor& cos, const Tensor& sin) {
    const std::int64_t half = x->sizes.back() / 2;
    const Tensor straight = t.mul(x, cos);
    Tensor crossed;
    {
      const Tensor negative = t.neg(t.slice(x, 2, half, half));
      crossed = t.cat({negative, t.slice(x, 2, 0, half)}, 2);
    }
    crossed = t.mul(crossed, sin);
    return t.add(straight, crossed);
  }

  static void turn(Torch& t, Tensor& q, Tensor& k, const Stream& s) {
    const DType dtype = q->dtype;
    const Tensor query = t.to(q, DType::fp32);
    const Tensor key = t.to(k, DType::fp32);
    const Dims place{s.arguments.cos[0]->sizes[1], 1, s.arguments.cos[0]->sizes[2]};
    const Tensor cos = t.view(s.arguments.cos[0], place);
    const Tensor sin = t.view(s.arguments.sin[0], place);
    Tensor q_turned = turned(t, query, cos, sin);
    Tensor k_turned = turned(t, key, cos, sin);
    q_turned = t.to(q_turned, dtype);
    k_turned = t.to(k_turned, dtype);
    q = std::move(q_turned);
    k = std::move(k_turned);
  }

  std::vector<Tensor> projected(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    const std::int64_t tokens = x->sizes[0];
    const std::int64_t head_dim = width_ / heads_;
    std::vector<Tensor> out;
    for (const Linear& projection : apart_) out.push_back(t.view(projection(play, x), {tokens, heads_, head_dim}));
    if (!out.empty()) return out;
    if (kv_heads_ != 0) {
      const std::int64_t of_keys = kv_heads_ * head_dim;
      out = t.split_sizes(qkv_(play, x), {width_, of_keys, of_keys}, 1);
      for (Tensor& one : out) one = t.view(one, {tokens, one->sizes[1] / head_dim, head_dim});
      return out;
    }
    return t.unbind(t.permute(t.view(qkv_(play, x), {tokens, 3, heads_, head_dim}), {1, 0, 2, 3}), 0);
  }

  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const std::int64_t tokens = x->sizes[0];
    std::vector<Tensor> qkv = projected(play, x);
    Tensor q = std::move(qkv[0]);
    Tensor k = std::move(qkv[1]);
    Tensor v = std::move(qkv[2]);
    if (q_norm_) q = q_norm_(play, q);
    if (k_norm_) k = k_norm_(play, k);
    turn(t, q, k, s);
    const Tensor out = attend_one_by_one(play, s, q, k, v, pieces_);
    return proj_(play, t.reshape(out, {tokens, width_}));
  }

  std::int64_t heads_;
  std::int64_t kv_heads_;  ///< 0: as many as queries have.
  std::int64_t width_;
  std::int32_t module_;
  Linear qkv_{}, proj_{};
  std::vector<Linear> apart_{};
  RmsNorm q_norm_{}, k_norm_{};
  std::vector<Pieces> pieces_{};  ///< Of one picture.
};

}  // namespace

extern const OpType packed_attention;
const OpType packed_attention{"packed_attention", make_module<PackedAttention>};

}  // namespace oomplan::estimator::ops
