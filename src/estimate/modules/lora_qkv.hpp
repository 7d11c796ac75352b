// litgpt's LoRAQKVLinear (lora.py): one matrix for queries, keys and values, of which each may have an adapter.
#pragma once

#include <string>
#include <vector>

#include "modules/linear.hpp"

namespace oomplan::estimator {

class LoraQkv {
 public:
  LoraQkv() = default;
  /// `module` + "query", "key" and "value" are what targets name.
  LoraQkv(Builder& builder, const std::string& module, std::int64_t width, std::int64_t q, std::int64_t kv, bool bias);

  Tensor operator()(Play& play, const Tensor& x) const;

 private:
  Tensor update(Play& play, const Tensor& x) const;
  Tensor by_parts(Torch& t, const Tensor& x) const;
  Tensor among_zeros(Torch& t, const Tensor& x) const;

  Linear base_{};
  std::vector<std::int64_t> widths_{};  ///< Of the outputs that are adapted.
  bool equal_ = false;                  ///< There are as many keys as queries.
  Tensor lora_a_{};
  Tensor lora_b_{};
  Tensor places_{};  ///< Of the adapted outputs among all; empty: all are.
};

}  // namespace oomplan::estimator
