#include "modules/kimi_delta.hpp"

#include "torch/loops.hpp"
#include "torch/scans.hpp"

namespace oomplan::estimator {
namespace {

/// l2norm: x / sqrt((x * x).sum(-1) + eps)
Tensor l2_norm(Torch& t, const Tensor& x) {
  Tensor norm;
  {
    const Tensor squared = t.mul(x, x);
    norm = t.sum_dim(squared, squared->dim() - 1, true);
  }
  norm = t.add_scalar(norm);
  norm = sqrt(t, norm);
  return t.div(x, norm);
}

void pad_rows(Torch& t, DeltaInputs& in) {
  const std::int64_t padding = (delta_chunk - in.key->sizes[2] % delta_chunk) % delta_chunk;
  in.query = t.mul_scalar(pad(t, in.query, 2, 0, padding));
  in.key = pad(t, in.key, 2, 0, padding);
  in.value = pad(t, in.value, 2, 0, padding);
  in.decay = pad(t, in.decay, 2, 0, padding);
  in.beta = pad(t, in.beta, 2, 0, padding);
}

struct Chunked {
  Tensor query{};
  Tensor key{};
  Tensor value{};
  Tensor sums{};      ///< Of the decay within a chunk.
  Tensor pairwise{};  ///< The decay between any two of its positions, for each channel.
  Tensor inverse{};
  Tensor keys{};
  Tensor k_beta{};
  Tensor v_beta{};
};

/// (g.unsqueeze(-2) - g.unsqueeze(-3)).masked_fill(mask, -inf).exp()
Tensor pairwise_decay(Torch& t, const Tensor& sums, const Tensor& mask) {
  Tensor out = t.unsqueeze(sums, 4);
  out = t.sub(out, t.unsqueeze(sums, 3));
  out = t.masked_fill(out, t.unsqueeze(mask, 2));
  out = t.exp(out);
  return out;
}

/// x.unsqueeze(-2) * y.unsqueeze(-3)
Tensor pair_products(Torch& t, const Tensor& x, const Tensor& y) {
  const int rows = x->dim() - 1;
  const Tensor left = t.unsqueeze(x, rows);
  return t.mul(left, t.unsqueeze(y, rows - 1));
}

/// (products * decay).sum(dim=-1).masked_fill(mask, 0)
Tensor decayed_sum(Torch& t, Tensor products, const Tensor& decay, const Tensor& mask) {
  products = t.mul(products, decay);
  products = t.sum_dim(products, products->dim() - 1, false);
  return t.masked_fill(products, mask);
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
  return c;
}

void solve(Torch& t, Chunked& c) {
  const Tensor mask = triangle(t, delta_chunk);
  const Tensor strict = triangle(t, delta_chunk);
  c.pairwise = pairwise_decay(t, c.sums, strict);
  Tensor inverse = t.neg(decayed_sum(t, pair_products(t, c.k_beta, c.key), c.pairwise, mask));
  {
    SolvedRow last;
    inverse = solved_by_rows(t, std::move(inverse), last);
  }
  c.inverse = t.add(inverse, t.empty({delta_chunk, delta_chunk}, DType::fp32, "aten::eye"));
  inverse.reset();
  c.value = t.matmul(c.inverse, c.v_beta);
  Tensor decayed = t.exp(c.sums);
  decayed = t.mul(c.k_beta, decayed);
  c.keys = t.matmul(c.inverse, decayed);
}

/// One chunk's views and what is made of them, in the order of the loop's body.
struct Step {
  Tensor query{};
  Tensor key{};
  Tensor value{};
  Tensor decay{};
  Tensor before{};
  Tensor within{};
  Tensor predicted{};
  Tensor fresh{};
};

void read(Torch& t, const Chunked& c, const Tensor& mask, const Tensor& state, Step& s) {
  s.query = t.select(c.query, 2);
  s.key = t.select(c.key, 2);
  s.value = t.select(c.value, 2);
  s.decay = t.select(c.sums, 2);
  {
    const Tensor decayed = t.exp(s.decay);
    s.before = t.matmul(t.mul(s.query, decayed), state);
  }
  {
    Tensor products = pair_products(t, s.query, s.key);
    const Tensor decay = t.select(c.pairwise, 2);
    s.within = decayed_sum(t, std::move(products), decay, mask);
  }
  s.predicted = t.matmul(t.select(c.keys, 2), state);
  s.fresh = t.sub(s.value, s.predicted);
}

/// last * g[:, :, -1].exp().unsqueeze(-1) + (k * (g[:, :, -1:] - g).exp()).transpose(-1, -2) @ v_new
Tensor next_state(Torch& t, const Step& s, const Tensor& state) {
  Tensor last = t.exp(t.select(s.decay, 2));
  const Tensor kept = t.mul(state, t.unsqueeze(last, 3));
  last.reset();
  Tensor rest = t.sub(t.slice(s.decay, 2, delta_chunk - 1, 1), s.decay);
  rest = t.exp(rest);
  rest = t.mul(s.key, rest);
  return t.add(kept, t.matmul(t.transpose(rest, 2, 3), s.fresh));
}

Tensor scan(Torch& t, const Chunked& c) {
  const Dims sizes = c.value->sizes;
  Tensor state = t.zeros({sizes[0], sizes[1], c.key->sizes[4], sizes[4]}, c.value->dtype);
  Tensor out = t.empty(sizes, c.value->dtype, "aten::zeros_like");
  const Tensor mask = triangle(t, delta_chunk);
  Step s;
  play_turns(t, sizes[2], [&](std::int64_t) {
    read(t, c, mask, state, s);
    {
      const Tensor part = t.add(s.before, t.matmul(s.within, s.fresh));
      out = set_part(t, out, part);
    }
    state = next_state(t, s, state);
  });
  return out;
}

}  // namespace

Tensor chunk_kimi_delta(Torch& t, const DeltaInputs& given) {
  const DType dtype = given.query->dtype;
  const std::int64_t length = given.query->sizes[1];
  DeltaInputs in = each_of(t, given, heads_in_front);
  in.query = l2_norm(t, in.query);
  in.key = l2_norm(t, in.key);
  pad_rows(t, in);
  Chunked c = chunked(t, in);
  in.query.reset();
  in.key.reset();
  in.decay.reset();
  in.value.reset();
  solve(t, c);
  Tensor out = scan(t, c);
  out = t.reshape(out, {out->sizes[0], out->sizes[1], -1, out->sizes[4]});
  if (out->sizes[2] != length) out = t.slice(out, 2, 0, length);
  return t.to(t.contiguous(t.transpose(out, 1, 2)), dtype);
}

}  // namespace oomplan::estimator
