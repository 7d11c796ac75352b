#include "modules/flux.hpp"

#include <algorithm>

#include "torch/fused_norm.hpp"
#include "torch/stacking.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::int64_t feed_factor = 4;

/// apply_rotary_emb(x, image_rotary_emb, sequence_dim=1) of batch × length × heads × width.
Tensor rotated(Torch& t, const Tensor& x, const Tensor& cosines, const Tensor& sines) {
  const Tensor cos = t.unsqueeze(t.unsqueeze(cosines, 0), 2);
  const Tensor sin = t.unsqueeze(t.unsqueeze(sines, 0), 2);
  const Dims& sizes = x->sizes;
  const std::vector<Tensor> halves = t.unbind(t.reshape(x, {sizes[0], sizes[1], sizes[2], -1, 2}), 4);
  const Tensor turned = t.reshape(t.stack_last(t.neg(halves[1]), halves[0]), sizes);
  Tensor sum;
  {
    const Tensor straight = t.mul(t.to(x, DType::fp32), cos);
    const Tensor crossed = t.mul(t.to(turned, DType::fp32), sin);
    sum = t.add(straight, crossed);
  }
  return t.to(sum, x->dtype);
}

Tensor in_heads(Torch& t, const Tensor& x, std::int64_t head_dim) {
  return t.view(x, {x->sizes[0], x->sizes[1], -1, head_dim});
}

/// x[:, from:from + length]
Tensor rows(Torch& t, const Tensor& x, std::int64_t from, std::int64_t length) { return t.slice(x, 1, from, length); }

}  // namespace

FluxAttention::FluxAttention(Builder& b, const std::string& name, std::int64_t width, std::int64_t heads, bool joint)
    : head_dim_(std::max<std::int64_t>(width / std::max<std::int64_t>(heads, 1), 1)),
      joint_(joint),
      module_(b.module_id(name)) {
  const auto norm = [&](const char* of) { return b.weight(name + of + ".weight", {head_dim_}, Part::norm); };
  norm_q_ = norm(".norm_q");
  norm_k_ = norm(".norm_k");
  to_q_ = Linear(b, name + ".to_q", width, width, true);
  to_k_ = Linear(b, name + ".to_k", width, width, true);
  to_v_ = Linear(b, name + ".to_v", width, width, true);
  if (!joint) return;
  to_out_ = Linear(b, name + ".to_out.0", width, width, true);
  norm_added_q_ = norm(".norm_added_q");
  norm_added_k_ = norm(".norm_added_k");
  add_q_ = Linear(b, name + ".add_q_proj", width, width, true);
  add_k_ = Linear(b, name + ".add_k_proj", width, width, true);
  add_v_ = Linear(b, name + ".add_v_proj", width, width, true);
  to_add_out_ = Linear(b, name + ".to_add_out", width, width, true);
}

/// torch.nn.RMSNorm, which autocast runs in fp32.
Tensor FluxAttention::normed(Play& play, const Tensor& x, const Tensor& weight) const {
  Torch& t = play.torch;
  const Tensor raised = t.raised(x);
  return fused_rms_norm(t, raised, t.raised(weight));
}

std::array<Tensor, 2> FluxAttention::operator()(Play& play, const Tensor& x, const Tensor& text,
                                                const FluxStreams& s) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  Tensor query = to_q_(play, x);
  Tensor key = to_k_(play, x);
  Tensor value = to_v_(play, x);
  Tensor text_query;
  Tensor text_key;
  Tensor text_value;
  if (joint_) {
    text_query = add_q_(play, text);
    text_key = add_k_(play, text);
    text_value = add_v_(play, text);
  }
  query = in_heads(t, query, head_dim_);
  key = in_heads(t, key, head_dim_);
  value = in_heads(t, value, head_dim_);
  query = normed(play, query, norm_q_);
  key = normed(play, key, norm_k_);
  if (joint_) {
    text_query = in_heads(t, text_query, head_dim_);
    text_key = in_heads(t, text_key, head_dim_);
    text_value = in_heads(t, text_value, head_dim_);
    text_query = normed(play, text_query, norm_added_q_);
    text_key = normed(play, text_key, norm_added_k_);
    query = t.cat({text_query, query}, 1);
    key = t.cat({text_key, key}, 1);
    value = t.cat({text_value, value}, 1);
  }
  query = rotated(t, query, s.cos, s.sin);
  key = rotated(t, key, s.cos, s.sin);
  Tensor hidden;
  {
    const auto turned = [&](const Tensor& one) { return t.permute(one, {0, 2, 1, 3}); };
    hidden = turned(t.attention(turned(query), turned(key), turned(value), {}, 0.0, false, false));
  }
  hidden = t.reshape(hidden, {hidden->sizes[0], hidden->sizes[1], -1});
  hidden = t.to(hidden, query->dtype);
  if (!joint_) return {hidden, {}};
  const std::int64_t words = text->sizes[1];
  std::vector<Tensor> parts = t.split_sizes(hidden, {words, hidden->sizes[1] - words}, 1);
  Tensor of_text = std::move(parts[0]);
  hidden = std::move(parts[1]);
  parts.clear();
  hidden = to_out_(play, t.contiguous(hidden));
  of_text = to_add_out_(play, t.contiguous(of_text));
  return {hidden, of_text};
}

