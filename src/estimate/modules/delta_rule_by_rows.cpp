// torch_chunk_gated_delta_rule of transformers before 5.15: the system of a chunk is solved row by row, in place, and
// what chunks read of each other is made in their loop.
#include "modules/delta_rule.hpp"
#include "torch/loops.hpp"
#include "torch/scans.hpp"

namespace oomplan::estimator {
namespace {

Tensor repeated(Torch& t, const Tensor& x, std::int64_t heads) {
  const std::int64_t times = heads / x->sizes[2];
  return times == 1 ? x : repeat_interleave(t, x, times, 2);
}

/// What the loop over chunks reads: batch × heads × chunks × chunk × width.
struct Chunked {
  Tensor query{};
  Tensor key{};
  Tensor value{};
  Tensor k_beta{};
  Tensor v_beta{};
  Tensor sums{};   ///< Of the decay within a chunk.
  Tensor decay{};  ///< Between any two of its positions.
  Tensor system{};
  SolvedRow last{};
  Tensor keys{};
  Tensor predicted{};  ///< Of the loop's last turn, as are these.
  Tensor fresh{};
  Tensor before{};
};

/// ((sums.unsqueeze(-1) - sums.unsqueeze(-2)).tril().exp().float()).tril()
Tensor pairwise_decay(Torch& t, const Tensor& sums) {
  Tensor out = t.sub(t.unsqueeze(sums, 4), t.unsqueeze(sums, 3));
  out = tril(t, out);
  out = t.exp(out);
  return tril(t, out);
}

Chunked chunked(Torch& t, const DeltaInputs& in) {
  Chunked c;
  c.v_beta = t.mul(in.value, t.unsqueeze(in.beta, 3));
  c.k_beta = t.mul(in.key, t.unsqueeze(in.beta, 3));
  c.query = in_chunks(t, in.query);
  c.key = in_chunks(t, in.key);
  c.value = in_chunks(t, in.value);
  c.k_beta = in_chunks(t, c.k_beta);
  c.v_beta = in_chunks(t, c.v_beta);
  return c;
}

void solve(Torch& t, Chunked& c, Tensor decay) {
  const Tensor mask = triangle(t, delta_chunk);
  c.sums = cumsum(t, in_chunks(t, decay), 3);
  decay.reset();
  c.decay = pairwise_decay(t, c.sums);
  {
    Tensor product = t.matmul(c.k_beta, t.transpose(c.key, 3, 4));
    product = t.mul(product, c.decay);
    product = t.masked_fill(product, mask);
    c.system = t.neg(product);
  }
  c.system = solved_by_rows(t, std::move(c.system), c.last);
  const Tensor ones = t.empty({delta_chunk, delta_chunk}, c.system->dtype, "aten::eye");
  c.system = t.add(c.system, ones);
  c.value = t.matmul(c.system, c.v_beta);
  const Tensor decayed = t.mul(c.k_beta, t.unsqueeze(t.exp(c.sums), 4));
  c.keys = t.matmul(c.system, decayed);
}

/// (key * rest.exp()[..., None]).transpose(-1, -2) @ fresh
Tensor added(Torch& t, const Tensor& key, const Tensor& rest, const Tensor& fresh) {
  Tensor keys = t.exp(rest);
  keys = t.mul(key, t.unsqueeze(keys, 3));
  return t.matmul(t.transpose(keys, 2, 3), fresh);
}

Tensor next_state(Torch& t, const Chunked& c, const Tensor& state, const Tensor& key) {
  const Tensor sums = t.select(c.sums, 2);
  const Tensor last = t.select(sums, 2);
  const Tensor kept = t.mul(state, t.exp(t.unsqueeze(t.unsqueeze(last, 2), 3)));
  return t.add(kept, added(t, key, t.sub(t.unsqueeze(last, 2), sums), c.fresh));
}

/// The scan over chunks; what its last turn made lives on in `c`.
Tensor scan(Torch& t, Chunked& c, Tensor* last) {
  const Dims sizes = c.value->sizes;
  Tensor state = t.zeros({sizes[0], sizes[1], c.key->sizes[4], sizes[4]}, c.value->dtype);
  Tensor out = t.empty_strided(sizes, c.value->strides, c.value->dtype, "aten::zeros_like");
  const Tensor mask = triangle(t, delta_chunk);
  play_turns(t, sizes[2], [&](std::int64_t) {
    const Tensor query = t.select(c.query, 2);
    const Tensor key = t.select(c.key, 2);
    const Tensor value = t.select(c.value, 2);
    {
      const Tensor product = t.matmul(query, t.transpose(key, 2, 3));
      c.system = t.mul(product, t.select(c.decay, 2));
    }
    c.predicted = t.matmul(t.select(c.keys, 2), state);
    c.fresh = t.sub(value, c.predicted);
    {
      Tensor factor = t.exp(t.unsqueeze(t.select(c.sums, 2), 3));
      factor = t.mul(query, factor);
      c.before = t.matmul(factor, state);
    }
    out = set_part(t, out, t.add(c.before, t.matmul(c.system, c.fresh)));
    state = next_state(t, c, state, key);
  });
  if (last != nullptr) *last = state;
  return out;
}

void pad_rows(Torch& t, DeltaInputs& in) {
  const std::int64_t padding = (delta_chunk - in.key->sizes[2] % delta_chunk) % delta_chunk;
  for (Tensor* x : {&in.query, &in.key, &in.value, &in.beta, &in.decay}) *x = pad(t, *x, 2, 0, padding);
}

}  // namespace

DeltaInputs with_heads_repeated(Torch& t, DeltaInputs in) {
  in.query = repeated(t, in.query, in.value->sizes[2]);
  in.key = repeated(t, in.key, in.value->sizes[2]);
  return in;
}

Tensor chunk_delta_rule_by_rows(Torch& t, DeltaInputs in, Tensor* state) {
  const DType dtype = in.query->dtype;
  const std::int64_t length = in.query->sizes[1];
  in.query = delta_l2_norm(t, in.query);
  in.key = delta_l2_norm(t, in.key);
  in = each_of(t, in, heads_in_front);
  pad_rows(t, in);
  in.query = t.mul_scalar(in.query);
  Chunked c = chunked(t, in);
  in.query.reset();
  in.key.reset();
  in.value.reset();
  solve(t, c, std::move(in.decay));
  Tensor out = scan(t, c, state);
  out = t.reshape(out, {out->sizes[0], out->sizes[1], -1, out->sizes[4]});
  if (out->sizes[2] != length) out = t.slice(out, 2, 0, length);
  return t.to(t.contiguous(t.transpose(out, 1, 2)), dtype);
}

}  // namespace oomplan::estimator
