// Model::base: the forward function of the base model, segment by segment.
#include <memory>
#include <utility>

#include "model.hpp"

namespace oomplan::estimator {
namespace {

enum class Hooks : std::uint8_t { here, outside };

Tensor play_block(Play& play, const Arguments& arguments, const Modules& block, const Tensor& x, Hooks hooks) {
  Stream s;
  s.arguments = arguments;
  const int layer = play.torch.recorder.scope.layer;
  s.hidden = hooks == Hooks::here ? play.policy.enter_block(play.torch, layer, x) : x;
  for (const auto& step : block) step->forward(play, s);
  return hooks == Hooks::here ? play.policy.leave_block(play.torch, layer, s.hidden) : s.hidden;
}

/// What was returned beside the hidden states goes to the caller's variable for it.
void take_beside(Torch& t, Stream& s) {
  Tensor first = std::exchange(t.beside[0], {});
  Tensor second = std::exchange(t.beside[1], {});
  if (!s.shares_bias) {
    s.attn_weights = std::move(first);
    return;
  }
  s.arguments.bias = std::move(first);
  s.arguments.cross_bias = std::move(second);
  for (std::size_t i = 0; i < s.block_weights.size(); ++i) s.block_weights[i] = std::exchange(t.beside[i + 2], {});
}

/// A block of a segment, and whether some parameter of it is trained.
struct Layer {
  const Modules& block;
  bool trains = false;
  bool trained_alone = false;  ///< As Model::checkpoints_trained.
  bool checkpointed = true;    ///< Where layers are.
  OfKind of_kind{};            ///< As Model::Segment::of_kind.
  InOrder in_order{};
};

/// LLaMA-Factory (model/model_utils/checkpointing.py: get_custom_gradient_checkpointing_func) checkpoints layers that
/// are trained alone, and asks what goes into one for a gradient.
bool checkpoints(const Play& play, const Layer& called, Tensor& x) {
  const auto [block, trains, trained_alone, checkpointed, of_kind, in_order] = called;
  if (!play.facts.checkpointing || !checkpointed) return false;
  if (!trained_alone) return true;
  if (trains && play.torch.grad_enabled) x->requires_grad = true;
  return trains;
}

void leave_only(Arguments& arguments, const OfKind& kind) {
  for (std::size_t i = 0; i < span_names.size(); ++i) {
    const Span span = static_cast<Span>(i);
    if (span != kind.mask) arguments.masks[i].reset();
    if (span == kind.rotation.value_or(span)) continue;
    arguments.cos[i].reset();
    arguments.sin[i].reset();
  }
}

void play_layer(Play& play, const Layer& called, Stream& s) {
  const Modules& block = called.block;
  Tensor x = s.hidden;
  if (!checkpoints(play, called, x)) {
    s.hidden = play_block(play, s.arguments, block, x, Hooks::here);
    return take_beside(play.torch, s);
  }
  // The checkpoint holds on to what the block is called with, and outlives its caller.
  const auto arguments = std::make_shared<Arguments>(s.arguments);
  leave_only(*arguments, called.of_kind);
  const bool outside = play.policy.stands_around_checkpoints(play.facts.reentrant);
  const Hooks hooks = outside ? Hooks::outside : Hooks::here;
  const auto forward = [play, &block, arguments, hooks](const Tensor& input) mutable {
    return play_block(play, *arguments, block, input, hooks);
  };
  std::vector<Tensor*> tracked;
  for (Tensor* one :
       {&arguments->bias, &arguments->encoder, &arguments->cross_bias, &arguments->per_layer, &arguments->original}) {
    if (*one && is_floating((*one)->dtype)) tracked.push_back(one);
  }
  // What comes in its place, a reentrant checkpoint saves, and lets go of once its layer has run; what comes by name it
  // holds until the graph goes.
  for (const auto& [given, mask] : {std::pair(called.in_order.own, &arguments->mask(Span::full)),
                                    std::pair(called.in_order.cross, &arguments->cross_mask)}) {
    if (given && play.facts.reentrant && *mask) tracked.push_back(mask);
  }
  const int layer = play.torch.recorder.scope.layer;
  const Tensor input = outside ? play.policy.enter_block(play.torch, layer, x) : x;
  const CheckpointStyle style{play.facts.reentrant, play.facts.early_stop, play.facts.keeps_products};
  s.hidden = play.torch.checkpoint(input, forward, style, std::move(tracked));
  if (outside) s.hidden = play.policy.leave_block(play.torch, layer, s.hidden);
  take_beside(play.torch, s);
}

}  // namespace

KeyValues::~KeyValues() {
  for (auto& [layer, states] : held_) {
    Restore in_layer(torch_.recorder.scope.layer, std::int16_t{layer});
    states.reset();
  }
}

void RouterLogits::close() {
  open_ = false;
  for (Router& router : routers_) {
    Restore in_layer(torch_.recorder.scope.layer, std::int16_t{router.layer});
    router.logits.reset();
  }
  routers_.clear();
}

void RouterLogits::take(const Tensor& logits, std::int64_t per_token) {
  if (open_) routers_.push_back({torch_.recorder.scope.layer, logits, per_token});
}

Tensor KeyValues::add(const Tensor& states) {
  Restore bucket(torch_.recorder.scope.bucket, bucket_.value_or(torch_.recorder.scope.bucket));
  if (next_ == held_.size()) {
    held_.emplace_back(torch_.recorder.scope.layer, kind_ == CacheKind::copies ? torch_.cat({states}, 2) : states);
  } else {
    Tensor& own = held_[next_].second;
    own = torch_.cat({own, states}, 2);
  }
  return held_[next_++].second;
}

void KeyValues::raise() {
  if (kind_ != CacheKind::returned) return;
  std::vector<Tensor> raised;
  for (const auto& [layer, own] : held_) {
    Restore in_layer(torch_.recorder.scope.layer, std::int16_t{layer});
    raised.push_back(torch_.to(own, DType::fp32));
  }
  for (std::size_t i = 0; i < held_.size(); ++i) held_[i].second = std::move(raised[i]);
}

void KeyValues::lengthen(std::int64_t tokens) {
  Restore bucket(torch_.recorder.scope.bucket, bucket_.value_or(torch_.recorder.scope.bucket));
  for (auto& [layer, own] : held_) {
    Restore in_layer(torch_.recorder.scope.layer, std::int16_t{layer});
    Dims sizes = own->sizes;
    sizes[2] = sizes[2] + tokens;
    own = torch_.empty(sizes, own->dtype, "aten::cat");
  }
}

void Stream::drop_output() {
  logits.reset();
  returned.clear();
  arguments.cache.reset();
}

void Stream::leave_base() {
  residual.reset();
  for (Tensor& mask : arguments.masks) mask.reset();
  for (Tensor& cos : arguments.cos) cos.reset();
  for (Tensor& sin : arguments.sin) sin.reset();
  arguments.recurrent_mask.reset();
  arguments.per_layer.reset();
  arguments.original.reset();
  arguments.shared.reset();
  per_layer_inputs.reset();
  arguments.bias.reset();
  arguments.relative.reset();
  arguments.relative_embeddings.reset();
  arguments.encoder.reset();
  arguments.cross_mask.reset();
  arguments.row_mask.reset();
  arguments.cross_bias.reset();
  if (!returns_hidden) all_hidden.reset();
  attn_weights.reset();
  block_weights = {};
  layer_output.reset();
  streams = {};
  seen = {};
  arguments.position_ids.reset();
  position_ids.reset();
  position_mask.reset();
  inputs_embeds.reset();
  position_embeds.reset();
  time_embeds.reset();
}

namespace {

/// What has to do with sounds is given those for images; towers may have another attention than the language model.
std::shared_ptr<const Facts> facts_of(const Model::Segment& segment, const Facts& facts) {
  auto out = std::make_shared<Facts>(facts);
  if (segment.hears) out->images = facts.sounds;
  if (segment.tower) out->attention = facts.tower_attention;
  return out;
}

/// The forward function of a tower's class, and what its caller makes of the output.
void play_tower(Play& play, const Model::Segment& tower, bool trained_alone, std::int16_t first, Stream& s) {
  Stream v;
  v.pixels = tower.hears ? s.sounds : s.pixels;
  v.seen = std::move(s.seen);
  for (const auto& step : tower.stem) step->forward(play, v);
  for (std::size_t i = 0; i < tower.blocks.size(); ++i) {
    Restore in_layer(play.torch.recorder.scope.layer, static_cast<std::int16_t>(first + static_cast<std::int16_t>(i)));
    for (const auto& step : tower.before[i]) step->forward(play, v);
    play_layer(
        play,
        {*tower.blocks[i], tower.trains[i], trained_alone, tower.checkpointed[i], tower.of_kind[i], tower.in_order[i]},
        v);
    for (const auto& step : tower.after[i]) step->forward(play, v);
    if (static_cast<std::int64_t>(i) == tower.taken) v.taken = v.hidden;
  }
  for (const auto& step : tower.tail) step->forward(play, v);
  s.seen = std::move(v.seen);
}

void play_segment(Play& play, const Model::Segment& segment, bool trained_alone, std::int16_t& built, Stream& s) {
  std::int16_t& layer = play.torch.recorder.scope.layer;
  for (const auto& step : segment.stem) step->forward(play, s);
  if (s.returns_hidden && !s.all_hidden) s.all_hidden = std::vector{s.hidden};
  for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
    Restore in_layer(layer, std::int16_t{built++});
    for (const auto& step : segment.before[i]) step->forward(play, s);
    play_layer(play,
               {*segment.blocks[i], segment.trains[i], trained_alone, segment.checkpointed[i], segment.of_kind[i],
                segment.in_order[i]},
               s);
    s.layer_output.reset();
    for (const auto& step : segment.after[i]) step->forward(play, s);
    if (s.all_hidden) s.all_hidden->push_back(s.hidden);
  }
}

/// A decoder's rows are labels, which come without a mask.
std::shared_ptr<const Facts> facts_of_decoder(const Facts& facts) {
  auto out = std::make_shared<Facts>(facts);
  out->length = facts.target_length;
  out->source_padded = facts.padding_mask;
  out->padding_mask = false;
  return out;
}

}  // namespace

