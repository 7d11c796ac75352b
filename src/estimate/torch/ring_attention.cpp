// Ring attention, which torch's context_parallel puts in the place of scaled_dot_product_attention (torch 2.13:
// torch/distributed/tensor/experimental/_context_parallel/_attention.py): in each step the flash kernel takes the keys
// and values of one rank, and what it returns is merged in fp32. Rows lie on ranks by heads and tails
// (_HeadTailLoadBalancer), so that a step has half of the keys where they are of a rank before this one, and half of
// the queries where they are of one behind it.
#include <utility>

#include "torch/flash.hpp"
#include "torch/torch.hpp"

namespace oomplan::estimator {
namespace {

constexpr int rows_dim = 2;  // Of batch × heads × length × width.

Tensor half(Torch& t, const Tensor& x, std::int64_t which) {
  const std::int64_t length = x->sizes[rows_dim] / 2;
  return t.slice(x, rows_dim, which * length, length);
}

/// Keys and values, or their gradients, side by side in one row.
struct Pair {
  Tensor keys{};
  Tensor values{};
};

Tensor joined(Torch& t, const Pair& pair) {
  const Tensor keys = t.reshape(pair.keys, {-1});
  const Tensor values = t.reshape(pair.values, {-1});
  return t.empty({saturating_add(keys->sizes[0], values->sizes[0])}, keys->dtype, "aten::cat");
}

/// Views of a row, of the sizes that `like` has.
Pair parted(Torch& t, const Tensor& row, const Pair& like) {
  const std::int64_t keys = like.keys->numel();
  return {t.view(t.slice(row, 0, 0, keys), like.keys->sizes),
          t.view(t.slice(row, 0, keys, like.values->numel()), like.values->sizes)};
}

/// _AllGatherRotater and _AllToAllRotater. What is sent is held until what comes is waited for (ProcessGroupNCCL).
class Rotater {
 public:
  Rotater(Torch& torch, std::int64_t ranks, bool hands_on) : torch_(torch), ranks_(ranks), hands_on_(hands_on) {}

  void exchange(const Tensor& row) {
    if (!hands_on_ && received_) return;
    received_ = hands_on_ ? torch_.empty(row->sizes, row->dtype, "_c10d_functional::all_to_all_single")
                          : torch_.empty({saturating_mul(row->sizes[0], ranks_)}, row->dtype,
                                         "_c10d_functional::all_gather_into_tensor");
    sent_ = row;
  }

  Tensor next() {
    sent_.reset();
    return hands_on_ ? received_ : torch_.slice(received_, 0, 0, received_->sizes[0] / ranks_);
  }

 private:
  Torch& torch_;
  std::int64_t ranks_;
  bool hands_on_;
  Tensor received_{};
  Tensor sent_{};
};

/// What the flash kernel returns.
struct Block {
  Tensor out{};
  Tensor lse{};
  Tensor seed{};
  Tensor unused{};
};

Block flash_block(Torch& t, const Tensor& q) {
  const char* op = "aten::_scaled_dot_product_flash_attention";
  Block block{.out = kernel_output(t, q, q->sizes[3], op)};
  block.lse = t.empty({q->sizes[0], q->sizes[1], q->sizes[2]}, DType::fp32, op);
  block.seed = t.empty({2}, DType::int64, op);
  block.unused = t.empty({}, DType::int64, op);
  return block;
}

/// _partial_update: the half is put behind the other in a copy.
Tensor updated(Torch& t, const Tensor& whole) { return t.empty(whole->sizes, whole->dtype, "aten::cat"); }

/// _SDPAMerger
class Merger {
 public:
  explicit Merger(Torch& torch) : torch_(torch) {}

  void step(const Block& block, bool partial) {
    const Tensor out = torch_.to(block.out, DType::fp32);
    const Tensor lse = torch_.unsqueeze(block.lse, 3);
    if (!out_) {
      out_ = out;
      lse_ = lse;
      return;
    }
    Tensor my_lse = partial ? half(torch_, lse_, 1) : lse_;
    Tensor my_out = merged_out(partial ? half(torch_, out_, 1) : out_, my_lse, out, lse);
    {
      const Tensor falloff = log_sigmoid(my_lse, lse);
      my_lse = torch_.pointwise({&my_lse, &falloff}, DType::fp32, "aten::sub");
    }
    lse_ = partial ? updated(torch_, lse_) : my_lse;
    out_ = partial ? updated(torch_, out_) : my_out;
  }

  Tensor out(DType dtype) const { return torch_.to(out_, dtype); }
  Tensor lse() const { return torch_.squeeze(lse_, 3); }

 private:
  /// out - sigmoid(block_lse - lse) * (out - block_out)
  Tensor merged_out(const Tensor& mine, const Tensor& my_lse, const Tensor& out, const Tensor& lse) const {
    Tensor share;
    {
      Tensor weight = torch_.pointwise({&lse, &my_lse}, DType::fp32, "aten::sub");
      weight = torch_.pointwise({&weight}, DType::fp32, "aten::sigmoid");
      const Tensor difference = torch_.pointwise({&mine, &out}, DType::fp32, "aten::sub");
      share = torch_.pointwise({&weight, &difference}, DType::fp32, "aten::mul");
    }
    return torch_.pointwise({&mine, &share}, DType::fp32, "aten::sub");
  }

  Tensor log_sigmoid(const Tensor& my_lse, const Tensor& lse) const {
    const Tensor difference = torch_.pointwise({&my_lse, &lse}, DType::fp32, "aten::sub");
    return torch_.pointwise({&difference}, DType::fp32, "aten::log_sigmoid_forward");
  }

