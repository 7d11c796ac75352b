// What is done to a model as it is loaded and once it is there, as the framework's loader does it.
#include "loading.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "modules/linear_adapter.hpp"
#include "play.hpp"

namespace oomplan::estimator {

bool is_raised(std::string_view name) {
  constexpr std::array<std::string_view, 3> words{"norm", "embed_tokens", "lm_head"};
  return std::ranges::any_of(words, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

void Builder::cast(const Parameter& parameter, DType dtype) {
  const Tensor& weight = parameter.held;
  Restore layer(torch.recorder.scope.layer, weight->layer);
  Restore module(torch.recorder.scope.module, weight->module);
  const Tensor made = torch.parameter(weight->sizes, dtype, false);
  std::swap(weight->storage, made->storage);
  weight->dtype = dtype;
}

void Builder::loads(const std::string& name, std::int64_t bytes) {
  const std::string full = path(name);
  const std::size_t layer = full.find(".*.");
  const bool in_block = layer != std::string::npos;
  loaded_.push_back({torch.recorder.events.size(), full.substr(0, layer), torch.recorder.scope.layer,
                     in_block ? full.substr(layer + 3) : std::string()});
  loaded_bytes_ = saturating_add(loaded_bytes_, saturating_mul(bytes, repeats));
}

// transformers/core_model_loading.py: convert_and_load_state_dict_in_model goes through the checkpoint by name, one
// weight after the other where it quantises on the fly. So the head comes before the layers, and each 16-bit weight is
// gone before the next is read. (dot_natural_key; of the names here plain order and the layer's number are the same.)
void Builder::load_in_order() {
  std::vector<Event>& events = torch.recorder.events;
  std::vector<std::size_t> order(loaded_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    const Loaded& l = loaded_[i];
    return std::tie(l.before, l.layer, l.after);
  };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::vector<Event> sorted;
  sorted.reserve(events.size());
  const auto at = [&](std::size_t i) {
    return events.begin() + static_cast<std::ptrdiff_t>(i < loaded_.size() ? loaded_[i].first : events.size());
  };
  sorted.insert(sorted.end(), events.begin(), at(0));
  for (const std::size_t i : order) sorted.insert(sorted.end(), at(i), at(i + 1));
  events = std::move(sorted);
}

// transformers/modeling_utils.py: caching_allocator_warmup takes what the weights will need in one piece and gives it
// back to the cache, so that they are cut from one segment.
void Builder::warm_up() {
  std::vector<Event>& events = torch.recorder.events;
  const std::size_t before = events.size();
  torch.empty({loaded_bytes_ / 2}, DType::fp16, "transformers::caching_allocator_warmup");
  std::rotate(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(before), events.end());
}

// Which layers they are nobody says, and they are as much beside whatever runs: one weight stands for all.
void Builder::keep_in_16_bits() {
  if (facts.checkpoint == 0) return;
  std::int64_t stored = 0;
  for (const Parameter& p : parameters) {
    const std::int64_t bytes = saturating_mul(p.sizes.product(), bytes_of(p.held->dtype));
    if (!added(p)) stored = saturating_add(stored, saturating_mul(p.layers, bytes));
  }
  const std::int64_t more = (facts.checkpoint - stored) / bytes_of(facts.weights);
  if (more > 0) quantized_storage({more}, facts.weights);
}

bool Builder::added(const Parameter& parameter) const {
  return parameter.part == Part::adapter || of_copies_.contains(parameter.held->storage);
}

namespace {

// transformers/modeling_utils.py: _init_added_embeddings_weights_with_mean. The most of it is held where torch looks
// whether the covariance is symmetric (torch.isclose), before it looks for its root.
void draw_rows(Torch& torch, const Dims& old, DType dtype) {
  const std::int64_t width = old[1];
  const auto square = [&](DType of, const char* op) { return torch.empty({width, width}, of, op); };
  const Tensor raised = dtype == DType::fp32 ? Tensor() : torch.empty(old, DType::fp32, "aten::_to_copy");
  const Tensor mean = torch.empty({width}, DType::fp32, "aten::mean");
  const Tensor centered = torch.empty(old, DType::fp32, "aten::sub");
  const Tensor covariance = square(DType::fp32, "aten::div");
  const Tensor scaled = square(DType::fp32, "aten::mul");
  const Tensor equal = square(DType::boolean, "aten::eq");
  const Tensor allowed = square(DType::fp32, "aten::add");
  const Tensor apart = square(DType::fp32, "aten::abs");
  const Tensor magnitude = square(DType::fp32, "aten::abs");
  const Tensor is_number = square(DType::boolean, "aten::ne");
  const Tensor is_finite = square(DType::boolean, "aten::eq");
  const Tensor both = square(DType::boolean, "aten::mul");
}

/// Whether a parameter is of what sees images and is no norm, embedding, head or bias.
bool is_of_images(const Architecture& model, const std::string& name) {
  const bool sees = has_tower(model);
  const bool reads = name.find("language_model") != name.npos || is_raised(name);
  const bool packed = name.empty();
  return sees && !reads && !packed && !name.ends_with(".bias");
}

}  // namespace

void Builder::upcast() {
  // Axolotl's loader; then gc.collect() and torch.cuda.empty_cache().
  if (facts.fp32_while_loading && !facts.kbit_upcast && facts.weights != DType::fp32) {
    for (const DType dtype : {DType::fp32, facts.weights}) {
      for (const Parameter& p : parameters) {
        if (!added(p) && is_raised(p.name)) cast(p, dtype);
      }
    }
    // peft's preparation of a quantized model has raised all else, which of a tower nobody takes back; bitsandbytes
    // does it to biases as they are used (axolotl 0.18.0: loaders/model.py, _configure_embedding_dtypes). It is left
    // out where the loader has quantized experts (_prepare_model_for_quantization).
    const bool raised_by_peft = facts.quantized && !facts.quantized_experts;
    for (const Parameter& p : parameters) {
      const bool half = p.held->dtype == DType::bf16 || p.held->dtype == DType::fp16;
      if (raised_by_peft && half && !added(p) && is_of_images(architecture, p.name)) cast(p, DType::fp32);
    }
    torch.recorder.empty_cache();
  }
  // peft/utils/other.py: prepare_model_for_kbit_training, one parameter after the other.
  if (!facts.kbit_upcast) return;
  for (const Parameter& p : parameters) {
    const bool half = p.held->dtype == DType::bf16 || p.held->dtype == DType::fp16;
    if (half && !added(p)) cast(p, DType::fp32);
  }
  torch.recorder.empty_cache();
}

// transformers/modeling_utils.py: _get_resized_embeddings and _get_resized_lm_head, the one and then the other.
void Builder::enlarge() {
  if (facts.vocabulary == 0) return;
  for (const Parameter& p : parameters) {
    const bool of_words = p.part == Part::embedding || p.part == Part::head;
    if (!of_words || added(p) || p.sizes[0] != facts.vocabulary) continue;
    const Tensor& weight = p.held;
    const Dims loaded{vocabulary_of(architecture), weight->sizes[1]};
    Storage& before = torch.recorder.at(weight->storage);
    before.shape = loaded;
    before.bytes = Bytes(saturating_mul(loaded.product(), bytes_of(weight->dtype))).rounded_up(512).count();
    Restore layer(torch.recorder.scope.layer, weight->layer);
    Restore module(torch.recorder.scope.module, weight->module);
    const Tensor made = torch.parameter(weight->sizes, weight->dtype, false);
    if (facts.mean_resizing) draw_rows(torch, loaded, weight->dtype);
    std::swap(weight->storage, made->storage);
  }
}

// LLaMA-Factory's model/adapter.py: init_adapter, one parameter after the other.
void Builder::raise_trained() {
  if (!facts.trained_to_fp32) return;
  for (const Parameter& p : parameters) {
    if (p.trained && p.held->dtype != DType::fp32) cast(p, DType::fp32);
  }
}

namespace {

/// The events of these storages, taken out.
std::vector<Event> taken(std::vector<Event>& events, const std::set<StorageId>& storages) {
  const auto stays = [&](const Event& e) { return !storages.contains(e.storage); };
  const auto of = std::stable_partition(events.begin(), events.end(), stays);
  std::vector<Event> out(of, events.end());
  events.erase(of, events.end());
  return out;
}

}  // namespace

void Builder::finish_loading() {
  std::vector<Event>& events = torch.recorder.events;
  const bool quantizes = facts.quantized && facts.bitsandbytes && !facts.lightning;
  if (quantizes || facts.unpacks) load_in_order();
  // peft adds the adapters to a model that is there, and then the copies (peft_model.py: PeftModel.__init__).
  const std::vector<Event> adapters = taken(events, of_adapters_);
  const std::vector<Event> copies = taken(events, of_copies_);
  if (quantizes) warm_up();
  keep_in_16_bits();
  enlarge();
  upcast();
  events.insert(events.end(), adapters.begin(), adapters.end());
  events.insert(events.end(), copies.begin(), copies.end());
  make_vera_shared(*this);
  raise_trained();
  // trl 0.15 to 0.28: trainer/utils.py, peft_module_casting_to_bf16.
  if (!facts.kbit_upcast || !facts.fp32_while_loading) return;
  for (const Parameter& p : parameters) {
    const bool ends = p.name.find("embed_tokens") != p.name.npos || p.name.find("lm_head") != p.name.npos;
    if (ends && !added(p)) cast(p, DType::bf16);
  }
}

}  // namespace oomplan::estimator
