#include "weight_sync.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>

#include "modules/four_bits.hpp"

namespace oomplan::estimator {
namespace {

/// A layer with an adapter, by the parameters of the latter.
class AdaptedLayer {
 public:
  AdaptedLayer(const Parameter& a, const Parameter& b, bool four_bits)
      : sizes_{b.sizes[0], a.sizes[1]}, layer_(b.layer()), dtype_(b.held->dtype), four_bits_(four_bits) {}

  /// peft adds into a weight in its place; of 4 bits it makes another one, beside the one that was there.
  void merge(Torch& t, const Facts& facts) {
    Restore layer(t.recorder.scope.layer, std::int16_t{layer_});
    InBucket bucket(t, Bucket::temporaries);
    if (!four_bits_) {
      const Tensor update = updated(t);
      return;
    }
    const Tensor whole =
        dequantized(t, sizes_, four_bit_blocks(sizes_.product()), facts.double_quantized, facts.weights);
    const Tensor update = updated(t);
    const Tensor sum = t.empty(sizes_, dtype_, "aten::add");
    const Tensor back = t.empty(sizes_, dtype_, "aten::_to_copy");
    quantized_ = quantize(t, facts.double_quantized);
  }
  void let_go(Torch& t) {
    Restore layer(t.recorder.scope.layer, std::int16_t{layer_});
    quantized_.clear();
  }
  void leave_to(std::vector<Tensor>& others) {
    for (Tensor& one : quantized_) others.push_back(std::move(one));
    quantized_.clear();
  }

 private:
  /// get_delta_weight
  Tensor updated(Torch& t) const {
    const Tensor product = t.empty(sizes_, dtype_, "aten::mm");
    return t.empty(sizes_, dtype_, "aten::mul");
  }

  std::vector<Tensor> quantize(Torch& t, bool nested) const {
    InBucket bucket(t, Bucket::weights);
    std::vector<Tensor> out;
    const auto keep = [&](const Dims& sizes, DType dtype) {
      out.push_back(t.empty(sizes, dtype, "bitsandbytes::quantize_4bit"));
    };
    quantize_four_bits(t, sizes_.product(), nested, keep, [&](std::int64_t bytes) { keep({bytes}, DType::uint8); });
    return out;
  }

