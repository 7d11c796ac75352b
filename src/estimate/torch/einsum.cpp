#include "torch/einsum.hpp"

#include <array>
#include <string>
#include <vector>

namespace oomplan::estimator {
namespace {

/// The operand with a dimension for each of `letters`, in their order; 1 where it has none.
Tensor aligned(Torch& t, Tensor x, std::string_view own, std::string_view letters) {
  Dims order;
  int next = x->dim();
  for (std::size_t i = own.size(); i < letters.size(); ++i) x = t.unsqueeze(x, x->dim());
  for (const char letter : letters) {
    const std::size_t at = own.find(letter);
    order.push(at == std::string_view::npos ? next++ : static_cast<std::int64_t>(at));
  }
  return t.permute(x, order);
}

/// Of two aligned operands: the dimensions that both have, those of the left and those of the right.
struct Split {
  std::vector<int> both{};
  std::vector<int> left{};
  std::vector<int> right{};
};

Split split_of(const Tensor& left, const Tensor& right, int summed) {
  Split out;
  for (int i = 0; i < left->dim(); ++i) {
    if (i == summed) continue;
    const bool of_left = left->sizes[i] != 1;
    const bool of_right = right->sizes[i] != 1;
    (of_left && of_right ? out.both : of_left ? out.left : out.right).push_back(i);
  }
  return out;
}

void append(Dims& order, const std::vector<int>& dims) {
  for (const int d : dims) order.push(d);
}

std::int64_t size_of(const Tensor& x, const std::vector<int>& dims) {
  std::int64_t out = 1;
  for (const int d : dims) out = saturating_mul(out, x->sizes[d]);
  return out;
}

/// The factor as a batch of matrices: its dimensions in the order of four lists.
Tensor as_matrices(Torch& t, const Tensor& x, const std::vector<int>& both, const std::array<std::vector<int>, 3>& rest,
                   const Dims& sizes) {
  Dims order;
  append(order, both);
  for (const std::vector<int>& dims : rest) append(order, dims);
  return t.reshape(t.permute(x, order), sizes);
}

Tensor product(Torch& t, const Tensor& left, const Tensor& right, int summed, const Split& s) {
  const std::int64_t batch = size_of(left, s.both);
  const std::int64_t sum = left->sizes[summed];
  const std::vector<int> over{summed};
  const Tensor a = as_matrices(t, left, s.both, {s.left, over, s.right}, {batch, size_of(left, s.left), sum});
  const Tensor b = as_matrices(t, right, s.both, {over, s.right, s.left}, {batch, sum, size_of(right, s.right)});
  return t.bmm(a, b);
}

/// sumproduct_pair without the summed dimension.
Tensor contracted(Torch& t, const Tensor& left, const Tensor& right, int summed) {
  const Split s = split_of(left, right, summed);
  Dims sizes;
  Dims place;
  for (int i = 0; i < left->dim(); ++i) place.push(0);
  const auto add = [&](int dim, std::int64_t size) {
    place[dim] = sizes.size();
    sizes.push(size);
  };
  for (const int d : s.both) add(d, left->sizes[d]);
  for (const int d : s.left) add(d, left->sizes[d]);
  add(summed, 1);
  for (const int d : s.right) add(d, right->sizes[d]);
  const Tensor out = t.permute(t.view(product(t, left, right, summed, s), sizes), place);
  Dims kept = out->sizes;
  kept.erase(summed);
  return t.view(out, kept);
}

/// The last dimension that one operand alone has is to be the right one's.
bool swaps(const Tensor& a, const Tensor& b, std::size_t outs) {
  for (int i = static_cast<int>(outs) - 1; i >= 0; --i) {
    if ((a->sizes[i] == 1) != (b->sizes[i] == 1)) return b->sizes[i] == 1;
  }
  return false;
}

}  // namespace

Tensor einsum(Torch& t, const Tensor& x, std::string_view of_a, const Tensor& y, std::string_view of_b,
              std::string_view out) {
  const Tensor a = t.lowered(x);
  const Tensor b = t.lowered(y);
  std::string letters(out);
  for (const char letter : of_a) {
    if (out.find(letter) == std::string_view::npos) letters += letter;
  }
  const Tensor left = aligned(t, a, of_a, letters);
  const Tensor right = aligned(t, b, of_b, letters);
  const int summed = static_cast<int>(out.size());
  return swaps(left, right, out.size()) ? contracted(t, right, left, summed) : contracted(t, left, right, summed);
}

}  // namespace oomplan::estimator
