#include "weight_sync.hpp"

#include <algorithm>
#include <array>
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

/// Bytes of the weights in pieces of which each ends with the tensor that makes it more than a GiB.
std::vector<std::int64_t> pieces_of(const Parameters& parameters) {
  constexpr std::int64_t enough = std::int64_t{1} << 30;  // DEFAULT_PACKED_BUFFER_SIZE_BYTES
  ParameterOrder order;
  for (const Parameter& p : parameters) {
    if (!is_of_adapter(p) && !has_copy(parameters, p)) order.push_back(&p);
  }
  std::vector<std::int64_t> out{0};
  for (const Parameter* p : of_all_layers(order)) {
    if (out.back() > enough) out.push_back(0);
    out.back() = saturating_add(out.back(), saturating_mul(p->held->sizes.product(), bytes_of(p->held->dtype)));
  }
  return out;
}

/// packed_nccl_broadcast_producer: two pieces are on their way.
void send(Torch& t, const Parameters& parameters) {
  InBucket bucket(t, Bucket::communication);
  std::array<Tensor, 2> sent{};
  std::size_t next = 0;
  for (const std::int64_t bytes : pieces_of(parameters)) {
    Tensor& slot = sent[next];
    slot.reset();
    slot = t.empty({bytes}, DType::uint8, "aten::cat");
    next = 1 - next;
  }
}

}  // namespace

void sync_weights(Stage& stage) {
  Torch& t = stage.torch();
  Restore no_grad(t.grad_enabled, false);
  const Parameters& parameters = stage.model(Role::policy).parameters;
  std::vector<AdaptedLayer> layers = adapted_layers(parameters, stage.facts());
  const auto merge_all = [&] {
    stage.begin(Phase::generation);
    for (AdaptedLayer& layer : layers) layer.merge(t, stage.facts());
  };
  merge_all();
  stage.begin(Phase::generation);
  if (stage.plan().recipe.generation.value == Generation::elsewhere) send(t, parameters);
  merge_all();  // And out again, which takes as much.
  stage.begin(Phase::generation);
  for (AdaptedLayer& layer : layers) layer.let_go(t);
}

}  // namespace oomplan::estimator
