// What a classifier of pictures is given of the last hidden states: the first token, the mean of the others (BEiT, with
// a norm of its own), both side by side (DINOv2, whose registers are `left_out`), or the mean of all (HuBERT; of the
// turned picture, as Swin takes it by torch.nn.AdaptiveAvgPool1d).
#include "modules/layer_norm.hpp"
#include "modules/pictures.hpp"

namespace oomplan::estimator::ops {
namespace {

enum class Pool { first, others, both, all, turned };
constexpr std::array<std::string_view, 5> pools{"first", "others", "both", "all", "turned"};

class PoolTokens final : public Module {
 public:
  PoolTokens(const Attributes& a, Builder& b)
      : pool_(static_cast<Pool>(a.choice("pool", pools))), left_out_(a.integer("left_out", 0)) {
    if (!a.module().empty()) norm_ = LayerNorm(b, a.module(), a.integer("width"));
  }

  void forward(Play& play, Stream& s) const override {
    s.layer_output = s.hidden;  // The base model's output, which its caller holds.
    s.hidden = pooled(play.torch, s.hidden);
    if (norm_) s.hidden = norm_(play, s.hidden);
  }

 private:
  Tensor pooled(Torch& t, const Tensor& x) const {
    if (pool_ == Pool::all) return mean_of_rows(t, x);
    if (pool_ == Pool::turned) return mean_of_pixels(t, t.unsqueeze(t.transpose(x, 1, 2), 2));
    const Tensor first = pool_ == Pool::others ? Tensor() : t.select(x, 1);
    if (pool_ == Pool::first) return first;
    const Tensor mean = mean_of_rows(t, t.slice(x, 1, 1 + left_out_, x->sizes[1] - 1 - left_out_));
    return first ? t.cat({first, mean}, 1) : mean;
  }

  Pool pool_;
  std::int64_t left_out_;  ///< Behind the first.
  LayerNorm norm_{};
};

}  // namespace

extern const OpType pool_tokens;
const OpType pool_tokens{"pool_tokens", make_module<PoolTokens>};

}  // namespace oomplan::estimator::ops
