#include "torch/parted_backward.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace oomplan::estimator {
namespace {

using Nodes = std::unordered_set<Node*>;

/// construct_reverse_graph
class ReverseGraph {
 public:
  explicit ReverseGraph(Node* root) {
    std::vector<Node*> stack{root};
    Nodes seen{root};
    while (!stack.empty()) {
      Node* n = stack.back();
      stack.pop_back();
      for (int i = 0; i < n->next_count; ++i) {
        Node* next = n->next[static_cast<std::size_t>(i)].node.get();
        if (next == nullptr) continue;
        users_[next].push_back(n);
        if (seen.insert(next).second) stack.push_back(next);
      }
    }
  }

  /// reverse_closure: what is made of `from`, up to nodes of `ends`, which go to `met`.
  Nodes closure(Node* from, const Nodes& ends, std::vector<Node*>* met = nullptr) const {
    Nodes out{from};
    std::vector<Node*> stack{from};
    while (!stack.empty()) {
      const auto users = users_.find(stack.back());
      stack.pop_back();
      if (users == users_.end()) continue;
      for (Node* user : users->second) {
        if (!ends.contains(user)) {
          if (out.insert(user).second) stack.push_back(user);
        } else if (std::ranges::count(*met, user) == 0) {
          met->push_back(user);
        }
      }
    }
    return out;
  }

 private:
  std::unordered_map<Node*, std::vector<Node*>> users_{};
};

/// Whether it is of a module that the block itself names, as its norms are, not one within its attention.
bool is_norm_of_block(const Parameter& p) {
  const std::size_t star = p.name.find(".*.");
  return p.part == Part::norm && star != std::string::npos &&
         std::count(p.name.begin() + static_cast<std::ptrdiff_t>(star) + 3, p.name.end(), '.') == 1;
}

/// As Module.parameters() has them: a block's class names its norms after its attention and its MLP.
std::vector<const Parameter*> by_definition(const Parameters& parameters) {
  std::vector<const Parameter*> out;
  for (auto first = parameters.begin(); first != parameters.end();) {
    const auto is_other = [&](const Parameter& p) { return p.layer() != first->layer(); };
    const auto end = std::find_if(first, parameters.end(), is_other);
    for (const bool norms : {false, true}) {
      for (auto p = first; p != end; ++p) {
        if (is_norm_of_block(*p) == norms) out.push_back(&*p);
      }
    }
    first = end;
  }
  return out;
}

void add_new(const Nodes& nodes, std::vector<Node*>& to) {
  for (Node* node : nodes) {
    if (std::ranges::count(to, node) == 0) to.push_back(node);
  }
}

/// get_param_groups, in the order of the parameters.
PartedBackward part(Node* root, Node* input, const Parameters& parameters) {
  const ReverseGraph graph(root);
  const Nodes way = graph.closure(input, {});
  std::unordered_map<const Node*, std::size_t> group_of;
  PartedBackward out;
  for (const Parameter* each : by_definition(parameters)) {
    const Parameter& p = *each;
    if (!p.trained || p.whole->accumulator == nullptr) continue;
    std::vector<Node*> met;
    const Nodes below = graph.closure(p.whole->accumulator, way, &met);
    if (met.empty()) continue;
    const auto known = std::ranges::find_if(met, [&](const Node* n) { return group_of.contains(n); });
    const std::size_t number = known == met.end() ? out.groups.size() : group_of.at(*known);
    if (number == out.groups.size()) out.groups.emplace_back();
    PartedBackward::Group& group = out.groups[number];
    group.parameters.push_back(p.whole);
    add_new(below, group.between);
    for (Node* node : met) {
      if (!group_of.emplace(node, number).second) continue;
      group.intermediates.push_back({NodeRef(node), {}});
      add_new({node}, group.between);
    }
  }
  return out;
}

/// The hooks on intermediates: what each is given is kept.
class Keeper final : public NodeWatch {
 public:
  explicit Keeper(PartedBackward& parted) {
    for (PartedBackward::Group& group : parted.groups) {
      for (PartedBackward::Given& given : group.intermediates) given_.emplace(given.node.get(), &given);
    }
  }
  void given(const Node& node) override {
    const auto found = given_.find(&node);
    if (found != given_.end()) found->second->gradients = node.buffer;
  }

 private:
  std::unordered_map<const Node*, PartedBackward::Given*> given_{};
};

void add_to_gradient(Torch& t, TensorImpl& leaf, Tensor gradient) {
  if (leaf.grad) return;  // Added in place.
  t.recorder.hold_gradient(gradient->storage, HeldAs::gradient_taken);
  leaf.grad = std::move(gradient);
}

}  // namespace

PartedBackward backward_of_inputs(Torch& t, const Tensor& root, const Tensor& gradient, const Tensor& input,
                                  const Parameters& parameters) {
  if (!root->grad_fn || input->accumulator == nullptr) return {};
  PartedBackward out = part(root->grad_fn.get(), input->accumulator, parameters);
  Keeper keeper(out);
  const GradientRoot from{root->grad_fn, root->output_nr, gradient};
  input->grad = t.gradients_of({from}, {input}, true, &keeper).front();
  root->grad_fn.reset();
  root->requires_grad = false;
  return out;
}

// Variables of the loop hold a group's nodes, and what was made of them, until the next one's are there.
void backward_of_weights(Torch& t, PartedBackward& parted) {
  std::vector<GradientRoot> edges;
  std::vector<Tensor> made;
  for (PartedBackward::Group& group : parted.groups) {
    edges.clear();
    for (PartedBackward::Given& given : group.intermediates) {
      for (std::size_t i = 0; i < given.gradients.size(); ++i) {
        if (given.gradients[i]) edges.push_back({given.node, static_cast<int>(i), std::move(given.gradients[i])});
      }
    }
    group.intermediates.clear();
    if (edges.empty()) continue;
    made = t.gradients_of(edges, group.parameters, false, nullptr, std::move(group.between));
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (made[i]) add_to_gradient(t, *group.parameters[i], made[i]);
    }
  }
}

}  // namespace oomplan::estimator
