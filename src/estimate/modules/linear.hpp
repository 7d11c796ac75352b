// torch.nn.Linear and transformers' Conv1D: plain, with an adapter (peft), with 4-bit or 8-bit weights
// (bitsandbytes, torchao), or with both.
#pragma once

#include <string>

#include "modules/linear_adapter.hpp"
#include "play.hpp"

namespace oomplan::estimator {

enum class LinearKind {
  linear,
  conv1d,
  matmul,       ///< FalconLinear, a subclass: input @ weight.T, which autocast does not cast once for all.
  unquantized,  ///< As linear, but among its family's _keep_in_fp32_modules.
};

/// How the ranks of tensor parallelism share a layer (torch.distributed.tensor.parallel: ColwiseParallel,
/// RowwiseParallel): each has some of its outputs, some of its inputs, or, as the head's, logits of some of the
/// vocabulary.
enum class Split : std::uint8_t { none, columns, rows, vocabulary };

class Linear {
 public:
  Linear() = default;
  /// `name` is the submodule's ("q_proj"). Adapted where the plan's targets name it, quantised where the plan asks.
  Linear(Builder& builder, const std::string& name, std::int64_t in, std::int64_t out, bool bias,
         LinearKind kind = LinearKind::linear);
  /// Of which each rank of tensor parallelism, where there are some, has its part.
  static Linear columns(Builder& builder, const std::string& name, std::int64_t in, std::int64_t out, bool bias);
  static Linear rows(Builder& builder, const std::string& name, std::int64_t in, std::int64_t out, bool bias);
  /// The model's head: never quantised, adapted only by name; its weight may be the embedding's.
  static Linear head(Builder& builder, const std::string& name, std::int64_t in, std::int64_t out, bool bias,
                     const Tensor& tied_weight);
  /// A layer of a classifier's head, which is no output embedding: one more linear layer, unless peft saves `whole`,
  /// the head's module, in a copy.
  static Linear classifier(Builder& builder, const std::string& name, std::int64_t in, std::int64_t out, bool bias,
                           const std::string& whole);

  Tensor operator()(Play& play, const Tensor& x) const;

  bool adapted() const { return bool(lora_a_); }
  const Tensor& weight(const Facts& facts) const { return weight_.of(facts); }
  const Tensor& bias(const Facts& facts) const { return bias_.of(facts); }
  const Tensor& lora_a() const { return lora_a_; }
  const Tensor& lora_b() const { return lora_b_; }
  std::int64_t in_width() const { return in_; }
  std::int64_t out_width() const { return out_; }
  std::int64_t absmax_blocks() const { return absmax_blocks_; }  ///< Of a 4-bit weight; else 0.
  /// A 4-bit weight in 16 bits, made anew; a plain weight itself.
  Tensor dequantized_weight(Torch& t, const Facts& facts) const;

 private:
  void adapt(Builder& builder, const std::string& name, std::int64_t in, std::int64_t out);
  void quantize(Builder& builder, const std::string& name, std::int64_t in, std::int64_t out);
  Tensor fake(Builder& builder);
  bool quantized() const { return int8_ || absmax_blocks_ != 0; }
  void quantize_to_int8(Builder& builder, const std::string& name);
  void quantize_by_torchao(Builder& builder, const std::string& name);
  Tensor adapted_quantized(Play& play, const Tensor& x) const;
  Tensor base(Play& play, const Tensor& x) const;
  Tensor int8_product(Play& play, const Tensor& x) const;
  Tensor int8_weight(Torch& t) const;
  Tensor torchao_product(Play& play, const Tensor& x) const;
  Tensor torchao_weight(Torch& t, DType dtype) const;
  Tensor product(Play& play, const Tensor& x, const Tensor& bias) const;

  static Linear split(Builder& builder, Split split, const std::string& name, Dims sizes, bool bias);
  Tensor plain(Play& play, const Tensor& x, const Tensor& weight, const Tensor& bias) const;

  LinearKind kind_ = LinearKind::linear;
  Split split_ = Split::none;
  std::int64_t in_ = 0;
  std::int64_t out_ = 0;
  Weight weight_{};  ///< Empty where quantised.
  Weight bias_{};
  Tensor lora_a_{};
  Tensor lora_b_{};
  Tensor magnitude_{};              ///< Of DoRA.
  LinearAdapterPtr adapter_{};      ///< Another one than LoRA.
  std::int64_t absmax_blocks_ = 0;  ///< Of a 4-bit weight: its blocks of 64.
  Tensor codes_{};                  ///< Of torchao's NF4: what LinearNF4 saves.
  std::int64_t fake_group_ = 0;     ///< Of fake quantization; 0: there is none.
  Tensor fake_scale_{};             ///< Of the weight; empty in a head, which is used more than once before backward.
  bool int8_ = false;
  std::int32_t module_ = -1;
};

}  // namespace oomplan::estimator