void Model::collate(Torch& torch, const Facts& facts, Stream& s) const {
  for (const Segment& segment : body) {
    const auto own = segment.hears ? facts_of(segment, facts) : nullptr;
    if (segment.hears) std::swap(s.pixels, s.sounds);
    for (const auto& step : segment.stem) step->collate(torch, own ? *own : facts, s);
    if (segment.hears) std::swap(s.pixels, s.sounds);
  }
}

void Model::base(Play& play, Stream& s) const {
  std::int16_t built = first_layer;
  Play* at_work = &play;
  if (play.facts.router_loss) s.arguments.router_logits = std::make_shared<RouterLogits>(play.torch);
  std::optional<Play> decoder;
  for (const Segment& segment : body) {
    if (&segment == &body.back() && play.facts.fills_cache && !play.facts.checkpointing && !s.arguments.cache)
      s.arguments.cache = std::make_shared<KeyValues>(play.torch, std::nullopt, play.facts.cache_kind);
    if (segment.tower || segment.merges) {
      const auto facts = facts_of(segment, play.facts);
      Play own{play.torch, *facts, play.policy, facts};
      if (segment.merges) {
        play_segment(own, segment, checkpoints_trained, built, s);
        s.seen.keep_of_one();
        continue;
      }
      if (facts->images.count > 0 && !segment.silent) play_tower(own, segment, checkpoints_trained, built, s);
      built = static_cast<std::int16_t>(built + std::ssize(segment.blocks));
      continue;
    }
    if (segment.decodes && !decoder) {
      auto facts = facts_of_decoder(play.facts);
      at_work = &decoder.emplace(Play{play.torch, *facts, play.policy, facts});
    }
    play_segment(*at_work, segment, checkpoints_trained, built, s);
  }
  for (std::size_t i = 0; i < tail.size(); ++i) {
    const bool norm = static_cast<int>(i) == last_norm;
    if (norm) s.hidden = play.policy.enter_module(play.torch, Site::norm, s.hidden);
    tail[i]->forward(*at_work, s);
    if (norm) s.hidden = play.policy.leave_module(play.torch, Site::norm, s.hidden);
  }
  // The last one's place in what is returned is the last norm's (transformers: utils/generic.py).
  if (s.returns_hidden && s.all_hidden) s.all_hidden->back() = s.hidden;
  s.leave_base();
}

}  // namespace oomplan::estimator
