// torch/optim (2.13), transformers/optimization.py (5.23), bitsandbytes/optim/optimizer.py.
#include "optimizer.hpp"

#include <array>
#include <type_traits>

namespace oomplan::estimator {
namespace {

/// Work on one parameter belongs to the layer that owns it.
class InLayerOf {
 public:
  InLayerOf(Torch& torch, const Tensor& p) : scope_(torch.recorder.scope, torch.recorder.scope) {
    torch.recorder.scope.layer = p->layer;
    torch.recorder.scope.module = p->module;
  }

 private:
  Restore<Scope> scope_;
};

Tensor state(Torch& t, const Dims& sizes, DType dtype, const char* op) {
  Tensor s = t.empty(sizes, dtype, op);
  t.recorder.at(s->storage).bucket = Bucket::optimizer;
  return s;
}

template <class F>
void for_each_trained(Torch& t, const std::vector<Tensor>& parameters, F&& f) {
  std::size_t i = 0;
  for (const Tensor& p : parameters) {
    if (!p->grad) continue;
    const InLayerOf layer(t, p);
    f(i++, p);
  }
}

enum class AdamLoop { foreach, for_each, fused };

/// torch.optim.AdamW. State in the parameter's dtype; foreach takes the square root of all second moments at once.
template <AdamLoop loop>
class AdamW final : public Optimizer {
 public:
  void step(Torch& t, const std::vector<Tensor>& parameters) override {
    if (state_.empty()) create(t, parameters);
    if constexpr (loop == AdamLoop::foreach) {
      std::vector<Tensor> roots;
      for_each_trained(t, parameters, [&](std::size_t, const Tensor& p) {
        roots.push_back(t.empty_strided(p->sizes, p->strides, p->dtype, "aten::_foreach_sqrt"));
      });
      for_each_trained(t, parameters, [&](std::size_t i, const Tensor&) { roots[i].reset(); });
    }
    if constexpr (loop == AdamLoop::for_each) {
      Tensor denominator;  // Python's name keeps the last parameter's until the next one's is made.
      for_each_trained(t, parameters, [&](std::size_t, const Tensor& p) {
        Tensor root = t.empty_strided(p->sizes, p->strides, p->dtype, "aten::sqrt");
        Tensor quotient = t.empty_strided(p->sizes, p->strides, p->dtype, "aten::div");
        root.reset();
        denominator = std::move(quotient);
      });
    }
  }

 private:
  void create(Torch& t, const std::vector<Tensor>& parameters) {
    for_each_trained(t, parameters, [&](std::size_t, const Tensor& p) {
      if constexpr (loop == AdamLoop::fused) state_.push_back(state(t, {}, DType::fp32, "aten::zeros"));
      state_.push_back(state(t, p->sizes, p->dtype, "aten::zeros_like"));
      state_.push_back(state(t, p->sizes, p->dtype, "aten::zeros_like"));
    });
  }

  std::vector<Tensor> state_{};
};

/// torch.optim.SGD, with momentum or without.
template <bool momentum>
class Sgd final : public Optimizer {
 public:
  void step(Torch& t, const std::vector<Tensor>& parameters) override {
    if (!momentum || !state_.empty()) return;
    for_each_trained(t, parameters, [&](std::size_t, const Tensor& p) {
      state_.push_back(state(t, p->sizes, p->dtype, "aten::clone"));
    });
  }

 private:
  std::vector<Tensor> state_{};
};

/// Optimizer8bit.get_state_buffer: a paged optimizer's state of a tensor that is not small is managed memory
/// (F.get_paged: cudaMallocManaged), filled and prefetched without a copy. The scales beside it are ordinary tensors.
Tensor state_buffer(Torch& t, const Tensor& p, DType dtype, bool paged) {
  constexpr std::int64_t smallest_paged = 100'000;
  Tensor s = state(t, p->sizes, dtype, "bitsandbytes::state");
  if (paged && p->numel() >= smallest_paged) t.recorder.at(s->storage).bucket = Bucket::paged;
  return s;
}

/// bitsandbytes' blockwise 8-bit AdamW: two bytes an element and an fp32 scale a block of 256 for each; small tensors
/// and, where asked for, embeddings keep fp32 state.
template <bool paged>
class AdamW8bit final : public Optimizer {
 public:
  explicit AdamW8bit(bool fp32_embeddings) : fp32_embeddings_(fp32_embeddings) {}

  void step(Torch& t, const std::vector<Tensor>& parameters) override {
    if (!state_.empty()) return;
    bool mapped = false;
    for_each_trained(t, parameters, [&](std::size_t, const Tensor& p) {
      const std::int64_t n = p->numel();
      if (n < smallest || (fp32_embeddings_ && p->embedding)) {
        for (int i = 0; i < 2; ++i) state_.push_back(state_buffer(t, p, DType::fp32, paged));
        return;
      }
      if (!std::exchange(mapped, true)) {
        for (int i = 0; i < 2; ++i) state_.push_back(state(t, {256}, DType::fp32, "bitsandbytes::qmap"));
      }
      for (int i = 0; i < 2; ++i) state_.push_back(state_buffer(t, p, DType::uint8, paged));
      const Dims blocks{divided_up(n, block)};
      for (int i = 0; i < 2; ++i) state_.push_back(state(t, blocks, DType::fp32, "bitsandbytes::absmax"));
    });
  }