  Torch& torch_;
  Tensor out_{};
  Tensor lse_{};
};

/// A fused kernel's `contiguous()` of what lies as batch × length × heads × width.
Tensor in_rows(Torch& t, const Tensor& x) { return t.contiguous(t.transpose(x, 1, 2)); }

/// The sums of gradients over the steps, which go around with the keys and values that they are of.
class Gradients {
 public:
  Gradients(Torch& torch, const Ring& ring, const Tensor& q, const Tensor& k, const Tensor& v)
      : torch_(torch), ring_(ring), rotater_(torch, ring.ranks, true), query_(zeros(q)), pair_{zeros(k), zeros(v)} {}

  void add(std::int64_t step) {
    const bool before = step <= ring_.rank;
    if (step > 0) {
      row_ = rotater_.next();
      pair_ = parted(torch_, row_, pair_);
      if (before) {
        pair_.keys = updated(torch_, pair_.keys);
        pair_.values = updated(torch_, pair_.values);
      }
    }
    row_ = joined(torch_, pair_);
    rotater_.exchange(row_);
    if (!before) query_ = updated(torch_, query_);
  }

  Tensor query(DType dtype) { return torch_.to(std::exchange(query_, {}), dtype); }
  Pair pair(DType dtype) {
    row_ = torch_.to(rotater_.next(), dtype);
    return parted(torch_, row_, pair_);
  }

 private:
  Tensor zeros(const Tensor& like) const { return torch_.pointwise({&like}, DType::fp32, "aten::zeros_like"); }

  Torch& torch_;
  Ring ring_;
  Rotater rotater_;
  Tensor query_;
  Pair pair_;
  Tensor row_{};
};

/// The function's variables in one step, which the next step's take the place of.
struct BackwardStep {
  Tensor q{};
  Pair pair{};
  Tensor lse{};
  std::array<Tensor, 3> gradients{};
};

void backward_step(Torch& t, const Tensor& grad_out, const Tensor& out, BackwardStep& step) {
  const Tensor gradient_in_rows = in_rows(t, grad_out);
  const Tensor out_in_rows = in_rows(t, out);
  step.gradients = flash_gradients(t, step.q, step.pair.keys, step.pair.values);
}

void ring_backward(Torch& t, Node& n, Grads& g) {
  const Tensor q = t.unpack(n, 0);
  const Tensor k = t.unpack(n, 1);
  const Tensor v = t.unpack(n, 2);
  const Tensor out = t.unpack(n, 3);
  const Tensor lse = t.unpack(n, 4);
  const Tensor seed = t.unpack(n, 5);
  const Tensor unused = t.unpack(n, 6);
  const Ring& ring = t.ring;
  Gradients gradients(t, ring, q, k, v);
  Pair pair{t.contiguous(k), t.contiguous(v)};
  Rotater rotater(t, ring.ranks, ring.hands_on);
  Tensor came;
  Tensor sent;
  BackwardStep step;
  for (std::int64_t i = 0; i < ring.ranks; ++i) {
    if (i > 0) {
      came = rotater.next();
      pair = parted(t, came, pair);
    }
    if (i + 1 < ring.ranks) {
      sent = joined(t, pair);
      rotater.exchange(sent);
    }
    const bool behind = i > ring.rank;
    step.lse = behind ? t.contiguous(half(t, lse, 1)) : lse;
    step.q = behind ? half(t, q, 1) : q;
    step.pair = i == 0 || behind ? pair : Pair{half(t, pair.keys, 0), half(t, pair.values, 0)};
    backward_step(t, behind ? half(t, g.in[0], 1) : g.in[0], behind ? half(t, out, 1) : out, step);
    gradients.add(i);
  }
  g.out[0] = gradients.query(q->dtype);
  Pair last = gradients.pair(k->dtype);
  g.out[1] = std::move(last.keys);
  g.out[2] = std::move(last.values);
}

/// The steps of the forward pass, which leave what the last one made.
Block ring_forward(Torch& t, const Tensor& q, const Tensor& k, const Tensor& v) {
  const Ring& ring = t.ring;
  Pair pair{t.contiguous(k), t.contiguous(v)};
  Pair taken;  // Of the step before, until the next one's arguments take their names.
  Rotater rotater(t, ring.ranks, ring.hands_on);
  Merger merger(t);
  Block block;
  for (std::int64_t i = 0; i < ring.ranks; ++i) {
    if (i > 0) pair = parted(t, rotater.next(), pair);
    if (i + 1 < ring.ranks) rotater.exchange(joined(t, pair));
    const bool behind = i > ring.rank;
    taken = pair;
    block = flash_block(t, behind ? half(t, q, 1) : q);
    merger.step(block, behind);
  }
  block.out = merger.out(q->dtype);
  block.lse = merger.lse();
  return block;
}

}  // namespace

Tensor Torch::ring_flash(const Tensor& q, const Tensor& k, const Tensor& v) {
  use_kernel("flash", "flash attention");
  const NodeRef node = record("ScaledDotProductFlashAttentionBackward0", {&q, &k, &v}, ring_backward);
  save(node, 1, k);
  save(node, 0, q);
  save(node, 2, v);
  Block block;
  {
    Restore no_grad(grad_enabled, false);
    block = ring_forward(*this, q, k, v);
  }
  save_output(node, 4, block.lse);
  save_output(node, 3, block.out);
  save_output(node, 5, block.seed);
  save_output(node, 6, block.unused);
  return attach(node, std::move(block.out));
}

}  // namespace oomplan::estimator
