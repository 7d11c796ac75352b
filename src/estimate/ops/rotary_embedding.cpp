// transformers' LlamaRotaryEmbedding and its like: cos and sin of every position, in fp32, then in the model's dtype.
#include <algorithm>
#include <array>

#include "modules/rotary.hpp"

namespace oomplan::estimator::ops {
namespace {

class RotaryEmbedding final : public Module {
 public:
  RotaryEmbedding(const Attributes& a, Builder& b)
      : half_(a.integer("head_dim") / 2),
        span_(static_cast<std::size_t>(a.span("span"))),
        in_fp32_(a.flag("in_fp32", false)),
        complex_(a.flag("complex", false)),
        halved_(a.flag("halved", false)),
        from_host_(a.flag("tables_from_host", false)),
        there_(a.text("positions", "rope") == "rope" && a.flag("there", true)) {
    if (!there_) return;
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    inverse_frequencies_ = b.torch.empty({half_}, DType::fp32, "buffer");
    if (b.facts.unsloth) {
      begin_table(a, b);
      return;
    }
    original_ = b.torch.empty({half_}, DType::fp32, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    if (!there_) return;
    Torch& t = play.torch;
    if (play.facts.unsloth) return extend_table(t, play.facts.length, s.hidden->dtype);
    Restore no_grad(t.grad_enabled, false);
    const DType dtype = in_fp32_ ? DType::fp32 : s.hidden->dtype;
    const std::int64_t length = play.facts.length;
    const std::int64_t rows = s.position_ids ? s.position_ids->sizes[0] : 1;
    s.arguments.position_ids = s.position_ids;  // Decoders with rotary embeddings pass them along.
    if (play.facts.rotary_in_layers) return;
    const Tensor freqs = rotary_angles(t, {rows, length, half_});
    if (complex_) return rotations(t, freqs, s.arguments.cos[span_]);
    Turns turns = turns_of(t, freqs, halved_, dtype);
    s.arguments.cos[span_] = std::move(turns.cos);
    s.arguments.sin[span_] = std::move(turns.sin);
  }

 private:
  /// Unsloth's LlamaRotaryEmbedding: tables of so many positions, and as many as the model has once it runs.
  void begin_table(const Attributes& a, Builder& b) {
    constexpr std::int64_t at_first = 4 * 8192;
    most_ = a.count("positions_known");
    if (most_ == 0) return a.unmodelled("Unsloth's tables of positions where no max_position_embeddings is known");
    const std::int64_t row = b.facts.length / std::max<std::int64_t>(b.facts.joined, 1);
    if (row > most_) a.unmodelled("rows longer than the model's positions, which Unsloth scales,");
    make_table(b.torch, std::min(at_first, most_), b.facts.weights);
  }

  void extend_table(Torch& t, std::int64_t length, DType dtype) const {
    constexpr std::int64_t step = 8192;
    Restore bucket(t.recorder.scope.bucket, Bucket::inputs);
    Restore no_grad(t.grad_enabled, false);
    for (const std::int64_t wanted : {most_, length}) {
      if (wanted > positions_) make_table(t, saturating_mul(divided_up(wanted, step), step), dtype);
    }
  }

  /// _set_cos_sin_cache
  void make_table(Torch& t, std::int64_t positions, DType dtype) const {
    positions_ = positions;
    const Dims of_angles{positions, half_};
    const Dims of_heads{positions, 2 * half_};
    if (from_host_) {
      for (Tensor& one : table_) one = t.empty(of_heads, DType::fp32, "aten::_to_copy");
      return;
    }
    const Tensor at = t.empty({positions}, DType::fp32, "aten::arange");
    const Tensor freqs = t.empty(of_angles, DType::fp32, "aten::outer");
    const Tensor emb = t.empty(of_heads, DType::fp32, "aten::cat");
    std::array<Tensor, 2> made{};
    for (Tensor& one : made) {
      Tensor raised = t.empty(of_heads, DType::fp32, "aten::cos");
      raised = t.empty(of_heads, DType::fp32, "aten::mul");
      one = t.empty(of_heads, dtype, "aten::_to_copy");
    }
    table_ = std::move(made);
  }

  /// torch.polar(ones_like(freqs), freqs) * attention_scaling: complex numbers, counted as two of fp32.
  void rotations(Torch& t, const Tensor& freqs, Tensor& out) const {
    const Dims sizes{freqs->sizes[0], freqs->sizes[1], 2 * half_};
    const Tensor ones = t.empty(freqs->sizes, DType::fp32, "aten::ones_like");
    const Tensor polar = t.empty(sizes, DType::fp32, "aten::polar");
    out = t.empty(sizes, DType::fp32, "aten::mul");
  }

  std::int64_t half_;
  std::size_t span_;
  bool in_fp32_;    ///< Left in fp32, as OLMo 2's.
  bool complex_;    ///< Of complex numbers, as DeepSeek-V2's and Llama 4's.
  bool halved_;     ///< As wide as half a head, as gpt-oss has them.
  bool from_host_;  ///< Unsloth's tables of it are made on the host and stay in fp32, as Gemma's.
  bool there_;      ///< position_embedding_type: "rope", as Granite's hybrids may lack it; use_mem_rope of Zamba-2.
  Tensor inverse_frequencies_{};
  Tensor original_{};
  std::int64_t most_ = 0;                  ///< Under Unsloth: the positions that the config names,
  mutable std::int64_t positions_ = 0;     ///< … those of the tables,
  mutable std::array<Tensor, 2> table_{};  ///< … which it keeps.
};

}  // namespace

extern const OpType rotary_embedding;
const OpType rotary_embedding{"rotary_embedding", make_module<RotaryEmbedding>};

}  // namespace oomplan::estimator::ops
