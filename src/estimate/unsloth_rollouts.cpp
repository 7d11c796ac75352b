#include "unsloth_rollouts.hpp"

#include <algorithm>

#include "oomplan/plan/rollout.hpp"
#include "torch/unsloth.hpp"

namespace oomplan::estimator {
namespace {

/// grpo_accumulated_loss: so many parts of a row's completion.
std::int64_t parts_of(const Facts& facts) {
  constexpr std::int64_t tokens_a_part = 4096;
  return std::max<std::int64_t>(4, facts.length / tokens_a_part);
}

/// So many rows of `facts` end to end, which no mask keeps apart.
Facts packed(Facts facts, std::int64_t rows) {
  facts.length = saturating_mul(facts.length, rows);
  facts.batch = 1;
  facts.joined = rows;
  facts.padding_mask = facts.mask_sent = facts.sends_masks = false;
  return facts;
}

// ---- chunked_hidden_states_selective_log_softmax, as Inductor has it -----------------------------------------------

void gradients_of_parts(Torch& t, Node& n, Grads& g) {
  InBucket bucket(t, Bucket::logits_and_loss);
  const Tensor logits = t.unpack(n, 0);
  const std::int64_t tokens = logits->sizes[0];
  std::vector<Tensor> parts;
  {
    const Tensor of_part = t.empty({n.ints[0], logits->sizes[1]}, logits->dtype, "inductor");
    parts.push_back(t.empty({tokens, n.ints[1]}, logits->dtype, "aten::mm"));
  }
  g.out[0] = t.empty({tokens, n.ints[1]}, logits->dtype, "aten::cat");
}

/// Of `hidden` (tokens × width). The products stay in 16 bits for backward; what is made of them is fused.
Tensor log_probs_in_parts(Play& play, const Head& head, const Tensor& hidden, std::int64_t parts) {
  Torch& t = play.torch;
  const Tensor& weight = head.projection().weight(play.facts);
  const std::int64_t tokens = hidden->sizes[0];
  const std::int64_t rows = divided_up(tokens, std::max<std::int64_t>(parts, 1));
  NodeRef node = t.record("CompiledFunctionBackward", {&hidden}, gradients_of_parts);
  Restore no_grad(t.grad_enabled, false);
  const std::int64_t held = node ? tokens : std::min(rows, tokens);
  const Tensor logits = t.empty({held, weight->sizes[0]}, weight->dtype, "aten::mm");
  const Tensor sums = t.empty({tokens}, DType::fp32, "inductor");
  if (node) {
    node->ints[0] = rows;
    node->ints[1] = hidden->sizes[1];
    t.save(node, 0, logits);
    t.save(node, 1, sums);
  }
  return t.attach(node, t.empty({tokens}, DType::fp32, "inductor"));
}

void spread_over_rows(Torch& t, Node& n, Grads& g) {
  g.out[0] = t.empty({n.ints[0], n.ints[1]}, g.in[0]->dtype, "aten::zeros");
}

/// hidden[0, :-1, :][completions]
Tensor of_completions(Torch& t, const Tensor& hidden, std::int64_t tokens) {
  const Dims& s = hidden->sizes;
  const Tensor flat = t.view(hidden, {s[0] * s[1], s[2]});
  NodeRef node = t.record("IndexBackward", {&flat}, spread_over_rows);
  if (node) {
    node->ints[0] = flat->sizes[0];
    node->ints[1] = s[2];
  }
  Restore no_grad(t.grad_enabled, false);
  return t.attach(node, t.empty({tokens, s[2]}, hidden->dtype, "aten::index"));
}

// ---- The model's passes --------------------------------------------------------------------------------------------

/// A pass without gradients was made, `times` over: Unsloth's checkpoints still put the first layer's input away.
void put_away(Torch& t, const Tensor& hidden, std::int64_t times) {
  if (t.unsloth == nullptr) return;
  t.unsloth->leave(hidden);
  for (std::int64_t i = 1; i < times; ++i) t.unsloth->count();
}

/// _install_grpo_hidden_states_forward_wrapper: the model is asked for what went into each layer
/// (output_hidden_states), which is all there until the pass is over, and of which the last alone is taken.
Tensor last_alone(Stream& s) {
  if (s.all_hidden) s.all_hidden->clear();
  return s.hidden;
}

/// Each of the rows by itself, which what the joined rows gave is held against: the longest rows are taken to come
/// late, and nothing as long was looked at before. One is as the others, beside what the row before gave: `joined` is
/// what all of them gave.
void verify(Stage& stage, const Facts& of_rows, std::int64_t rows, bool adapters_off, const Tensor& joined) {
  Torch& t = stage.torch();
  Restore no_grad(t.grad_enabled, false);
  Facts facts = packed(of_rows, 1);
  facts.joined = 0;
  facts.adapters_off = adapters_off;
  facts.checkpointing = false;
  Stream s;
  s.input_ids = t.empty({1, facts.length}, DType::int64, "aten::index");
  s.returns_hidden = true;
  Tensor before = t.empty({1, facts.length, joined->sizes[2]}, joined->dtype, "liger::rms_norm");
  stage.call(Role::policy, facts, s, [&](Play& play, const Head& head) {
    before.reset();
    const Tensor hidden = last_alone(s);
    put_away(t, hidden, rows);
    InBucket bucket(t, Bucket::logits_and_loss);
    const Tensor flat = t.view(hidden, {facts.length, hidden->sizes[2]});
    s.loss = log_probs_in_parts(play, head, flat, 1);
  });
}

/// Leaves rows × completion in the stream's loss.
void score(Stage& stage, const Facts& facts, std::int64_t rows, const Facts& of_rows, Stream& s) {
  Torch& t = stage.torch();
  const std::int64_t completion = std::min(of_rows.labelled, of_rows.length - 1);
  const std::int64_t parts = saturating_mul(rows, parts_of(of_rows));
  Tensor hidden;
  Tensor labelled;
  s.returns_hidden = true;
  stage.call(Role::policy, facts, s, [&](Play& play, const Head& head) {
    play.torch.recorder.begin_loss();
    InBucket bucket(t, Bucket::logits_and_loss);
    hidden = last_alone(s);
    if (!t.grad_enabled) put_away(t, hidden, 1);
    labelled = of_completions(t, hidden, saturating_mul(rows, completion));
    s.loss = log_probs_in_parts(play, head, labelled, parts);
  });
  // A row by itself is not joined with others, so there is nothing to hold against it.
  if (rows > 1) verify(stage, of_rows, rows, facts.adapters_off, hidden);
}

Stream joined(Torch& t, const Facts& facts) {
  InBucket bucket(t, Bucket::inputs);
  Stream s;
  s.input_ids = t.empty({1, facts.length}, DType::int64, "aten::index");
  return s;
}

}  // namespace

void prepare_unsloth_rollout(Stage& stage) {
  Torch& t = stage.torch();
  const Facts& of_rows = stage.facts();
  const std::int64_t rows = saturating_mul(of_rows.batch, batches_of_rollout(stage.plan()));
  stage.begin(Phase::generation);
  std::vector<Tensor> out;
  const auto keep = [&](std::int64_t length, DType dtype) {
    InBucket bucket(t, Bucket::inputs);
    out.push_back(t.empty({rows, length}, dtype, "rollout"));
  };
  for (int i = 0; i < 2; ++i) keep(of_rows.length, DType::int64);
  if (stage.plan().recipe.reference.value != Reference::none) {
    stage.begin(Phase::reference);
    Restore no_grad(t.grad_enabled, false);
    Facts facts = packed(of_rows, rows);
    facts.adapters_off = true;
    facts.checkpointing = false;
    Stream s = joined(t, facts);
    score(stage, facts, rows, of_rows, s);
    keep(of_rows.labelled, DType::fp32);
  }
  stage.begin(Phase::between);
  stage.prepared() = std::move(out);
}

void play_unsloth_rollout(Stage& stage) {
  stage.begin(Phase::forward);
  const Facts& of_rows = stage.facts();
  const Facts facts = packed(of_rows, of_rows.batch);
  Stream s = joined(stage.torch(), facts);
  score(stage, facts, of_rows.batch, of_rows, s);
  InBucket bucket(stage.torch(), Bucket::logits_and_loss);
  s.loss = stage.torch().sum_all(s.loss);
  stage.backward(s);
  stage.begin(Phase::between);
}

}  // namespace oomplan::estimator
