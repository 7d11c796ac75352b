// adam_mini 1.1.1: Adam_mini.step, one parameter after the other, by their names.
#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "optimizer.hpp"

namespace oomplan::estimator::optimizers {
namespace {

/// embd_names, output_names, wv_names, mlp_names and attn_proj_names: a second moment for each row.
constexpr auto by_row =
    std::to_array<std::string_view>({"embed", "embd", "wte", "lm_head", "output", "final_layer", "v_proj", "wv",
                                     "value", "feed_forward", "linear", "mlp", "o_proj", "wo", "attn.proj"});
/// wqk_names: one for each head.
constexpr auto by_head = std::to_array<std::string_view>({"k_proj", "q_proj", "wq", "wk", "query", "key"});

/// Python's `update` keeps the last parameter's until the next one's is made.
class AdamMini final : public OptimizerCode {
 public:
  void update(Torch& t, const Parameter& parameter) override {
    const Tensor& gradient = parameter.held->grad;
    const auto has = [&](std::string_view word) { return parameter.name.find(word) != std::string::npos; };
    const bool matrix = std::ranges::any_of(by_row, has) && !std::ranges::any_of(by_head, has);
    State& s = state_of(t, parameter, has("bias"), matrix ? gradient->sizes[0] : 1);
    if (has("bias")) return step_bias(t, s);
    {
      const Tensor squared = t.pointwise({&gradient}, gradient->dtype, "aten::mul");
      t.empty(s.second->sizes, gradient->dtype, "aten::mean");
    }
    const Tensor size = t.pointwise({&s.second}, gradient->dtype, "aten::div");
    update_ = t.pointwise({&s.first}, gradient->dtype, "aten::mul");
    t.pointwise({&update_}, gradient->dtype, "aten::neg");
  }

  void end() override { update_.reset(); }

 private:
  struct State {
    Tensor first{};
    Tensor second{};
  };

  State& state_of(Torch& t, const Parameter& parameter, bool whole, std::int64_t rows) {
    const auto [at, fresh] = states_.try_emplace(&parameter);
    if (!fresh) return at->second;
    const Tensor& gradient = parameter.held->grad;
    at->second.first = optimizer_state(t, gradient->sizes, gradient->dtype, "aten::zeros_like");
    const Dims second = whole ? gradient->sizes : Dims{rows, 1};
    at->second.second = optimizer_state(t, second, gradient->dtype, "aten::zeros_like");
    return at->second;
  }

  static void step_bias(Torch& t, const State& s) {
    const Tensor root = t.pointwise({&s.second}, s.second->dtype, "aten::sqrt");
    t.pointwise({&root}, s.second->dtype, "aten::div");
  }

  std::map<const Parameter*, State> states_{};
  Tensor update_{};
};

}  // namespace

extern const MakeOptimizerCode adam_mini;
const MakeOptimizerCode adam_mini = [] { return std::unique_ptr<OptimizerCode>(std::make_unique<AdamMini>()); };

}  // namespace oomplan::estimator::optimizers
