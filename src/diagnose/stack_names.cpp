#include "stack_names.hpp"

#include <algorithm>
#include <array>

namespace oomplan::diagnose {
namespace {

struct Rule {
  std::string_view category{};
  std::string_view file{};      ///< Somewhere in the path; empty for any.
  std::string_view function{};  ///< Somewhere in the name; empty for any.
};

// Of a frame the first rule that it obeys.
constexpr auto rules = std::to_array<Rule>({
    {"optimizer", "/optim/", ""},
    {"optimizer", "bitsandbytes/optim", ""},
    {"weights", "torch/nn/modules/module.py", "_apply"},
    {"weights", "transformers/modeling_utils.py", ""},
    {"weights", "safetensors", ""},
    {"weights", "torch/serialization.py", ""},
    {"weights", "torch/nn/parameter.py", ""},
    {"weights", "", "load_state_dict"},
    {"weights", "", "reset_parameters"},
    {"gradients", "torch/autograd/__init__.py", ""},
    {"gradients", "torch/autograd/graph.py", ""},
    {"communication", "torch/distributed/", ""},
    {"communication", "deepspeed/", ""},
    {"loss", "", "cross_entropy"},
    {"loss", "torch/nn/modules/loss.py", ""},
    {"inputs", "torch/utils/data/", ""},
    {"inputs", "accelerate/data_loader.py", ""},
    {"inputs", "", "send_to_device"},
    {"activations", "torch/nn/modules/module.py", "_call_impl"},
    {"activations", "torch/nn/functional.py", ""},
});

bool obeys(const SnapshotFrame& frame, const Rule& rule) {
  return frame.file.find(rule.file) != std::string::npos && frame.function.find(rule.function) != std::string::npos;
}

std::string_view category_of(const SnapshotFrame& frame) {
  const auto* found = std::ranges::find_if(rules, [&](const Rule& rule) { return obeys(frame, rule); });
  return found == rules.end() ? std::string_view() : found->category;
}

bool is_own(const SnapshotFrame& frame) {
  return frame.file.find("/torch/") != std::string::npos || frame.file.starts_with("torch/") ||
         frame.file.starts_with("<") || frame.file.empty();
}

}  // namespace

StackNames::StackNames(const Snapshot& snapshot) : snapshot_(snapshot) {
  for (const SnapshotFrame& frame : snapshot.frames) {
    said_.push_back({category_of(frame), obeys(frame, {"", "torch/autograd/__init__.py", "backward"}), is_own(frame)});
  }
}

std::string_view StackNames::category(std::uint32_t stack) const {
  for (const std::uint32_t frame : frames_of(stack)) {
    if (!said_[frame].category.empty()) return said_[frame].category;
  }
  return "other";
}

bool StackNames::begins_backward(std::uint32_t stack) const {
  return std::ranges::any_of(frames_of(stack), [&](std::uint32_t frame) { return said_[frame].begins_backward; });
}

std::string StackNames::line(std::uint32_t stack) const {
  const SnapshotStack& frames = frames_of(stack);
  if (frames.empty()) return "";
  const auto own = std::ranges::find_if(frames, [&](std::uint32_t frame) { return !said_[frame].own; });
  return shown(own == frames.end() ? frames.front() : *own);
}

std::vector<std::string> StackNames::lines(std::uint32_t stack, std::size_t most) const {
  std::vector<std::string> out;
  for (const std::uint32_t frame : frames_of(stack)) {
    if (out.size() == most) break;
    out.push_back(shown(frame));
  }
  return out;
}

std::string StackNames::shown(std::uint32_t frame) const {
  const SnapshotFrame& at = snapshot_.frames[frame];
  return at.file + ":" + std::to_string(at.line) + " " + at.function;
}

}  // namespace oomplan::diagnose
