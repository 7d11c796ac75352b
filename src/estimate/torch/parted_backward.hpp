// torch/distributed/pipelining/_backward.py: the gradient of a stage's input first, and those of its weights later.
#pragma once

#include <array>
#include <vector>

#include "parameter.hpp"
#include "torch/torch.hpp"

namespace oomplan::estimator {

/// What is left of a backward pass that has come to the input: by parameters, the nodes of the way there at which
/// theirs end, and what these were given.
struct PartedBackward {
  struct Given {
    NodeRef node{};
    std::array<Tensor, 8> gradients{};
  };
  struct Group {
    std::vector<Tensor> parameters{};
    std::vector<Given> intermediates{};
    std::vector<Node*> between{};  ///< And both ends.
  };
  std::vector<Group> groups{};
};

/// stage_backward_input: leaves the input's gradient in input->grad, and takes the root out of its graph.
PartedBackward backward_of_inputs(Torch& t, const Tensor& root, const Tensor& gradient, const Tensor& input,
                                  const Parameters& parameters);

/// stage_backward_weight
void backward_of_weights(Torch& t, PartedBackward& parted);

}  // namespace oomplan::estimator
