// torch.autograd.grad: of the graph what lies on the way to some leaves runs (torch/csrc/autograd/engine.cpp:
// GraphTask::init_to_execute, exec_info_).
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "torch/torch.hpp"

namespace oomplan::estimator {
namespace {

/// What can be reached.
std::vector<Node*> reached(const std::vector<GradientRoot>& roots, std::uint32_t visit) {
  std::vector<Node*> out;
  const auto visit_once = [&](Node* n) {
    if (n != nullptr && std::exchange(n->visit, visit) != visit) out.push_back(n);
  };
  for (const GradientRoot& root : roots) visit_once(root.node.get());
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (int e = 0; e < out[i]->next_count; ++e) visit_once(out[i]->next[static_cast<std::size_t>(e)].node.get());
  }
  return out;
}

/// Those first of which others are made: nodes count up as they are made, but for accumulators.
void sort_by_age(std::vector<Node*>& nodes) {
  const auto is_earlier = [](const Node* a, const Node* b) {
    const bool leaf = a->variable && !b->variable;
    return leaf || (bool(a->variable) == bool(b->variable) && a->sequence < b->sequence);
  };
  std::stable_sort(nodes.begin(), nodes.end(), is_earlier);
}

/// Marks the edges that lead to none of `ends`, and counts what the others wait for.
void choose_edges(const std::vector<Node*>& nodes, const std::unordered_map<const Node*, std::size_t>& ends) {
  std::unordered_set<const Node*> on_the_way;
  for (Node* n : nodes) {
    bool leads = ends.contains(n);
    n->skipped = 0;
    for (int i = 0; i < n->next_count; ++i) {
      const bool taken = on_the_way.contains(n->next[static_cast<std::size_t>(i)].node.get());
      if (!taken) n->skipped |= 1U << static_cast<unsigned>(i);
      leads = leads || taken;
    }
    if (!leads) continue;
    on_the_way.insert(n);
    for (int i = 0; i < n->next_count; ++i) {
      if (n->needs(i)) ++n->next[static_cast<std::size_t>(i)].node->dependencies;
    }
  }
}

}  // namespace

std::vector<Tensor> Torch::gradients_of(const std::vector<GradientRoot>& roots, const std::vector<Tensor>& leaves,
                                        bool retains, NodeWatch* watch, std::vector<Node*> within) {
  Restore no_grad(grad_enabled, false);
  Restore retaining(retains_, bool{retains});
  auto outer_queue = std::exchange(ready_, {});
  std::unordered_map<const Node*, std::size_t> ends;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i]->accumulator != nullptr) ends.emplace(leaves[i]->accumulator, i);
  }
  std::vector<Node*> nodes = within.empty() ? reached(roots, ++visit_) : std::move(within);
  sort_by_age(nodes);
  choose_edges(nodes, ends);
  for (const GradientRoot& root : roots) {
    root.node->buffer[static_cast<std::size_t>(root.output_nr)] = root.gradient;
    const bool waits = root.node->dependencies > 0 || std::ranges::count(ready_, root.node.get()) > 0;
    if (!waits) ready_.push_back(root.node.get());
  }
  std::make_heap(ready_.begin(), ready_.end(), is_later);
  std::vector<Tensor> out(leaves.size());
  while (!ready_.empty()) {
    Node* n = pop_ready();
    const auto end = ends.find(n);
    if (end != ends.end()) {
      out[end->second] = std::move(n->buffer[0]);
      continue;
    }
    if (watch != nullptr) watch->given(*n);
    evaluate(*n);
  }
  for (Node* n : nodes) n->skipped = 0;
  ready_ = std::move(outer_queue);
  return out;
}

}  // namespace oomplan::estimator
