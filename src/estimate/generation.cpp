#include "generation.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace oomplan::estimator {
namespace {

/// The cache of a long completion grows by several tokens at once, so that a step has as many events as of a short one.
constexpr std::int64_t most_lengthenings = 64;

using Filter = Tensor (*)(Torch&, const Tensor& scores);

/// RepetitionPenaltyLogitsProcessor: a column more, for tokens that do not count.
Tensor penalised(Torch& t, const Tensor& scores) {
  const Dims& s = scores->sizes;
  const Dims wider{s[0], s[1] + 1};
  const Tensor padded = t.empty(wider, DType::fp32, "aten::constant_pad_nd");
  return t.slice(t.empty(wider, DType::fp32, "aten::scatter"), 1, 0, s[1]);
}

/// TemperatureLogitsWarper
Tensor cooled(Torch& t, const Tensor& scores) { return t.div_scalar(scores); }

/// TopKLogitsWarper
Tensor of_the_highest(Torch& t, const Tensor& scores) {
  return t.masked_fill(scores, t.empty(scores->sizes, DType::boolean, "aten::lt"));
}

/// TopPLogitsWarper
Tensor of_the_likeliest(Torch& t, const Tensor& scores) {
  const Tensor sorted = t.empty(scores->sizes, DType::fp32, "aten::sort");
  const Tensor indices = t.empty(scores->sizes, DType::int64, "aten::sort");
  Tensor sums = t.softmax_last(sorted);
  sums = t.empty(sums->sizes, DType::fp32, "aten::cumsum");
  const Tensor removed_sorted = t.empty(scores->sizes, DType::boolean, "aten::le");
  return t.masked_fill(scores, t.empty(scores->sizes, DType::boolean, "aten::scatter"));
}

/// MinPLogitsWarper
Tensor of_the_likely(Torch& t, const Tensor& scores) {
  const Tensor probabilities = t.softmax_last(scores);
  return t.masked_fill(scores, t.empty(scores->sizes, DType::boolean, "aten::lt"));
}

/// By sampling_names.
constexpr std::array<Filter, sampling_names.size()> filters{penalised, cooled, of_the_highest, of_the_likeliest,
                                                            of_the_likely};

/// The variables of _sample, which live from one token to the next.
struct Sampled {
  std::array<Tensor, 3> rows{};  ///< input_ids, and of model_kwargs the mask and the positions.
  Tensor next_token_logits{};
  Tensor next_token_scores{};
  Tensor probs{};
};

Tensor filtered(Stage& stage, Tensor scores) {
  const std::vector<std::string>& asked = stage.plan().recipe.sampling.value;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    if (std::ranges::count(asked, sampling_names[i]) > 0) scores = filters[i](stage.torch(), scores);
  }
  return scores;
}

void sample(Stage& stage, const Tensor& logits, Sampled& kept) {
  Torch& t = stage.torch();
  InBucket bucket(t, Bucket::logits_and_loss);
  const Dims sizes{logits->sizes[0], logits->sizes.back()};
  kept.next_token_logits = t.empty(sizes, DType::fp32, "aten::_to_copy");
  kept.next_token_scores = filtered(stage, kept.next_token_logits);
  kept.probs = t.softmax_last(kept.next_token_scores);
  const Tensor noise = t.empty(sizes, DType::fp32, "aten::empty_like");  // at::multinomial of one
}

void lengthen(Torch& t, std::int64_t rows, std::int64_t length, Sampled& kept) {
  InBucket bucket(t, Bucket::inputs);
  for (Tensor& each : kept.rows) each = t.empty({rows, length}, DType::int64, "aten::cat");
}

/// A forward pass over what the cache does not have yet, of which the last token's logits are made.
void pass(Stage& stage, const Facts& facts, const std::shared_ptr<KeyValues>& cache, Sampled& kept) {
  Torch& t = stage.torch();
  Stream s;
  {
    InBucket bucket(t, Bucket::inputs);
    s.position_ids = t.empty({facts.batch, facts.length}, DType::int64, "aten::clone");
    s.input_ids = facts.past == 0 ? kept.rows[0] : t.empty({facts.batch, 1}, DType::int64, "aten::clone");
  }
  s.arguments.cache = cache;
  cache->begin_pass();
  const auto last_logits = [&s](Play& play, const Head& head) {
    s.logits = head.logits(play, play.torch.slice(s.hidden, 1, s.hidden->sizes[1] - 1, 1));
  };
  stage.call(Role::policy, facts, s, last_logits, Leaves::with_the_loss, !facts.adapts());
  sample(stage, s.logits, kept);
}

}  // namespace

void generate(Stage& stage, Facts facts, std::int64_t rows, std::int64_t completion) {
  Torch& t = stage.torch();
  Restore no_grad(t.grad_enabled, false);
  stage.begin(Phase::generation);
  facts.batch = rows;
  facts.length -= completion;
  facts.checkpointing = facts.router_loss = false;
  facts.fills_cache = facts.positions_sent = true;
  // accelerate wraps the forward function of the model that it is given, and peft's generate() calls the one within.
  if (facts.adapts()) facts.autocast.reset();
  Sampled kept;
  lengthen(t, rows, facts.length, kept);
  const auto cache = std::make_shared<KeyValues>(t, Bucket::activations);
  pass(stage, facts, cache, kept);
  if (completion < 2) return;
  facts.past = facts.length + completion - 2;
  const std::int64_t at_once = divided_up(completion - 2, most_lengthenings);
  for (std::int64_t left = completion - 2; left > 0; left -= at_once) cache->lengthen(std::min(left, at_once));
  facts.length = 1;
  lengthen(t, rows, facts.past + 1, kept);
  pass(stage, facts, cache, kept);
}

}  // namespace oomplan::estimator
