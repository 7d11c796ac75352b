// RwkvSelfAttention where transformers has no kernel for it: each token mixed with the one before it, and sums of
// values that decay, token by token in fp32 (rwkv_linear_attention_cpu).
#include "modules/linear.hpp"
#include "modules/selective_scan.hpp"
#include "modules/token_shift.hpp"
#include "torch/loops.hpp"
#include "torch/scans.hpp"

namespace oomplan::estimator::ops {
namespace {

struct Sums {
  Tensor numerator{};
  Tensor denominator{};
  Tensor highest{};
};

class RwkvAttention final : public Module {
 public:
  RwkvAttention(const Attributes& a, Builder& b) : module_(b.module_id(a.module())) {
    if (b.facts.length > longest_scan) a.unmodelled("rows so long in a loop over their tokens");
    if (b.facts.scan_packages) a.unmodelled("the kernel of kernels-community/rwkv");
    if (b.facts.fills_cache) a.unmodelled("a cache of its states");
    if (b.facts.quantized && b.facts.evaluates) a.unmodelled("quantized weights that the model rescales to evaluate");
    b.scans = true;
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t inner = a.integer("inner");
    {
      const bool raised = b.facts.weights == DType::fp16;  // _keep_in_fp32_modules
      Restore own(b.own_dtype, raised ? std::optional(DType::fp32) : b.own_dtype);
      decay_ = b.weight(m + "time_decay", {inner}, Part::bias);
      first_ = b.weight(m + "time_first", {inner}, Part::bias);
    }
    for (const char* name : {"time_mix_key", "time_mix_value", "time_mix_receptance"})
      mixes_.push_back(b.weight(m + name, {1, 1, width}, Part::bias));
    key_ = Linear(b, m + "key", width, inner, false);
    value_ = Linear(b, m + "value", width, inner, false);
    receptance_ = Linear(b, m + "receptance", width, inner, false);
    output_ = Linear(b, m + "output", inner, width, false);
  }

  void forward(Play& play, Stream& s) const override {
    Restore module(play.torch.recorder.scope.module, std::int32_t{module_});
    s.hidden = attention(play, s.hidden);
  }

 private:
  struct Extracted {
    Tensor receptance{};
    Tensor key{};
    Tensor value{};
  };

  Extracted extract(Play& play, const Tensor& hidden) const {
    Torch& t = play.torch;
    const Tensor shifted = shifted_by_one(t, hidden);
    Extracted out;
    out.key = mixed(t, hidden, shifted, mixes_[0]);
    out.value = mixed(t, hidden, shifted, mixes_[1]);
    out.receptance = mixed(t, hidden, shifted, mixes_[2]);
    out.key = key_(play, out.key);
    out.value = value_(play, out.value);
    out.receptance = t.sigmoid(receptance_(play, out.receptance));
    return out;
  }

  Tensor attention(Play& play, const Tensor& hidden) const {
    Torch& t = play.torch;
    const auto [receptance, key, value] = extract(play, hidden);
    const Tensor scanned = scan(t, key, value);
    const Tensor gated = t.mul(receptance, scanned);
    return output_(play, gated);
  }

  Tensor scan(Torch& t, const Tensor& key, const Tensor& value) const {
    const Dims sizes{key->sizes[0], key->sizes[2]};
    Tensor out = t.empty(key->sizes, key->dtype, "aten::zeros_like");
    Sums sums;
    sums.numerator = t.zeros(sizes, DType::fp32);
    sums.denominator = t.zeros(sizes, DType::fp32);
    {
      const Tensor zeros = t.zeros(sizes, DType::fp32);
      sums.highest = t.add_scalar(zeros);
    }
    const Tensor decay = t.neg(t.exp(decay_));
    Tensor k, v, for_output, first, second, numerator, denominator, for_state;
    play_turns(t, key->sizes[1], [&](std::int64_t) {
      k = t.to(t.select(key, 1), DType::fp32);
      v = t.select(value, 1);
      for_output = t.maximum(sums.highest, t.add(k, first_));
      first = t.exp(t.sub(sums.highest, for_output));
      second = t.exp(t.sub(t.add(k, first_), for_output));
      numerator = sum(t, first, sums.numerator, second, v);
      denominator = t.add(t.mul(first, sums.denominator), second);
      out = set_part(t, out, t.to(t.div(numerator, denominator), out->dtype));
      for_state = t.maximum(t.add(sums.highest, decay), k);
      first = t.exp(t.sub(t.add(sums.highest, decay), for_state));
      second = t.exp(t.sub(k, for_state));
      sums.numerator = sum(t, first, sums.numerator, second, v);
      sums.denominator = t.add(t.mul(first, sums.denominator), second);
      sums.highest = for_state;
    });
    return out;
  }

  /// a * b + c * d
  static Tensor sum(Torch& t, const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d) {
    const Tensor left = t.mul(a, b);
    return t.add(left, t.mul(c, d));
  }

  std::int32_t module_;
  Tensor decay_{}, first_{};
  std::vector<Tensor> mixes_{};
  Linear key_{}, value_{}, receptance_{}, output_{};
};

}  // namespace

extern const OpType rwkv_attention;
const OpType rwkv_attention{"rwkv_attention", make_module<RwkvAttention>};

}  // namespace oomplan::estimator::ops
