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
  whole.hidden = t.mul(whole.hidden, t.to(t.unsqueeze(dt, 3), DType::fp32));
  whole.a = t.mul(t.to(in.a, DType::fp32), t.to(dt, DType::fp32));
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

States states_of(Torch& t, const Chunks& x, const Tensor& a_sums) {
  States s;
  const int last = a_sums->dim() - 1;
  s.decay = t.exp(t.sub(t.slice(a_sums, last, a_sums->sizes[last] - 1, 1), a_sums));
  s.b_decay = t.mul(x.b, t.unsqueeze(t.permute(s.decay, {0, 2, 3, 1}), 4));
  s.states = einsum(t, s.b_decay, "bclhn", x.hidden, "bclhp", "bchpn");
  Dims one = s.states->sizes;
  one[1] = 1;
  s.previous = t.empty(one, s.states->dtype, "aten::zeros_like");
  s.states = t.cat({s.previous, s.states}, 1);
  s.decay_chunk = t.transpose(t.exp(segment_sum(t, pad(t, t.select(a_sums, last), 2, 1, 0))), 1, 3);
  s.fresh = einsum(t, s.decay_chunk, "bzch", s.states, "bzhpn", "bchpn");
  s.states = t.slice(s.fresh, 1, 0, s.fresh->sizes[1] - 1);
  return s;
}

}  // namespace

Tensor chunk_scan(Torch& t, const ChunkScanInputs& in) {
  const Dims sizes = in.hidden->sizes;
  const std::int64_t padding = (in.chunk - sizes[1] % in.chunk) % in.chunk;
  Tensor dt = t.add(in.dt, t.to(in.dt_bias, in.dt->dtype));
  dt = t.softplus(dt);
  dt = t.clamp(dt);
  Chunks x = chunks_of(t, in, dt, padding);
  x.a = t.permute(x.a, {0, 3, 1, 2});
  const Tensor a_sums = cumsum(t, x.a, 3);
  const Tensor l = t.exp(segment_sum(t, x.a));
  const Tensor g = einsum(t, x.c, "bclhn", x.b, "bcshn", "bclsh");
  const Tensor m = t.mul(g, t.permute(l, {0, 2, 3, 4, 1}));
  const Tensor diagonal = einsum(t, m, "bclsh", x.hidden, "bcshp", "bclhp");
  const States s = states_of(t, x, a_sums);
  const Tensor decay_out = t.exp(a_sums);
  const Tensor read = einsum(t, x.c, "bclhn", s.states, "bchpn", "bclhp");
  const Tensor off = t.mul(read, t.unsqueeze(t.permute(decay_out, {0, 2, 3, 1}), 4));
  Tensor out = t.contiguous(t.add(diagonal, off));
  out = t.reshape(out, {sizes[0], -1, sizes[2], sizes[3]});
  out = t.add(out, x.residual);
  return padding > 0 ? t.slice(out, 1, 0, sizes[1]) : out;
}

}  // namespace oomplan::estimator
