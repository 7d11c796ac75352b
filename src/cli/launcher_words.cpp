#include "launcher_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "oomplan/core/text.hpp"
#include "script_arguments.hpp"

namespace oomplan::cli {
namespace {

enum class Says : std::uint8_t {
  nothing,
  nothing_and_has_no_value,
  of_each_machine,
  of_all,
  machines,
  file,
  module,
  kind,          ///< Has no value: `in` is the word of distributed_type.
  key_of_config  ///< Of the mapping `in` of accelerate's file; of the file itself where that is empty.
};

struct LauncherOption {
  std::string_view name{};  ///< With underscores, as all of them may be written.
  Says says = Says::nothing;
  std::string_view in{};
};

// torch 2.13.0: torch/distributed/run.py, get_args_parser. --max_restarts and --tee move no memory of a rank.
constexpr auto of_torchrun = std::to_array<LauncherOption>({{"nproc_per_node", Says::of_each_machine},
                                                            {"nnodes", Says::machines},
                                                            {"node_rank"},
                                                            {"rdzv_backend"},
                                                            {"rdzv_endpoint"},
                                                            {"rdzv_id"},
                                                            {"rdzv_conf"},
                                                            {"master_addr"},
                                                            {"master_port"},
                                                            {"max_restarts"},
                                                            {"monitor_interval"},
                                                            {"start_method"},
                                                            {"role"},
                                                            {"log_dir"},
                                                            {"redirects"},
                                                            {"tee"},
                                                            {"local_ranks_filter"},
                                                            {"standalone", Says::nothing_and_has_no_value},
                                                            {"no_python", Says::nothing_and_has_no_value},
                                                            {"module", Says::module}});

// accelerate 1.15.0: accelerate/commands/launch.py, launch_command_parser. A key of its file and the option that says
// it are of one name, and have one default (_validate_launch_command).
constexpr auto of_accelerate =
    std::to_array<LauncherOption>({{"config_file", Says::file},
                                   {"num_processes", Says::of_all},
                                   {"num_machines", Says::machines},
                                   {"machine_rank"},
                                   {"main_process_ip"},
                                   {"main_process_port"},
                                   {"rdzv_backend"},
                                   {"gpu_ids"},
                                   {"num_cpu_threads_per_process"},
                                   {"log_dir"},
                                   {"same_network", Says::nothing_and_has_no_value},
                                   {"quiet", Says::nothing_and_has_no_value},
                                   {"debug", Says::nothing_and_has_no_value},
                                   {"no_python", Says::nothing_and_has_no_value},
                                   {"module", Says::module},
                                   {"multi_gpu", Says::kind, "MULTI_GPU"},
                                   {"use_fsdp", Says::kind, "FSDP"},
                                   {"use_deepspeed", Says::kind, "DEEPSPEED"},
                                   {"mixed_precision", Says::key_of_config},
                                   {"zero_stage", Says::key_of_config, "deepspeed_config"},
                                   {"deepspeed_config_file", Says::key_of_config, "deepspeed_config"},
                                   {"offload_optimizer_device", Says::key_of_config, "deepspeed_config"},
                                   {"offload_param_device", Says::key_of_config, "deepspeed_config"},
                                   {"gradient_accumulation_steps", Says::key_of_config, "deepspeed_config"},
                                   {"gradient_clipping", Says::key_of_config, "deepspeed_config"},
                                   {"zero3_init_flag", Says::key_of_config, "deepspeed_config"},
                                   {"zero3_save_16bit_model", Says::key_of_config, "deepspeed_config"}});

/// Options of accelerate's that begin so are keys of its mapping fsdp_config.
constexpr std::string_view fsdp_prefix = "fsdp_";
constexpr LauncherOption of_fsdp{fsdp_prefix, Says::key_of_config, "fsdp_config"};

// DeepSpeed 0.19: deepspeed/launcher/runner.py, parse_args.
constexpr auto of_deepspeed = std::to_array<LauncherOption>({{"num_gpus", Says::of_each_machine},
                                                             {"num_nodes", Says::machines},
                                                             {"master_addr"},
                                                             {"master_port"},
                                                             {"node_rank"},
                                                             {"no_local_rank", Says::nothing_and_has_no_value},
                                                             {"no_python", Says::nothing_and_has_no_value},
                                                             {"module", Says::module}});

constexpr auto of_python = std::to_array<LauncherOption>(
    {{"u", Says::nothing_and_has_no_value}, {"O", Says::nothing_and_has_no_value}, {"m", Says::module}});

struct Launcher {
  std::string_view name{};
  std::vector<std::string_view> words{};  ///< That it begins with.
  std::span<const LauncherOption> options{};
};

const std::vector<Launcher>& launchers() {
  static const std::vector<Launcher> all{
      {"accelerate launch", {"accelerate", "launch"}, of_accelerate},
      {"accelerate launch", {"python", "-m", "accelerate.commands.launch"}, of_accelerate},
      {"torchrun", {"torchrun"}, of_torchrun},
      {"torchrun", {"python", "-m", "torch.distributed.run"}, of_torchrun},
      {"deepspeed", {"deepspeed"}, of_deepspeed},
      {"python", {"python"}, of_python},
  };
  return all;
}

Diagnostic refused(std::string message, std::string hint) {
  return {.code = "cli/usage", .message = std::move(message), .hint = std::move(hint)};
}

/// "python3.11" in a folder of its own is Python.
std::string_view program_of(std::string_view word) {
  word.remove_prefix(word.rfind('/') == word.npos ? 0 : word.rfind('/') + 1);
  return word.starts_with("python") && word.find_first_not_of("0123456789.", 6) == word.npos ? "python" : word;
}

/// Variables that move no memory of a GPU, or that say which GPUs there are and not how many are taken.
bool is_harmless(std::string_view variable) {
  constexpr auto beginnings = std::to_array<std::string_view>(
      {"NCCL_", "WANDB_", "HF_", "TOKENIZERS_", "OMP_", "MKL_",
       "CUDA_VISIBLE_DEVICES=", "CUDA_DEVICE_ORDER=", "MASTER_", "PYTHON", "TORCH_DISTRIBUTED_DEBUG=", "COMET_",
       "MLFLOW_", "TRANSFORMERS_VERBOSITY=", "FORCE_TORCHRUN="});
  return std::ranges::any_of(beginnings, [&](std::string_view one) { return variable.starts_with(one); });
}

bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  return equals != word.npos && equals > 0 && word.front() != '-' && word.substr(0, equals).find('/') == word.npos;
}

const Launcher* launcher_at(const std::vector<std::string>& words, std::size_t at) {
  const auto found = std::ranges::find_if(launchers(), [&](const Launcher& one) {
    if (words.size() - at < one.words.size() || program_of(words[at]) != one.words.front()) return false;
    return std::equal(one.words.begin() + 1, one.words.end(), words.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  });
  return found == launchers().end() ? nullptr : &*found;
}

class Reader {
 public:
  Reader(const std::vector<std::string>& words, std::size_t at, const Launcher& launcher)
      : words_(words), at_(at + launcher.words.size()), launcher_(launcher) {}

  Result<LauncherWords> read() {
    while (at_ < words_.size() && words_[at_].starts_with('-')) {
      if (auto wrong = option()) return *wrong;
      if (out_.is_module) break;
    }
    if (at_ >= words_.size())
      return refused(std::string(launcher_.name) + " starts no script here", "the script stands behind its options");
    out_.script = at_;
    if (auto wrong = world()) return *wrong;
    if (config_.empty() && kind_.empty()) return std::move(out_);
    if (!out_.launch.empty())
      return refused("accelerate launch's options beside its --config_file are not read", "say them in that file");
    out_.config = config_text();
    return std::move(out_);
  }

 private:
  std::optional<Diagnostic> option() {
    const std::string& word = words_[at_++];
    std::string name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
    if (name.empty()) return refused(fmt::format("{}: \"{}\" is no option", launcher_.name, word), {});
    std::optional<std::string> value;
    if (const std::size_t equals = name.find('='); equals != name.npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    std::ranges::replace(name, '-', '_');
    if (name == "m" && launcher_.name != "python") name = "module";
    const LauncherOption* known = find(name);
    if (known == nullptr) {
      return refused(fmt::format("{}'s {} is not read: it may change what a GPU holds", launcher_.name, word),
                     launcher_.name == "accelerate launch"
                         ? "a file for --config_file can say it: accelerate config writes one"
                         : "leave it out, or name the config in place of the command");
    }
    const bool alone =
        known->says == Says::module || known->says == Says::kind || known->says == Says::nothing_and_has_no_value;
    if (alone && value) return refused(fmt::format("{} takes no value", word), {});
    if (known->says == Says::module) {
      out_.is_module = true;
      return {};
    }
    if (known->says == Says::nothing_and_has_no_value) return {};
    if (known->says == Says::kind) {
      if (!kind_.empty() && kind_ != known->in)
        return refused(fmt::format("{}'s {} stands beside another way to share the run", launcher_.name, word), {});
      kind_ = known->in;
      return {};
    }
    const bool none = value ? value->empty() : at_ >= words_.size() || is_option(words_[at_]);
    if (none) return refused(fmt::format("{} wants a value", word), {});
    take(*known, name, value ? *value : words_[at_++]);
    return {};
  }

  const LauncherOption* find(std::string_view name) const {
    const auto found = std::ranges::find(launcher_.options, name, &LauncherOption::name);
    if (found != launcher_.options.end()) return &*found;
    return launcher_.name == "accelerate launch" && name.starts_with(fsdp_prefix) ? &of_fsdp : nullptr;
  }

  void take(const LauncherOption& option, const std::string& name, const std::string& value) {
    if (option.says == Says::key_of_config)
      config_[std::string(option.in)].push_back(ScriptArgument{name, {value}}.as_yaml());
    if (option.says == Says::file) out_.launch.push_back(value);
    if (option.says == Says::of_each_machine) each_ = value;
    if (option.says == Says::of_all) all_ = value;
    if (option.says == Says::machines) machines_ = value;
  }

  /// As the launchers have it: one process where torchrun is told nothing; "gpu" and "auto" are as many as there are.
  std::optional<Diagnostic> world() {
    constexpr std::array<std::string_view, 4> as_there_are{"", "gpu", "auto", "xpu"};
    for (const std::string* text : {&each_, &all_, &machines_}) {
      if (std::ranges::count(as_there_are, *text) > 0 && text != &machines_) continue;
      if (text->empty() || count(*text) > 0) continue;
      return refused(fmt::format("{}: \"{}\" is no number of {}", launcher_.name, *text,
                                 text == &machines_ ? "machines" : "processes"),
                     "--gpu 2x8xh100-80gb says that two machines have eight each");
    }
    const std::int64_t machines = machines_.empty() ? 1 : count(machines_);
    std::int64_t each = count(each_);
    if (!all_.empty()) each = count(all_) / machines;
    if (each == 0 && launcher_.name == "torchrun" && each_.empty()) each = 1;
    if (each == 0 && (machines > 1 || count(all_) > 0))
      return refused(
          fmt::format("{} does not say how many processes each of {} machines starts", launcher_.name, machines),
          "--gpu 2x8xh100-80gb says that two machines have eight each");
    if (each > 0) out_.world = {each, machines, std::string(launcher_.name)};
    return {};
  }

  /// 0 where it is no whole number from 1 on.
  static std::int64_t count(const std::string& text) {
    constexpr double most = 1'000'000;
    const std::optional<double> number = parse_number(text);
    const bool counts = number && *number >= 1 && *number <= most && std::floor(*number) == *number;
    return counts ? static_cast<std::int64_t>(*number) : 0;
  }

  /// As accelerate's file would have it.
  std::string config_text() const {
    const std::int64_t all = saturating_mul(out_.world.each, out_.world.machines);
    std::string out = fmt::format("distributed_type: {}\n", !kind_.empty() ? kind_ : all > 1 ? "MULTI_GPU" : "NO");
    if (all > 0) out += fmt::format("num_processes: {}\nnum_machines: {}\n", all, out_.world.machines);
    for (const auto& [mapping, rows] : config_) {
      if (!mapping.empty()) out += mapping + ":\n";
      for (const auto& [key, value] : rows) out += fmt::format("{}{}: {}\n", mapping.empty() ? "" : "  ", key, value);
    }
    return out;
  }

  const std::vector<std::string>& words_;
  std::size_t at_;
  const Launcher& launcher_;
  LauncherWords out_{};
  std::string each_{};
  std::string all_{};
  std::string machines_{};
  std::string kind_{};
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> config_{};  ///< By mapping of the file.
};

}  // namespace

Result<LauncherWords> read_launcher(const std::vector<std::string>& words) {
  std::size_t at = 0;
  for (; at < words.size() && (is_assignment(words[at]) || words[at] == "env" || words[at] == "nohup"); ++at) {
    if (!is_assignment(words[at]) || is_harmless(words[at])) continue;
    return refused(fmt::format("the variable {} is not read: it may change what a GPU holds", words[at]),
                   "--alloc-conf says what PYTORCH_ALLOC_CONF would, and --gpu 8xh100 how many GPUs there are");
  }
  if (at == words.size()) return refused("the command starts no program", "oomplan estimate -- trl sft …");
  if (const Launcher* launcher = launcher_at(words, at)) return Reader(words, at, *launcher).read();
  LauncherWords out;
  out.script = at;
  return out;
}

}  // namespace oomplan::cli
