#include "modules/delta_rule.hpp"

#include "torch/loops.hpp"
#include "torch/scans.hpp"

namespace oomplan::estimator {

DeltaInputs each_of(Torch& t, const DeltaInputs& in, Tensor (*made)(Torch&, const Tensor&)) {
  DeltaInputs out;
  out.query = made(t, in.query);
  out.key = made(t, in.key);
  out.value = made(t, in.value);
  out.beta = made(t, in.beta);
  out.decay = made(t, in.decay);
  return out;
}

Tensor in_chunks(Torch& t, const Tensor& x) {
  Dims sizes = x->sizes;
  sizes[2] = x->sizes[2] / delta_chunk;
  sizes.insert(3, delta_chunk);
  return t.reshape(x, sizes);
}

Tensor heads_in_front(Torch& t, const Tensor& x) { return t.to(t.contiguous(t.transpose(x, 1, 2)), DType::fp32); }

Tensor solved_by_rows(Torch& t, Tensor system, SolvedRow& last) {
  for (std::int64_t i = 1; i < delta_chunk; ++i) {
    last.row = t.clone(t.slice(t.select(system, 3), 3, 0, i));
    last.above = t.clone(t.slice(t.slice(system, 3, 0, i), 4, 0, i));
    Tensor part = t.mul(t.unsqueeze(last.row, 4), last.above);
    part = t.sum_dim(part, 3, false);
    part = t.add(last.row, part);
    system = set_part(t, system, part);
  }
  return system;
}

// x * rsqrt((x * x).sum(-1) + eps)
Tensor delta_l2_norm(Torch& t, const Tensor& x) {
  Tensor scale;
  {
    const Tensor squared = t.mul(x, x);
    scale = t.sum_dim(squared, squared->dim() - 1, true);
  }
  scale = t.add_scalar(scale);
  scale = t.rsqrt(scale);
  return t.mul(x, scale);
}

namespace {

/// In fp32, heads in front.
Tensor by_heads(Torch& t, const Tensor& x) { return to_contiguous(t, t.transpose(x, 1, 2), DType::fp32); }

void repeat_heads(Torch& t, DeltaInputs& in) {
  const std::int64_t times = in.value->sizes[2] / in.key->sizes[2];
  if (times == 1) return;
  in.query = repeat_interleave(t, in.query, times, 2);
  in.key = repeat_interleave(t, in.key, times, 2);
}

void pad_rows(Torch& t, DeltaInputs& in) {
  const std::int64_t padding = (delta_chunk - in.key->sizes[2] % delta_chunk) % delta_chunk;
  {
    const Tensor query = pad(t, in.query, 2, 0, padding);
    const Tensor key = pad(t, in.key, 2, 0, padding);
    in.value = pad(t, in.value, 2, 0, padding);
    in.query = query;
    in.key = key;
  }
  const Tensor beta = pad(t, in.beta, 2, 0, padding);
  in.decay = pad(t, in.decay, 2, 0, padding);
  in.beta = beta;
}

/// What the function makes of whole rows, chunk by chunk: batch × heads × chunks × chunk × width.
struct Chunked {
  Tensor query{};
  Tensor key{};
  Tensor k_beta{};
  Tensor v_beta{};
  Tensor sums{};      ///< Of the decay within a chunk.
  Tensor pairwise{};  ///< The decay between any two of its positions.
  Tensor system{};
  Tensor within{};  ///< Attention within the chunk.
  Tensor decayed{};
  Tensor values{};
  Tensor keys{};
  Tensor fresh{};   ///< Of the last chunk, v_new
  Tensor before{};  ///< … and inter_chunk_attn.
};

Tensor pairwise_decay(Torch& t, const Tensor& sums) {
  const Tensor mask = triangle(t, delta_chunk);
  Tensor out = t.unsqueeze(sums, 4);
  out = t.sub(out, t.unsqueeze(sums, 3));
  out = t.masked_fill(out, mask);
  out = t.exp(out);
  return out;
}

/// (x @ key.transpose(-1, -2)) * pairwise_decay
Tensor decayed_product(Torch& t, const Tensor& x, const Tensor& key, const Tensor& decay) {
  const Tensor product = t.matmul(x, t.transpose(key, 3, 4));
  return t.mul(product, decay);
}

Tensor times_exp(Torch& t, const Tensor& x, const Tensor& logarithm) {
  const Tensor factor = t.exp(logarithm);
  return t.mul(x, t.unsqueeze(factor, 4));
}

Chunked chunked(Torch& t, const DeltaInputs& in) {
  Chunked c;
  c.v_beta = t.mul(in.value, t.unsqueeze(in.beta, 3));
  c.k_beta = t.mul(in.key, t.unsqueeze(in.beta, 3));
  c.query = in_chunks(t, in.query);
  c.key = in_chunks(t, in.key);
  c.k_beta = in_chunks(t, c.k_beta);
  c.v_beta = in_chunks(t, c.v_beta);
  c.sums = cumsum(t, in_chunks(t, in.decay), 3);
  c.pairwise = pairwise_decay(t, c.sums);
  c.system = decayed_product(t, c.k_beta, c.key, c.pairwise);
  c.within = decayed_product(t, c.query, c.key, c.pairwise);
  c.decayed = times_exp(t, c.k_beta, c.sums);
  c.values = solve_triangular(t, c.system, c.v_beta);
  c.keys = solve_triangular(t, c.system, c.decayed);
  return c;
}

/// key * (cum_decay[..., -1:] - cum_decay).exp().unsqueeze(-1)
Tensor to_end_of_chunk(Torch& t, const Tensor& key, const Tensor& sums) {
  const Tensor rest = t.sub(t.slice(sums, 3, delta_chunk - 1, 1), sums);
  return times_exp(t, key, rest);
}

/// new_values[:, :, i] - k_cumdecay[:, :, i] @ last_recurrent_state
Tensor corrected(Torch& t, const Chunked& c, const Tensor& state) {
  const Tensor values = t.select(c.values, 2);
  return t.sub(values, t.matmul(t.select(c.keys, 2), state));
}

/// inter_chunk_attn + intra_chunk_attn[:, :, i] @ v_new
Tensor read(Torch& t, const Chunked& c, const Tensor& before, const Tensor& fresh) {
  return t.add(before, t.matmul(t.select(c.within, 2), fresh));
}

Tensor next_state(Torch& t, const Chunked& c, const Tensor& decay, const Tensor& state, const Tensor& fresh) {
  const Tensor kept = t.mul(state, t.select(decay, 2));
  const Tensor keys = t.transpose(t.select(c.key, 2), 2, 3);
  return t.add(kept, t.matmul(keys, fresh));
}

/// The scan over chunks; its variables live until the next chunk's take their place, the last until the rule returns.
Tensor scan(Torch& t, Chunked& c, Tensor* last) {
  const Dims sizes = c.values->sizes;
  Tensor state = t.zeros({sizes[0], sizes[1], c.key->sizes[4], sizes[4]}, c.values->dtype);
  Tensor out = t.empty_strided(sizes, c.values->strides, c.values->dtype, "aten::zeros_like");
  c.query = times_exp(t, c.query, c.sums);
  c.key = to_end_of_chunk(t, c.key, c.sums);
  Tensor decay = t.exp(t.select(c.sums, 3));
  decay = t.unsqueeze(t.unsqueeze(decay, 3), 4);
  play_turns(t, sizes[2], [&](std::int64_t) {
    c.fresh = corrected(t, c, state);
    c.before = t.matmul(t.select(c.query, 2), state);
    out = set_part(t, out, read(t, c, c.before, c.fresh));
    state = next_state(t, c, decay, state, c.fresh);
  });
  if (last != nullptr) *last = state;
  return out;
}

}  // namespace

Tensor chunk_delta_rule(Torch& t, DeltaInputs in, Tensor* state) {
  const DType dtype = in.query->dtype;
  const std::int64_t length = in.query->sizes[1];
  repeat_heads(t, in);
  in = each_of(t, in, by_heads);
  in.query = delta_l2_norm(t, in.query);
  in.key = delta_l2_norm(t, in.key);
  in.query = t.mul_scalar(in.query);
  pad_rows(t, in);
  Chunked c = chunked(t, in);
  in.query.reset();
  in.key.reset();
  Tensor out = scan(t, c, state);
  out = t.reshape(out, {out->sizes[0], out->sizes[1], -1, out->sizes[4]});
  if (out->sizes[2] != length) out = t.slice(out, 2, 0, length);
  return to_contiguous(t, t.transpose(out, 1, 2), dtype);
}

}  // namespace oomplan::estimator
