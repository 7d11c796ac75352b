// The routers of mixtures of experts: which experts a token goes to, and with which weights.
#pragma once

#include <string>
#include <utility>

#include "modules/adapted_parameter.hpp"
#include "modules/linear.hpp"
#include "play.hpp"

namespace oomplan::estimator {

struct Routed {
  Tensor weights{};  ///< Tokens × experts of each token.
  Tensor index{};
  Tensor logits{};  ///< Tokens × experts: the caller holds on to them (`_, weights, index = self.gate(...)`).
};

class Router {
 public:
  Router() = default;
  /// `name` is the module that has the weight ("mlp.gate").
  Router(const Attributes& attributes, Builder& builder, const std::string& name);

  /// Hidden: tokens × width.
  Routed operator()(Play& play, const Tensor& hidden) const;

  /// How a family's router makes weights of its logits.
  enum class Style {
    softmax,            ///< Mixtral: softmax in fp32, the highest, divided by their sum; in fp32.
    cast_back,          ///< Qwen: so, divided where the config says so, and in the logits' dtype.
    of_highest,         ///< Granite: the highest logits in fp32, their softmax in the hidden states' dtype.
    sigmoid_groups,     ///< DeepSeek-V3: in fp32, sigmoid, a correction, the best groups, gathered, scaled.
    softmax_groups,     ///< Mistral 4: so with a softmax and no correction, in the model's dtype.
    scaled,             ///< DeepSeek-V2: in fp32, softmax, the highest of all, scaled.
    scaled_groups,      ///< So, of the best groups.
    corrected_softmax,  ///< ERNIE 4.5: in fp32 whatever autocast says, softmax, a correction, gathered, divided.
    corrected_sigmoid,  ///< MiniMax-M2: sigmoid in fp32, a correction, gathered, divided in place.
    scaled_sigmoid,     ///< Afmoe: so, divided and scaled.
    linear,             ///< HunYuan: a Linear layer, softmax in fp32, divided, in the logits' dtype.
    sparse_mixer,       ///< PhiMoE: two, one after the other.
    highest,            ///< Cohere 2's mixture: the highest logits, their softmax in fp32 or sigmoid, cast back.
    sigmoid,            ///< LFM2: sigmoid in the logits' dtype, a correction where there is one, divided and scaled.
  };

 private:
  Tensor fp32_logits(Torch& t, const Tensor& hidden, const Tensor& weight) const;
  Routed routed(Play& play, const Tensor& hidden, const Tensor& weight) const;
  Routed of_highest(Torch& t, const Tensor& hidden, const Tensor& logits) const;
  Routed highest(Torch& t, const Tensor& hidden, const Tensor& logits) const;
  Routed of_softmax(Torch& t, const Tensor& logits) const;
  Routed of_sigmoid(Torch& t, const Tensor& logits) const;
  Routed scaled(Torch& t, const Tensor& logits) const;
  Routed mixed(Torch& t, const Tensor& scores) const;
  Routed grouped(Torch& t, const Tensor& logits) const;
  Routed corrected_softmax(Torch& t, const Tensor& hidden, const Tensor& weight) const;
  Routed corrected_sigmoid(Torch& t, const Tensor& logits) const;
  Tensor of_best_groups(Torch& t, const Tensor& scores, bool two_highest) const;

  Style style_ = Style::softmax;
  std::int64_t experts_ = 0;
  std::int64_t each_ = 0;
  std::int64_t groups_ = 1;
  std::int64_t best_groups_ = 1;
  bool divided_ = true;
  bool sigmoids_ = false;         ///< Of `highest`.
  bool is_linear_ = false;        ///< A Linear layer has the weight.
  bool casts_to_hidden_ = false;  ///< The weights, to the hidden states' dtype: older code.
  std::int32_t module_ = -1;
  AdaptedParameter weight_{};
  Linear linear_{};      ///< In place of weight_.
  Tensor correction_{};  ///< A bias of the scores that is not trained.
};

}  // namespace oomplan::estimator