FluxBlock::FluxBlock(Builder& b, const std::string& name, std::int64_t width, std::int64_t heads)
    : module_(b.module_id(name)),
      norm1_(b, name + ".norm1", width, 6),
      norm1_context_(b, name + ".norm1_context", width, 6),
      attention_(b, name + ".attn", width, heads, true),
      norm2_(b, name + ".norm2", width, Affine::none),
      feed_(b, name + ".ff", width),
      norm2_context_(b, name + ".norm2_context", width, Affine::none),
      feed_context_(b, name + ".ff_context", width) {}

Tensor FluxBlock::operator()(Play& play, const Tensor& x, FluxStreams& s) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  // Shift, scale and gate of attention, then of what follows it.
  const std::vector<Tensor> own = norm1_.parts(play, s.time);
  Tensor normed = modulated(t, norm1_.normed(play, x), own[0], own[1]);
  const std::vector<Tensor> other = norm1_context_.parts(play, s.time);
  Tensor normed_text = modulated(t, norm1_context_.normed(play, s.text), other[0], other[1]);
  const std::array<Tensor, 2> outputs = attention_(play, normed, normed_text, s);
  const Tensor attended = t.mul(t.unsqueeze(own[2], 1), outputs[0]);
  Tensor hidden = t.add(x, attended);
  normed = norm2_(play, hidden);
  normed = modulated(t, normed, own[3], own[4]);
  Tensor fed = feed_(play, normed);
  fed = t.mul(t.unsqueeze(own[5], 1), fed);
  hidden = t.add(hidden, fed);
  const Tensor attended_text = t.mul(t.unsqueeze(other[2], 1), outputs[1]);
  Tensor text = t.add(s.text, attended_text);
  normed_text = norm2_context_(play, text);
  normed_text = modulated(t, normed_text, other[3], other[4]);
  const Tensor fed_text = feed_context_(play, normed_text);
  text = t.add(text, t.mul(t.unsqueeze(other[5], 1), fed_text));
  s.text = std::move(text);
  return hidden;
}

FluxSingleBlock::FluxSingleBlock(Builder& b, const std::string& name, std::int64_t width, std::int64_t heads)
    : module_(b.module_id(name)),
      norm_(b, name + ".norm", width, 3),
      proj_mlp_(b, name + ".proj_mlp", width, saturating_mul(width, feed_factor), true),
      proj_out_(b, name + ".proj_out", saturating_mul(width, feed_factor + 1), width, true),
      attention_(b, name + ".attn", width, heads, false) {}

Tensor FluxSingleBlock::operator()(Play& play, const Tensor& x, FluxStreams& s) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  const std::int64_t words = s.text->sizes[1];
  Tensor hidden = t.cat({s.text, x}, 1);
  const Tensor residual = hidden;
  Tensor gate;
  Tensor normed;
  {
    const std::vector<Tensor> parts = norm_.parts(play, s.time);
    normed = modulated(t, norm_.normed(play, hidden), parts[0], parts[1]);
    gate = parts[2];
  }
  const Tensor mlp = t.gelu(proj_mlp_(play, normed));
  const Tensor attended = attention_(play, normed, {}, s)[0];
  // Under autocast the kernel takes parts of two dtypes as they are.
  hidden = attended->dtype == mlp->dtype ? t.cat({attended, mlp}, 2) : cat_all(t, {attended, mlp}, 2);
  gate = t.unsqueeze(gate, 1);
  hidden = t.mul(gate, proj_out_(play, hidden));
  hidden = t.add(residual, hidden);
  s.text = rows(t, hidden, 0, words);
  return rows(t, hidden, words, hidden->sizes[1] - words);
}

}  // namespace oomplan::estimator