 private:
  static constexpr std::int64_t smallest = 4096;
  static constexpr std::int64_t block = 256;
  bool fp32_embeddings_;
  std::vector<Tensor> state_{};
};

/// bitsandbytes' paged AdamW with 32-bit state, whatever the parameter's dtype.
class PagedAdamW32bit final : public Optimizer {
 public:
  void step(Torch& t, const std::vector<Tensor>& parameters) override {
    if (!state_.empty()) return;
    for_each_trained(t, parameters, [&](std::size_t, const Tensor& p) {
      for (int i = 0; i < 2; ++i) state_.push_back(state_buffer(t, p, DType::fp32, true));
    });
  }

 private:
  std::vector<Tensor> state_{};
};

/// transformers' Adafactor without first moment, one parameter after the other. Python's names outlive a loop's pass,
/// so the last gradient copy, parameter copy and update stay alive until the next replaces them.
class Adafactor final : public Optimizer {
 public:
  void step(Torch& t, const std::vector<Tensor>& parameters) override {
    const bool first = rows_.empty();
    Locals l;
    for_each_trained(t, parameters, [&](std::size_t i, const Tensor& p) {
      l.grad = t.to(p->grad, DType::fp32);
      if (first) create(t, p);
      l.weight = t.to(p, DType::fp32);
      rms_[i] = root_mean_square(t, l.weight);
      t.recorder.at(rms_[i]->storage).bucket = Bucket::optimizer;
      Tensor squared = t.pointwise({&l.grad}, DType::fp32, "aten::pow");
      Tensor sum = t.pointwise({&l.grad}, DType::fp32, "aten::add");
      squared.reset();
      l.update = std::move(sum);
      if (columns_[i]) {
        l.update = factored(t, rows_[i], columns_[i]);
      } else {
        l.update = t.pointwise({&rows_[i]}, DType::fp32, "aten::rsqrt");
      }
      root_mean_square(t, l.update);
      t.pointwise({&l.update}, DType::fp32, "aten::neg");
    });
  }

 private:
  struct Locals {
    Tensor grad{}, weight{}, update{};
  };

  static Tensor root_mean_square(Torch& t, const Tensor&) {
    const Tensor norm = t.empty({}, DType::fp32, "aten::linalg_vector_norm");
    return t.div_scalar(norm);
  }

  static Tensor factored(Torch& t, const Tensor& row, const Tensor& column) {
    const Tensor r = t.div_scalar(row);
    const Tensor c = t.pointwise({&column}, DType::fp32, "aten::rsqrt");
    Dims sizes = row->sizes;
    sizes.push(column->sizes.back());
    return t.empty(sizes, DType::fp32, "aten::mul");
  }

  void create(Torch& t, const Tensor& p) {
    rms_.emplace_back();
    if (p->dim() < 2) {
      rows_.push_back(state(t, p->sizes, DType::fp32, "aten::zeros_like"));
      columns_.emplace_back();
      return;
    }
    Dims row = p->sizes;
    row.erase(row.size() - 1);
    Dims column = p->sizes;
    column.erase(column.size() - 2);
    rows_.push_back(state(t, row, DType::fp32, "aten::_to_copy"));
    columns_.push_back(state(t, column, DType::fp32, "aten::_to_copy"));
  }

  std::vector<Tensor> rows_{};  ///< Of a matrix the rows' second moments, of a vector all of them.
  std::vector<Tensor> columns_{};
  std::vector<Tensor> rms_{};
};

struct Row {
  std::string_view name;
  std::unique_ptr<Optimizer> (*make)(bool fp32_embeddings);
};

template <class O>
std::unique_ptr<Optimizer> make(bool fp32_embeddings) {
  if constexpr (std::is_constructible_v<O, bool>) {
    return std::make_unique<O>(fp32_embeddings);
  } else {
    return std::make_unique<O>();
  }
}

constexpr std::array<Row, 9> optimizers{{
    {"adamw_foreach", make<AdamW<AdamLoop::foreach>>},
    {"adamw_for_each", make<AdamW<AdamLoop::for_each>>},
    {"adamw_fused", make<AdamW<AdamLoop::fused>>},
    {"adamw_8bit", make<AdamW8bit<false>>},
    {"paged_adamw_8bit", make<AdamW8bit<true>>},
    {"paged_adamw_32bit", make<PagedAdamW32bit>},
    {"sgd", make<Sgd<false>>},
    {"sgd_momentum", make<Sgd<true>>},
    {"adafactor", make<Adafactor>},
}};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(std::string_view name, bool fp32_embeddings) {
  for (const Row& row : optimizers) {
    if (row.name == name) return row.make(fp32_embeddings);
  }
  return nullptr;
}

std::vector<std::string_view> known_optimizers() {
  std::vector<std::string_view> names;
  for (const Row& row : optimizers) names.push_back(row.name);
  return names;
}

void clip_gradients(Torch& t, const std::vector<Tensor>& parameters) {
  std::vector<Tensor> norms;
  for_each_trained(t, parameters, [&](std::size_t, const Tensor& p) {
    norms.push_back(t.empty({}, p->grad->dtype, "aten::linalg_vector_norm"));
  });
  for_each_trained(t, parameters, [&](std::size_t i, const Tensor&) { norms[i].reset(); });
}

}  // namespace oomplan::estimator
