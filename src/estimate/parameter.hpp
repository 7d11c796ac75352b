// A parameter of the model, apart from the tensors that stand for it.
#pragma once

#include <string>
#include <vector>

#include "oomplan/catalog/optimizer.hpp"
#include "torch/torch.hpp"

namespace oomplan::estimator {

/// Where a rank holds all of its parameters, both tensors are one.
struct Parameter {
  std::string name{};  ///< Dotted, with '*' for the layer's number.
  Part part = Part::matrix;
  Dims sizes{};  ///< Of the whole parameter.
  bool trained = false;
  std::int64_t layers = 1;     ///< How many real layers it stands for.
  bool of_layer_norm = false;  ///< Its module is an nn.LayerNorm.
  Tensor held{};               ///< This rank's from step to step, with the gradient that the optimizer steps by.
  Tensor whole{};              ///< What ops are given, with the gradient that backward makes.

  std::int16_t layer() const { return held->layer; }
};

using Parameters = std::vector<Parameter>;

using ParameterOrder = std::vector<const Parameter*>;
/// The order with every real layer in it: neighbours that stand for so many layers each come so many times.
ParameterOrder of_all_layers(const ParameterOrder& order);

}  // namespace oomplan::estimator
