#include "optimizer.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "decay.hpp"
#include "oomplan/catalog/catalog.hpp"

namespace oomplan::estimator {

namespace optimizers {
#define OOMPLAN_ENTRY(name) extern const MakeOptimizerCode name;
#include "registry/optimizers.inc"
#undef OOMPLAN_ENTRY
}  // namespace optimizers

namespace {

struct Code {
  std::string_view name;
  const MakeOptimizerCode* make;
};

std::unique_ptr<OptimizerCode> make_code(std::string_view name) {
  static constexpr std::array codes{
#define OOMPLAN_ENTRY(name) Code{#name, &optimizers::name},
#include "registry/optimizers.inc"
#undef OOMPLAN_ENTRY
  };
  const auto* found = std::ranges::find(codes, name, &Code::name);
  return found == codes.end() ? nullptr : (*found->make)();
}

/// Work on one parameter belongs to the layer that owns it.
class InLayerOf {
 public:
  InLayerOf(Torch& torch, const Parameter& p) : scope_(torch.recorder.scope, torch.recorder.scope) {
    torch.recorder.scope.layer = p.held->layer;
    torch.recorder.scope.module = p.held->module;
  }

 private:
  Restore<Scope> scope_;
};

template <class F>
void for_each_of(Torch& t, const std::vector<const Parameter*>& parameters, F&& f) {
  for (const Parameter* p : parameters) {
    if (!p->held->grad) continue;
    const InLayerOf layer(t, *p);
    f(*p);
  }
}

Dims sizes_of_one(const OptimizerState& state, const Tensor& p) {
  using Sizes = OptimizerState::Sizes;
  switch (state.sizes) {
    case Sizes::parameter:
      return p->sizes;
    case Sizes::scalar:
      return {};
    case Sizes::values:
      return {state.count};
    case Sizes::blocks:
      return {divided_up(p->numel(), state.count)};
  }
  return {};
}

Dims sizes_of(const OptimizerState& state, const Tensor& p) {
  const Dims one = sizes_of_one(state, p);
  return state.times == 1 ? one : Dims{state.times, one.product()};
}

Tensor like(Torch& t, const Tensor& p, const std::string& op) {
  return t.empty_strided(p->sizes, p->strides, p->dtype, op.c_str());
}

/// One group of the file, over the parameters that it takes.
class Group {
 public:
  Group(const OptimizerGroup& spec, bool fp32_embeddings)
      : spec_(spec), fp32_embeddings_(fp32_embeddings), made_once_(spec.rules.size(), false) {
    if (!spec.code.empty()) code_ = make_code(spec.code);
  }

  bool takes(const Parameter& p) const {
    const auto in_name = [&](const std::string& part) { return p.name.find(part) != std::string::npos; };
    return (spec_.parts.empty() || std::ranges::find(spec_.parts, p.part) != spec_.parts.end()) &&
           std::ranges::none_of(spec_.except, in_name);
  }
  void take(const Parameter& p) { parameters_.push_back(&p); }
  void forget() { parameters_.clear(); }

  void step(Torch& t) {
    if (state_.empty()) for_each_of(t, parameters_, [&](const Parameter& p) { create(t, p); });
    for_each_of(t, parameters_, [&](const Parameter& p) { work(t, p); });
    if (!spec_.at_once.empty()) at_once(t);
    if (!spec_.each.empty()) one_by_one(t);
    if (!code_) return;
    code_->begin();
    for_each_of(t, parameters_, [&](const Parameter& p) { code_->update(t, p); });
    code_->end();
  }

  void end_of_step() const {
    if (code_) code_->end_of_step();
  }

 private:
  bool holds(const OptimizerRule& rule, const Parameter& p) const {
    return (rule.below == 0 || p.held->numel() < rule.below) &&
           (rule.uneven == 0 || p.held->numel() % rule.uneven != 0) &&
           (!rule.fp32_embeddings || (fp32_embeddings_ && p.part == Part::embedding));
  }

  void create(Torch& t, const Parameter& p) {
    const OptimizerRule* rule = rule_of(p);
    if (rule == nullptr) return;
    const auto i = static_cast<std::size_t>(rule - spec_.rules.data());
    if (!made_once_[i]) create(t, rule->once, p.held);
    made_once_[i] = true;
    create(t, rule->states, p.held);
  }

  const OptimizerRule* rule_of(const Parameter& p) const {
    const auto rule = std::ranges::find_if(spec_.rules, [&](const OptimizerRule& r) { return holds(r, p); });
    return rule == spec_.rules.end() ? nullptr : &*rule;
  }

  void work(Torch& t, const Parameter& p) {
    const OptimizerRule* rule = rule_of(p);
    if (rule == nullptr) return;
    std::vector<Tensor> made;
    for (const OptimizerState& s : rule->step) {
      made.push_back(t.empty(sizes_of(s, p.held), s.dtype.value_or(p.held->dtype), s.op.c_str()));
    }
  }

