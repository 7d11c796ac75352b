// Qwen3VLTextModel._deepstack_process: features of one of the tower's earlier layers are added to the tokens that stand
// for images, in a copy of a layer's output.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

/// x[mask, :] of so many rows; the mask becomes an index of them on the way.
Tensor rows_at(Torch& t, const Tensor& x, const Tensor& mask, std::int64_t rows) {
  NodeRef node = t.record("IndexBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    g.out[0] = torch.zeros(n.dims, g.in[0]->dtype);
    torch.empty({n.ints[0], 2}, DType::int64, "aten::nonzero");
  });
  if (node) {
    node->dims = x->sizes;
    node->ints[0] = rows;
  }
  t.save(node, 0, mask);
  const Tensor index = t.empty({rows, 2}, DType::int64, "aten::nonzero");
  return t.attach(node, t.empty({rows, x->sizes.back()}, x->dtype, "aten::index"));
}

/// x[mask, :] = values
Tensor put_at(Torch& t, const Tensor& x, const Tensor& mask, const Tensor& values) {
  NodeRef node = t.record("IndexPutBackward0", {&x, &values}, [](Torch& torch, Node& n, Grads& g) {
    const DType dtype = g.in[0]->dtype;
    if (n.needs(0)) {
      const Tensor zeros = torch.zeros(n.dims, dtype);
      g.out[0] = torch.empty(g.in[0]->sizes, dtype, "aten::clone");
      torch.empty({n.dims[0], 2}, DType::int64, "aten::nonzero");
    }
    if (!n.needs(1)) return;
    const Tensor index = torch.empty({n.dims[0], 2}, DType::int64, "aten::nonzero");
    g.out[1] = torch.empty(n.dims, dtype, "aten::index");
  });
  if (node) node->dims = values->sizes;
  t.save(node, 0, mask);
  t.empty({values->sizes[0], 2}, DType::int64, "aten::nonzero");
  return t.attach(node, x);
}

class AddDeepFeatures final : public Module {
 public:
  AddDeepFeatures(const Attributes&, Builder& b) : number_(static_cast<std::size_t>(b.first_layer)) {}

  void forward(Play& play, Stream& s) const override {
    if (number_ >= s.seen.deep.size()) return;
    Torch& t = play.torch;
    s.layer_output = s.hidden;
    const Tensor features = t.to(s.seen.deep[number_], s.hidden->dtype);
    const Tensor mask = t.squeeze(s.seen.mask, 2);
    const Tensor copy = t.clone(s.hidden);
    const Tensor added = t.add(rows_at(t, copy, mask, features->sizes[0]), features);
    s.hidden = put_at(t, copy, mask, added);
  }

 private:
  std::size_t number_;  ///< Of the features, those of the tower's earliest layer first.
};

}  // namespace

extern const OpType add_deep_features;
const OpType add_deep_features{"add_deep_features", make_module<AddDeepFeatures>};

}  // namespace oomplan::estimator::ops
