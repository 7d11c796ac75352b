#include "modules/packed_attention.hpp"

#include <algorithm>
#include <array>

#include "modules/attention_core.hpp"
#include "modules/vision.hpp"
#include "torch/flash.hpp"
#include "torch/stacking.hpp"

namespace oomplan::estimator {
namespace {

constexpr AttentionKind whole_picture{.causal = false, .pictures = true};

/// What the kernel of sdp_utils.cpp keeps and takes for one piece; the figures of torch/attention.cpp.
struct Kernel {
  bool flash = false;
  const char* forward = "";
  const char* backward = "";
};

Kernel kernel_of(const Tensor& q) {
  if (bytes_of(q->dtype) == 2) {
    return {true, "aten::_scaled_dot_product_flash_attention", "aten::_scaled_dot_product_flash_attention_backward"};
  }
  return {false, "aten::_scaled_dot_product_efficient_attention",
          "aten::_scaled_dot_product_efficient_attention_backward"};
}

std::int64_t groups_of(const Tensor& q, const Tensor& k) {
  return q->sizes[1] / std::max<std::int64_t>(k->sizes[1], 1);
}

/// A backward call's own memory, gone before the next piece's.
void work_on_longest(Torch& t, const Tensor& q, const Tensor& k, std::int64_t longest) {
  const Kernel kernel = kernel_of(q);
  const std::int64_t heads = q->sizes[1];
  const std::int64_t d = q->sizes[3];
  if (!kernel.flash) {
    const Tensor delta = t.empty({1, heads, longest}, DType::fp32, kernel.backward);
    return;
  }
  const std::int64_t padded = up_to(longest, 128);
  const Tensor softmax_d = t.empty({1, heads, padded}, DType::fp32, kernel.backward);
  const Tensor sum = t.empty({1, padded, heads, flash_head(d)}, DType::fp32, kernel.backward);
  if (groups_of(q, k) == 1) return;
  const Tensor of_keys = t.empty({1, longest, heads, d}, q->dtype, kernel.backward);
  const Tensor of_values = t.empty({1, longest, heads, d}, q->dtype, kernel.backward);
}

/// torch.split's backward puts the pieces' gradients of one projection together, v's first.
void put_together(Torch& t, std::array<Tensor, 3>& parts, Grads& g) {
  for (int i = 2; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    const Dims& s = parts[at]->sizes;
    g.out[at] = t.transpose(t.empty({1, s[2], s[1], s[3]}, parts[at]->dtype, "aten::cat"), 1, 2);
    parts[at].reset();
  }
}

// The pieces' gradients are all there before they are put together.
void pieces_backward(Torch& t, Node& n, Grads& g) {
  const Tensor q = t.unpack(n, 0);
  const Tensor k = t.unpack(n, 1);
  const Tensor v = t.unpack(n, 2);
  const char* op = kernel_of(q).backward;
  std::array<Tensor, 3> parts{};
  {
    const Tensor out = t.unpack(n, 3);
    const Tensor lse = t.unpack(n, 4);
    const Tensor seeds = t.unpack(n, 5);
    for (std::size_t i = 0; i < 3; ++i) parts[i] = t.empty((i == 0 ? q : k)->sizes, q->dtype, op);
    work_on_longest(t, q, k, n.ints[0]);
  }
  put_together(t, parts, g);
}

Tensor fused(Torch& t, const Tensor& query, const Tensor& key, const Tensor& value, const std::vector<Pieces>& pieces) {
  const Tensor q = t.lowered(query);
  const Tensor k = t.lowered(key);
  const Tensor v = t.lowered(value);
  const Kernel kernel = kernel_of(q);
  NodeRef node = t.record("PiecesBackward", {&q, &k, &v}, pieces_backward);
  std::int64_t count = 0;
  std::int64_t longest = 0;
  std::int64_t sums = 0;  // Of exponents, in fp32.
  for (const Pieces& p : pieces) {
    count += p.count;
    longest = std::max(longest, p.length);
    const std::int64_t rows = kernel.flash ? p.length : node ? up_to(p.length, 32) : 0;
    sums = saturating_add(sums, saturating_mul(p.count, up_to(saturating_mul(q->sizes[1], rows), 128)));
  }
  if (node) node->ints[0] = longest;
  t.save(node, 0, q);
  t.save(node, 1, k);
  t.save(node, 2, v);
  const Dims rows{1, q->sizes[2], q->sizes[1], q->sizes[3]};
  const Tensor outs = t.empty(rows, q->dtype, kernel.forward);
  const Tensor lse = t.empty({sums}, DType::fp32, kernel.forward);
  const Tensor seeds = t.empty({saturating_mul(count, 1024)}, DType::uint8, kernel.forward);  // Two, of 512 bytes.
  t.save_output(node, 3, outs);
  t.save_output(node, 4, lse);
  t.save_output(node, 5, seeds);
  return t.attach(node, t.empty(rows, q->dtype, "aten::cat"));
}

/// The product of one piece and its multiple, which Python has a name for until the piece's weights take it.
Tensor score(Torch& t, const Dims& square, DType dtype) {
  const Tensor product = t.empty(square, dtype, "aten::bmm");
  return t.empty(square, dtype, "aten::mul");
}

/// Pieces go one after the other, and what one kept goes when it is done with. Where there is one only that counts.
void eager_backward(Torch& t, Node& n, Grads& g) {
  const Tensor q = t.unpack(n, 0);
  const Tensor k = t.unpack(n, 1);
  const Tensor v = t.unpack(n, 2);
  const Dims& queries = n.dims;
  const DType dtype = g.in[0]->dtype;
  const Dims square{queries[1], n.ints[0], n.ints[0]};
  const bool alone = n.ints[1] == 1;
  const std::int64_t groups = n.ints[3];
  const DType of_softmax = n.ints[2] != 0 ? DType::fp32 : dtype;
  const auto let_go = [&](int slot, Tensor& held) {
    if (!alone) return;
    held.reset();
    n.saved[static_cast<std::size_t>(slot)].clear();
  };
  std::array<Tensor, 3> parts{};
  {
    Tensor probabilities = t.unpack(n, 3);
    Tensor weights = t.unpack(n, 4);
    InBucket scores(t, Bucket::attention_scores);
    Dims keys = queries;
    keys[1] /= groups;
    // Of each head of the queries, summed over those that share one (repeat_kv), when the piece's scores are done.
    const Dims repeated{1, queries[1], n.ints[0], queries[3]};
    const Tensor wide_values = groups == 1 ? Tensor{} : t.empty(repeated, dtype, "aten::bmm");
    if (groups == 1 || !alone) parts[2] = t.empty(keys, dtype, "aten::bmm");
    Tensor of_weights = t.empty(square, dtype, "aten::bmm");
    let_go(4, weights);
    Tensor raised = t.to(of_weights, DType::fp32);
    of_weights.reset();
    Tensor of_scores = t.softmax_backward(square, of_softmax);
    raised.reset();
    let_go(3, probabilities);
    of_scores = t.to(of_scores, dtype);
    of_scores = t.empty(square, dtype, "aten::mul");
    parts[0] = t.empty(queries, dtype, "aten::bmm");
    const Tensor wide_keys = groups == 1 ? Tensor{} : t.empty(repeated, dtype, "aten::bmm");
    of_scores.reset();
    if (!parts[2]) parts[2] = t.empty(keys, dtype, "aten::sum");
    parts[1] = t.empty(keys, dtype, groups == 1 ? "aten::bmm" : "aten::sum");
  }
  put_together(t, parts, g);
}

/// What a product needs of one factor it keeps for the other's gradient: of the first layer that has an adapter, a
/// projection may need none.
void save_for_products(Torch& t, const NodeRef& node, const Tensor& q, const Tensor& keys, const Tensor& values) {
  if (!node) return;
  node->dims = q->sizes;
  const bool of_scores = node->needs(0) || node->needs(1);
  if (node->needs(1)) t.save(node, 0, q);
  if (node->needs(0)) t.save(node, 1, keys);
  if (of_scores) t.save(node, 2, values);
}

/// Eager attention: a softmax in fp32 and what the values are multiplied by are kept of each piece.
Tensor eager(Torch& t, const Tensor& query, const Tensor& key, const Tensor& value, const std::vector<Pieces>& pieces) {
  const Tensor q = t.lowered(query);
  const Tensor k = t.lowered(key);
  const Tensor v = t.lowered(value);
  const std::int64_t groups = groups_of(q, k);
  NodeRef node = t.record("EagerPiecesBackward", {&q, &k, &v}, eager_backward);
  std::int64_t count = 0;
  std::int64_t longest = 0;
  std::int64_t squares = 0;
  for (const Pieces& p : pieces) {
    count = saturating_add(count, p.count);
    longest = std::max(longest, p.length);
    squares = saturating_add(squares, saturating_mul(p.count, saturating_mul(p.length, p.length)));
  }
  if (node) {
    node->ints[0] = longest;
    node->ints[1] = count;
    node->ints[3] = groups;
    node->ints[2] = t.autocast() ? 1 : 0;  // Which takes the softmax in fp32 of scores that are cast before it.
  }
  const Dims last{q->sizes[1], longest, longest};
  // Where nothing is kept for backward, one piece's are gone before the next's.
  const Dims kept = node ? Dims{q->sizes[1], squares} : Dims{q->sizes[1], longest, longest};
  // Keys and values of each head of the queries, which are what is kept then.
  const Dims wide = node ? q->sizes : Dims{1, q->sizes[1], longest, q->sizes[3]};
  const Tensor keys = groups == 1 ? k : t.empty(wide, k->dtype, "aten::clone");
  const Tensor values = groups == 1 ? v : t.empty(wide, v->dtype, "aten::clone");
  save_for_products(t, node, q, keys, values);
  // Of the pieces before the last.
  const Tensor outs = t.empty({1, q->sizes[2] - longest, q->sizes[1], q->sizes[3]}, q->dtype, "aten::clone");
  Tensor last_out;
  {
    InBucket scores(t, Bucket::attention_scores);
    Tensor scaled = score(t, last, q->dtype);
    Tensor raised = q->dtype == DType::fp32 ? Tensor{} : t.empty(last, DType::fp32, "aten::_to_copy");
    const Tensor probabilities = t.empty(kept, DType::fp32, "aten::_softmax");
    raised.reset();
    const Tensor weights = q->dtype == DType::fp32 ? probabilities : t.empty(kept, q->dtype, "aten::_to_copy");
    if (node && (node->needs(0) || node->needs(1))) t.save_output(node, 3, probabilities);
    if (node && node->needs(2)) t.save_output(node, 4, weights);
    scaled.reset();
    last_out = t.empty({1, longest, q->sizes[1], q->sizes[3]}, q->dtype, "aten::clone");
  }
  return t.attach(node, t.empty({1, q->sizes[2], q->sizes[1], q->sizes[3]}, q->dtype, "aten::cat"));
}

/// PyTorch's math kernel, which alone takes grouped heads in fp32, piece by piece.
Tensor one_by_one(Torch& t, const Tensor& q, const Tensor& k, const Tensor& v, const std::vector<Pieces>& pieces) {
  std::vector<Tensor> outs;
  std::int64_t start = 0;
  for (const Pieces& p : pieces) {
    for (std::int64_t i = 0; i < p.count; ++i, start += p.length) {
      const auto part = [&](const Tensor& x) { return t.slice(x, 2, start, p.length); };
      const Tensor out = t.attention(part(q), part(k), part(v), {}, 0.0, false, true);
      outs.push_back(t.contiguous(t.transpose(out, 1, 2)));
    }
  }
  return cat_all(t, outs, 1);
}

}  // namespace

Tensor attend_in_pieces(Play& play, Stream& s, const Tensor& q, const Tensor& k, const Tensor& v,
                        const std::vector<Pieces>& pieces) {
  // One call of flash-attn's varlen function, whatever the pieces.
  if (play.facts.attention == Attention::flash_attention_2) return attend(play, s, q, k, v, whole_picture);
  if (play.facts.attention == Attention::eager) return eager(play.torch, q, k, v, pieces);
  const bool in_fp32 = bytes_of(play.torch.autocast().value_or(q->dtype)) == 4;
  if (groups_of(q, k) > 1 && in_fp32) return one_by_one(play.torch, q, k, v, pieces);
  return fused(play.torch, q, k, v, pieces);
}

Tensor attend_one_by_one(Play& play, Stream& s, Tensor& q, Tensor& k, Tensor& v, std::vector<Pieces> of_one) {
  Torch& t = play.torch;
  for (Tensor* one : {&q, &k, &v}) *one = t.unsqueeze(t.transpose(*one, 0, 1), 0);
  for (Pieces& p : of_one) p.count = saturating_mul(p.count, tiles_of(play.facts));
  return attend_in_pieces(play, s, q, k, v, of_one);
}

}  // namespace oomplan::estimator
