#include "oomplan/diagnose/stack_names.hpp"

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

// Typed in, or a cell of a notebook.
bool is_typed(std::string_view file) { return file == "<stdin>" || file.starts_with("<ipython-input"); }

bool is_python(std::string_view file) {
  return file.ends_with(".py") || file.ends_with(".pyx") || file.starts_with('<');
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Where PyTorch runs from its sources, no folder of packages gives it away.
bool is_of_torch(std::string_view file) {
  constexpr auto folders = std::to_array<std::string_view>(
      {"torch/nn/", "torch/optim/", "torch/autograd/", "torch/utils/", "torch/cuda/", "torch/distributed/", "torch/_",
       "torch/amp/", "torch/func", "torch/fx/", "torch/library", "torch/serialization", "torch/storage", "torch/jit/"});
  return std::ranges::any_of(folders, [&](std::string_view folder) {
    const std::size_t at = file.find(folder);
    return at != std::string_view::npos && (at == 0 || file[at - 1] == '/');
  });
}

// C:/…/Python311/Lib/runpy.py, C:/…/anaconda3/envs/x/lib/threading.py
bool is_of_python_on_windows(std::string_view file) {
  if (file.size() < 3 || file[1] != ':') return false;
  for (const std::string_view lib : {"/Lib/", "/lib/"}) {
    const std::size_t at = file.find(lib);
    if (at == std::string_view::npos) continue;
    const std::string_view before = file.substr(0, at);
    if (contains(before, "/Python3") || contains(before, "conda") || contains(before, "/envs/")) return true;
  }
  return false;
}

// What torch.compile writes: the line that it was made of stands behind it.
bool is_of_inductor(std::string_view file) { return contains(file, "/torchinductor_"); }

bool is_of_a_library(std::string_view file) {
  if (file.starts_with('<')) return !is_typed(file);
  return contains(file, "/site-packages/") || contains(file, "/dist-packages/") || contains(file, "/lib/python3") ||
         contains(file, "/lib64/python3") || is_of_inductor(file) || is_of_torch(file) || is_of_python_on_windows(file);
}

bool is_engine(std::string_view function) {
  return contains(function, "torch::autograd::Engine") || contains(function, "torch::autograd::python::PythonEngine") ||
         contains(function, "torch::autograd::Node");
}

// As it would be written where folders are parted by '/'.
SnapshotFrame with_slashes(SnapshotFrame frame) {
  std::ranges::replace(frame.file, '\\', '/');
  return frame;
}

}  // namespace

StackNames::StackNames(const Snapshot& snapshot) : snapshot_(snapshot) {
  for (const SnapshotFrame& said : snapshot.frames) {
    const SnapshotFrame frame = with_slashes(said);
    Said& out = said_.emplace_back();
    out.engine = is_engine(frame.function);
    out.python = is_python(frame.file);
    if (!out.python) continue;
    out.category = category_of(frame);
    out.begins_backward = obeys(frame, {"", "torch/autograd/__init__.py", "backward"});
    out.recomputes = contains(frame.file, "torch/utils/checkpoint.py") &&
                     (contains(frame.function, "backward") || contains(frame.function, "unpack"));
    out.users = !is_of_a_library(frame.file);
  }
}

bool StackNames::any(std::uint32_t stack, bool Said::*what) const {
  return std::ranges::any_of(frames_of(stack), [&](std::uint32_t frame) { return said_[frame].*what; });
}

std::string_view StackNames::category(std::uint32_t stack) const {
  for (const std::uint32_t frame : frames_of(stack)) {
    if (!said_[frame].category.empty()) return said_[frame].category;
  }
  return any(stack, &Said::engine) ? backward : "other";
}

bool StackNames::begins_backward(std::uint32_t stack) const { return any(stack, &Said::begins_backward); }

bool StackNames::is_in_backward(std::uint32_t stack) const {
  return begins_backward(stack) || any(stack, &Said::engine) || any(stack, &Said::recomputes);
}

std::string StackNames::line(std::uint32_t stack) const {
  const SnapshotStack& frames = frames_of(stack);
  if (frames.empty()) return "";
  for (const auto what : {&Said::users, &Said::python}) {
    const auto found = std::ranges::find_if(frames, [&](std::uint32_t frame) { return said_[frame].*what; });
    if (found != frames.end()) return shown(*found);
  }
  return std::string(any(stack, &Said::engine) ? backward : "no Python frames");
}

std::vector<std::string> StackNames::lines(std::uint32_t stack, std::size_t most) const {
  std::vector<std::string> out;
  const bool with_python = any(stack, &Said::python);
  for (const std::uint32_t frame : frames_of(stack)) {
    if (out.size() == most) break;
    if (!with_python || said_[frame].python) out.push_back(shown(frame));
  }
  return out;
}

std::string StackNames::shown(std::uint32_t frame) const {
  const SnapshotFrame& at = snapshot_.frames[frame];
  return at.file + ":" + std::to_string(at.line) + " " + at.function;
}

}  // namespace oomplan::diagnose