  Dims sizes_;
  std::int16_t layer_;
  DType dtype_;
  bool four_bits_;
  std::vector<Tensor> quantized_{};  ///< The weight that the adapter is merged into.
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> adapters{
    {{".lora_A.weight", ".lora_B.weight"}, {".lora_embedding_A.weight", ".lora_embedding_B.weight"}}};

bool is_of_adapter(const Parameter& p) {
  return std::ranges::any_of(
      adapters, [&](const auto& names) { return p.name.ends_with(names.first) || p.name.ends_with(names.second); });
}

/// A weight in 4 bits is no parameter with a name.
bool has_weight(const Parameters& parameters, const Parameter& a) {
  const std::string weight = a.name.substr(0, a.name.rfind(".lora_")) + ".weight";
  return std::ranges::any_of(parameters,
                             [&](const Parameter& p) { return p.layer() == a.layer() && p.name == weight; });
}

/// What peft trains a copy of (modules_to_save) is not sent, but the copy.
bool has_copy(const Parameters& parameters, const Parameter& original) {
  if (original.trained || original.name.empty()) return false;
  return std::ranges::any_of(parameters, [&](const Parameter& p) {
    return p.trained && p.name == original.name && p.layer() == original.layer();
  });
}

std::vector<AdaptedLayer> adapted_layers(const Parameters& parameters, const Facts& facts) {
  std::vector<AdaptedLayer> out;
  for (std::size_t i = 0; i + 1 < parameters.size(); ++i) {
    const Parameter& a = parameters[i];
    const Parameter& b = parameters[i + 1];
    const bool pair = std::ranges::any_of(
        adapters, [&](const auto& names) { return a.name.ends_with(names.first) && b.name.ends_with(names.second); });
    if (pair) out.emplace_back(a, b, facts.quantized && !has_weight(parameters, a));
  }
  return out;
}

/// The parameters that a server gets, each layer's.
ParameterOrder sent(const Parameters& parameters) {
  ParameterOrder order;
  for (const Parameter& p : parameters) {
    if (!is_of_adapter(p) && !has_copy(parameters, p)) order.push_back(&p);
  }
  return of_all_layers(order);
}

std::int64_t size_of(const Parameter& p) { return saturating_mul(p.sizes.product(), bytes_of(p.held->dtype)); }

/// packed_nccl_broadcast_producer: pieces of which each ends with the tensor that makes it more than a GiB, in one
/// tensor beside its parts; two are on their way. All parts are read, which has an end of its own, before the last
/// piece is made.
void send(Torch& t, Policy& policy, const ParameterOrder& parameters, const std::function<void()>& end) {
  constexpr std::int64_t enough = std::int64_t{1} << 30;  // DEFAULT_PACKED_BUFFER_SIZE_BYTES
  std::array<Tensor, 2> pieces{};
  std::size_t next = 0;
  for (std::size_t i = 0; i < parameters.size(); next = 1 - next) {
    pieces[next].reset();
    std::vector<Tensor> parts;
    std::int64_t bytes = 0;
    for (; i < parameters.size() && bytes <= enough; ++i) {
      parts.push_back(policy.gathered(t, *parameters[i]));
      bytes = saturating_add(bytes, size_of(*parameters[i]));
    }
    if (i == parameters.size()) end();
    InBucket bucket(t, Bucket::communication);
    pieces[next] = t.empty({bytes}, DType::uint8, "aten::cat");
  }
}

/// To a vLLM beside the run, one after the other: each is there until the next one is. A layer's norms come last.
void hand_over(Torch& t, Policy& policy, const Parameters& parameters) {
  Tensor latest;
  const auto in_layer_of = [](const Parameter& a, const Parameter& b) { return a.layer() == b.layer(); };
  for (auto first = parameters.begin(); first != parameters.end();) {
    const auto end =
        std::find_if_not(first, parameters.end(), [&](const Parameter& p) { return in_layer_of(p, *first); });
    Restore layer(t.recorder.scope.layer, first->layer());
    for (const bool norms : {false, true}) {
      for (auto p = first; p != end; ++p) {
        if ((p->part == Part::norm) == norms) latest = policy.gathered(t, *p);
      }
    }
    first = end;
  }
}

}  // namespace

void sync_weights(Stage& stage) {
  Torch& t = stage.torch();
  Restore no_grad(t.grad_enabled, false);
  const Model& policy = stage.model(Role::policy);
  const bool adapts = stage.facts().adapts();
  std::vector<AdaptedLayer> layers = adapted_layers(policy.parameters, stage.facts());
  const auto merge_all = [&] {
    stage.begin(Phase::generation);
    for (AdaptedLayer& layer : layers) layer.merge(t, stage.facts());
    stage.begin(Phase::generation);
  };
  const auto end = [&] {
    merge_all();  // And out again, which takes as much.
    if (adapts) policy.policy->reshard_all(t);
  };
  stage.begin(Phase::generation);
  if (adapts) policy.policy->unshard_all(t);
  merge_all();
  if (stage.plan().recipe.generation.value == Generation::elsewhere) {
    send(t, *policy.policy, sent(policy.parameters), end);
  } else {
    if (!adapts) hand_over(t, *policy.policy, policy.parameters);
    end();
  }
  // DDP and DeepSpeed's engine were given the weights that are there no more, and hold on to them.
  const bool first = stage.plan().mesh.sharding.value != Sharding::none && stage.replaced().empty();
  for (AdaptedLayer& layer : layers) first ? layer.leave_to(stage.replaced()) : layer.let_go(t);
}

}  // namespace oomplan::estimator
