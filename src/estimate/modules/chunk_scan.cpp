#include "modules/chunk_scan.hpp"

#include "torch/einsum.hpp"
#include "torch/scans.hpp"

namespace oomplan::estimator {
namespace {

/// segment_sum: the sums of each stretch of the last dimension, below the diagonal of a square.
Tensor segment_sum(Torch& t, const Tensor& x) {
  Dims square = x->sizes;
  square.push(x->sizes.back());
  const std::int64_t size = x->sizes.back();
  Tensor filled = t.expand(t.unsqueeze(x, x->dim()), square);
  Tensor mask = triangle(t, size);
  filled = t.masked_fill(filled, t.pointwise({&mask}, DType::boolean, "aten::bitwise_not"));
  Tensor sums = cumsum(t, filled, filled->dim() - 2);
  mask = triangle(t, size);
  sums = t.masked_fill(sums, t.pointwise({&mask}, DType::boolean, "aten::bitwise_not"));
  return sums;
}

/// What the function reads, cut into chunks: of hidden, B and C batch × chunks × chunk × heads × width, of A without
/// the width.
struct Chunks {
  Tensor hidden{};
  Tensor a{};
  Tensor b{};
  Tensor c{};
  Tensor residual{};  ///< D times the hidden states.
};

Tensor in_chunks(Torch& t, const Tensor& x, std::int64_t padding, std::int64_t chunk) {
  const Tensor padded = pad(t, x, 1, 0, padding);
  Dims sizes = padded->sizes;
  sizes[1] = padded->sizes[1] / chunk;
  sizes.insert(2, chunk);
  return t.reshape(padded, sizes);
}

Chunks chunks_of(Torch& t, const ChunkScanInputs& in, const Tensor& dt, std::int64_t padding) {
  Chunks whole;
  const std::int64_t heads = in.hidden->sizes[2];
  const std::int64_t times = heads / in.b->sizes[2];
  whole.hidden = t.to(in.hidden, DType::fp32);
  whole.b = repeat_interleave(t, t.to(in.b, DType::fp32), times, 2);
  whole.c = repeat_interleave(t, t.to(in.c, DType::fp32), times, 2);
  const Tensor d = t.unsqueeze(in.d, 1);
  whole.residual = t.mul(d, pad(t, whole.hidden, 1, 0, padding));
  const auto raised = [&](const Tensor& x) { return in.older ? x : t.to(x, DType::fp32); };
  whole.hidden = t.mul(whole.hidden, raised(t.unsqueeze(dt, 3)));
  whole.a = t.mul(t.to(in.a, DType::fp32), raised(dt));
  Chunks cut;
  cut.hidden = in_chunks(t, whole.hidden, padding, in.chunk);
  cut.a = in_chunks(t, whole.a, padding, in.chunk);
  cut.b = in_chunks(t, whole.b, padding, in.chunk);
  cut.c = in_chunks(t, whole.c, padding, in.chunk);
  cut.residual = whole.residual;
  return cut;
}

/// The states that chunks begin with, and what all of it is made of, which lives as long as the function.
struct States {
  Tensor decay{};
  Tensor b_decay{};
  Tensor states{};
  Tensor previous{};
  Tensor decay_chunk{};
  Tensor fresh{};
};

/// (a[..., None] * b).sum(...) as older code writes it: the product of all that is summed is there at once.
Tensor summed(Torch& t, const Tensor& a, const Tensor& b, int dim) { return t.sum_dim(t.mul(a, b), dim, false); }

Tensor carried(Torch& t, const Chunks& x, const States& s, bool older) {
  if (!older) return einsum(t, s.b_decay, "bclhn", x.hidden, "bclhp", "bchpn");
  return summed(t, t.unsqueeze(s.b_decay, 4), t.unsqueeze(x.hidden, 5), 2);
}

Tensor handed_on(Torch& t, const States& s, bool older) {
  if (!older) return einsum(t, s.decay_chunk, "bzch", s.states, "bzhpn", "bchpn");
  return summed(t, t.unsqueeze(t.unsqueeze(s.decay_chunk, 4), 5), t.unsqueeze(s.states, 2), 1);
}

States states_of(Torch& t, const Chunks& x, const Tensor& a_sums, bool older) {
  States s;
  const int last = a_sums->dim() - 1;
  s.decay = t.exp(t.sub(t.slice(a_sums, last, a_sums->sizes[last] - 1, 1), a_sums));
  s.b_decay = t.mul(x.b, t.unsqueeze(t.permute(s.decay, {0, 2, 3, 1}), 4));
  s.states = carried(t, x, s, older);
  Dims one = s.states->sizes;
  one[1] = 1;
  s.previous = t.empty(one, s.states->dtype, "aten::zeros_like");
  s.states = t.cat({s.previous, s.states}, 1);
  s.decay_chunk = t.transpose(t.exp(segment_sum(t, pad(t, t.select(a_sums, last), 2, 1, 0))), 1, 3);
  s.fresh = handed_on(t, s, older);
  s.states = t.slice(s.fresh, 1, 0, s.fresh->sizes[1] - 1);
  return s;
}

/// Attention within chunks; its parts live as long as the function.
struct Within {
  Tensor product{};
  Tensor g{};
  Tensor weighted{};
  Tensor m{};
  Tensor out{};
};

Within within(Torch& t, const Chunks& x, const Tensor& l, bool older) {
  Within w;
  const Tensor decay = t.permute(l, {0, 2, 3, 4, 1});
  if (!older) {
    w.g = einsum(t, x.c, "bclhn", x.b, "bcshn", "bclsh");
    w.m = t.mul(w.g, decay);
    w.out = einsum(t, w.m, "bclsh", x.hidden, "bcshp", "bclhp");
    return w;
  }
  w.product = t.mul(t.unsqueeze(x.c, 3), t.unsqueeze(x.b, 2));
  w.g = t.sum_dim(w.product, 5, false);
  w.weighted = t.mul(t.unsqueeze(w.g, 5), t.unsqueeze(decay, 5));
  w.m = t.sum_dim(w.weighted, 5, false);
  w.out = summed(t, t.unsqueeze(w.m, 5), t.unsqueeze(x.hidden, 2), 3);
  return w;
}

/// What the states that chunks begin with add.
struct Read {
  Tensor product{};
  Tensor out{};
};

Read read_states(Torch& t, const Chunks& x, const Tensor& states, bool older) {
  Read r;
  if (!older) {
    r.out = einsum(t, x.c, "bclhn", states, "bchpn", "bclhp");
    return r;
  }
  r.product = t.mul(t.unsqueeze(x.c, 4), t.unsqueeze(states, 2));
  r.out = t.sum_dim(r.product, 5, false);
  return r;
}

}  // namespace

Tensor chunk_scan(Torch& t, const ChunkScanInputs& in) {
  const Dims sizes = in.hidden->sizes;
  const std::int64_t padding = (in.chunk - sizes[1] % in.chunk) % in.chunk;
  Tensor dt = t.add(in.dt, in.older ? in.dt_bias : t.to(in.dt_bias, in.dt->dtype));
  dt = t.softplus(dt);
  dt = t.clamp(dt);
  Chunks x = chunks_of(t, in, dt, padding);
  x.a = t.permute(x.a, {0, 3, 1, 2});
  const Tensor a_sums = cumsum(t, x.a, 3);
  const Tensor l = t.exp(segment_sum(t, x.a));
  const Within diagonal = within(t, x, l, in.older);
  const States s = states_of(t, x, a_sums, in.older);
  const Tensor decay_out = t.exp(a_sums);
  Read read = read_states(t, x, s.states, in.older);
  const Tensor factor = t.unsqueeze(t.permute(decay_out, {0, 2, 3, 1}), 4);
  const Tensor off = t.mul(read.out, factor);
  if (in.older) read.out.reset();
  Tensor out = t.add(diagonal.out, off);
  if (!in.older) out = t.contiguous(out);
  out = t.reshape(out, {sizes[0], -1, sizes[2], sizes[3]});
  out = t.add(out, x.residual);
  return padding > 0 ? t.slice(out, 1, 0, sizes[1]) : out;
}

}  // namespace oomplan::estimator