  /// What is paged is managed memory (F.get_paged: cudaMallocManaged), filled and prefetched without a copy.
  void create(Torch& t, const std::vector<OptimizerState>& states, const Tensor& p) {
    for (const OptimizerState& s : states) {
      state_.push_back(optimizer_state(t, sizes_of(s, p), s.dtype.value_or(p->dtype), s.op.c_str()));
      const bool paged = s.paged_from > 0 && p->numel() >= s.paged_from;
      if (paged) t.recorder.at(state_.back()->storage).bucket = Bucket::paged;
    }
  }

  /// DTensor makes the gradient of an embedding that tensor parallelism shares of all its rows, on each rank, of which
  /// this one's are a view; FSDP2 reduces it, and a tied head's is added to this rank's.
  static bool has_whole_gradient(Torch& t, const Parameter& p) {
    if (!p.whole->subclass || p.held.get() != p.whole.get()) return false;
    const Tensor& gradient = p.held->grad;
    return t.recorder.at(gradient->storage).bytes > storage_bytes(gradient->sizes, gradient->dtype);
  }

  /// Each argument that such a gradient is, is cut by itself.
  void cut_whole_gradients(Torch& t) {
    constexpr int of_addcmul = 2;  // torch/optim/adam.py: _foreach_addcmul_(exp_avg_sqs, grads, grads)
    std::vector<Tensor> made;
    for (int argument = 0; argument < of_addcmul; ++argument) {
      for_each_of(t, parameters_, [&](const Parameter& p) {
        if (has_whole_gradient(t, p)) made.push_back(like(t, p.held, "aten::clone"));
      });
    }
  }

  void at_once(Torch& t) {
    cut_whole_gradients(t);
    std::vector<Tensor> made;
    for (const std::string& op : spec_.at_once) {
      for_each_of(t, parameters_, [&](const Parameter& p) { made.push_back(like(t, p.held, op)); });
    }
    std::size_t i = 0;
    for (std::size_t op = 0; op < spec_.at_once.size(); ++op) {
      for_each_of(t, parameters_, [&](const Parameter&) { made[i++].reset(); });
    }
  }

  void one_by_one(Torch& t) {
    Tensor kept;  // Python's name keeps the last parameter's until the next one's is made.
    for_each_of(t, parameters_, [&](const Parameter& p) {
      Tensor made;
      for (const std::string& op : spec_.each) made = like(t, p.held, op);
      if (spec_.kept.empty()) return;
      Tensor next = like(t, p.held, spec_.kept);
      made.reset();
      kept = std::move(next);
    });
  }

  const OptimizerGroup& spec_;
  bool fp32_embeddings_;
  std::vector<bool> made_once_;
  std::unique_ptr<OptimizerCode> code_{};
  std::vector<const Parameter*> parameters_{};
  std::vector<Tensor> state_{};
};

class FromFile final : public Optimizer {
 public:
  FromFile(const OptimizerFile& file, bool fp32_embeddings, bool decayed_first) : decayed_first_(decayed_first) {
    for (const OptimizerGroup& group : file.groups) groups_.emplace_back(group, fp32_embeddings);
  }

  /// One group's step is over before the next one's begins, as of several optimizers.
  void step(Torch& t, const Parameters& parameters) override {
    const auto hand_out = [&](const auto& handed) {
      for (const Parameter& p : parameters) {
        if (!handed(p)) continue;
        const auto taker = std::ranges::find_if(groups_, [&](const Group& g) { return g.takes(p); });
        if (taker != groups_.end()) taker->take(p);
      }
    };
    const auto first = [&](const Parameter& p) { return !decayed_first_ || decays(p); };
    hand_out(first);
    if (decayed_first_) hand_out(std::not_fn(first));
    for (Group& group : groups_) {
      group.step(t);
      group.forget();
    }
    for (const Group& group : groups_) group.end_of_step();
  }

 private:
  bool decayed_first_;
  std::vector<Group> groups_{};
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(std::string_view name, bool fp32_embeddings, bool decayed_first) {
  const OptimizerFile* file = find_optimizer(name);
  return file == nullptr ? nullptr : std::make_unique<FromFile>(*file, fp32_embeddings, decayed_first);
}

Tensor optimizer_state(Torch& t, const Dims& sizes, DType dtype, const char* op) {
  Tensor s = t.empty(sizes, dtype, op);
  t.recorder.at(s->storage).bucket = Bucket::optimizer;
  return s;
}

void clip_gradients(Torch& t, const Parameters& parameters) {
  std::vector<std::pair<const Parameter*, Tensor>> norms;
  for (const Parameter& p : parameters) {
    if (!p.held->grad) continue;
    const InLayerOf layer(t, p);
    norms.emplace_back(&p, t.empty({}, p.held->grad->dtype, "aten::linalg_vector_norm"));
  }
  for (auto& [p, norm] : norms) {
    const InLayerOf layer(t, *p);
    norm.reset();
  }
}

}  // namespace oomplan::estimator
