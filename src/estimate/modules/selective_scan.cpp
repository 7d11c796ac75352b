#include "modules/selective_scan.hpp"

#include "torch/loops.hpp"
#include "torch/stacking.hpp"

namespace oomplan::estimator {
namespace {

/// A and B for the whole row, each batch × channels × length × state.
struct Discrete {
  Tensor a{};
  Tensor b{};
  Tensor b_times_u{};
};

Discrete discretized(Torch& t, const ScanInputs& in, const Tensor& dt) {
  Discrete out;
  const Tensor a = t.unsqueeze(t.unsqueeze(in.a, 0), 2);
  out.a = t.exp(t.mul(a, t.unsqueeze(dt, 3)));
  {
    const Tensor by_token = t.unsqueeze(dt, 3);
    out.b = t.mul(by_token, t.to(t.unsqueeze(in.b, 1), DType::fp32));
  }
  out.b_times_u = t.mul(out.b, t.to(t.unsqueeze(in.hidden, 3), DType::fp32));
  return out;
}

/// ssm_state = discrete_A[:, :, index] * ssm_state + deltaB_u[:, :, index]
Tensor next_state(Torch& t, const Discrete& discrete, const Tensor& state) {
  const Tensor kept = t.mul(t.select(discrete.a, 2), state);
  return t.add(kept, t.select(discrete.b_times_u, 2));
}

/// torch.matmul(ssm_state.to(input_dtype), C[:, index, :].unsqueeze(-1))
Tensor read_state(Torch& t, const Tensor& state, const Tensor& c, DType dtype) {
  const Tensor low = t.to(state, dtype);
  return t.matmul(low, t.unsqueeze(t.select(c, 1), 2));
}

/// The recurrence; what the Python list holds is alive until the function returns, as is the last state.
std::vector<Tensor> outputs(Torch& t, const ScanInputs& in, const Discrete& discrete, Tensor& state) {
  const Dims& sizes = discrete.a->sizes;
  const DType dtype = in.hidden->dtype;
  std::vector<Tensor> out;
  state = t.zeros({sizes[0], sizes[1], sizes[3]}, dtype);
  play_turns(t, sizes[2], [&](std::int64_t) {
    state = next_state(t, discrete, state);
    out.push_back(t.select(read_state(t, state, in.c, dtype), 2));
  });
  return out;
}

}  // namespace

Tensor selective_scan(Torch& t, const ScanInputs& in) {
  ScanInputs stepped = in;
  stepped.dt = t.add(in.dt, t.unsqueeze(t.to(in.dt_bias, in.dt->dtype), 1));
  stepped.dt = t.softplus(stepped.dt);
  return scan_tokens(t, stepped);
}

Tensor scan_tokens(Torch& t, const ScanInputs& in) {
  const Discrete discrete = discretized(t, in, in.dt);
  Tensor state;
  std::vector<Tensor> parts = outputs(t, in, discrete, state);
  Tensor out = stack_last(t, parts, in.hidden->sizes[2]);
  out = t.add(out, t.mul(in.hidden, t.unsqueeze(t.unsqueeze(in.d, 0), 2)));
  out = t.mul(out, t.silu(in.z));
  play_turns(t, in.hidden->sizes[2], [&](std::int64_t i) { parts[static_cast<std::size_t>(i)].reset(); });
  return out;
}

Tensor project_channels(Torch& t, const Tensor& w, const Tensor& x) {
  const Tensor input = t.lowered(x);
  const Tensor weight = t.lowered(w);
  const Tensor rows = t.transpose(input, 1, 2);
  const Tensor product = t.mm(t.reshape(rows, {-1, rows->sizes[2]}), t.t(weight));
  const Tensor out = t.unsafe_view(product, {rows->sizes[0], rows->sizes[1], weight->sizes[0]});
  return t.contiguous(t.transpose(out, 1, 2));
}

}  // namespace oomplan::estimator
