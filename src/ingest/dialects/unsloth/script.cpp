#include "script.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "../../script.hpp"

namespace oomplan::ingestion::unsloth {
namespace {

constexpr auto trainers = std::to_array<Trainer>({
    {"SFTTrainer", "SFTConfig", {}},
    {"UnslothTrainer", "UnslothTrainingArguments", {}},
    {"Trainer", "TrainingArguments", "a trainer other than SFTTrainer over Unsloth's layers"},
    {"Seq2SeqTrainer", "Seq2SeqTrainingArguments", "a trainer other than SFTTrainer over Unsloth's layers"},
    {"DPOTrainer", "DPOConfig", {}},
    {"ORPOTrainer", "ORPOConfig", {}},
    {"KTOTrainer", "KTOConfig", "KTO by Unsloth"},
    {"CPOTrainer", "CPOConfig", "CPO by Unsloth"},
    {"GRPOTrainer", "GRPOConfig", {}},
    {"RLOOTrainer", "RLOOConfig", "RLOO by Unsloth"},
    {"PPOTrainer", "PPOConfig", "PPO by Unsloth"},
    {"RewardTrainer", "RewardConfig", "reward models by Unsloth"},
    {"SentenceTransformerTrainer", "SentenceTransformerTrainingArguments", "embedding models by Unsloth"},
});

constexpr auto loaders = std::to_array<std::string_view>(
    {"FastLanguageModel", "FastModel", "FastVisionModel", "FastTextModel", "FastSentenceTransformer", "FastLlamaModel",
     "FastMistralModel", "FastQwen2Model", "FastQwen3Model", "FastGemmaModel", "FastGemma2Model", "FastBaseModel",
     "FastDiffusionModel"});

bool is_script(const Document& script) { return imports(script, "unsloth"); }

bool is_loader(std::string_view name) { return std::ranges::count(loaders, name) > 0; }

bool is_config(std::string_view name) {
  return name == "TrainingArguments" || std::ranges::count(trainers, name, &Trainer::config) > 0;
}

bool starts_training(std::string_view call) { return function_of(call) == "train" || call == "unsloth_train"; }

/// What of a script says how its model is trained. Each is there once, or is told with the same arguments again.
struct Calls {
  const Node* load = nullptr;
  const Node* adapt = nullptr;
  const Node* config = nullptr;
  const Node* trainer = nullptr;
  const Node* trains = nullptr;
  std::vector<const Node*> sets{};
};

bool same(const Node& a, const Node& b) {
  const auto entry = [](const Entry& x, const Entry& y) { return x.key == y.key && same(x.value, y.value); };
  return a.kind == b.kind && a.text == b.text && std::ranges::equal(a.items, b.items, same) &&
         std::ranges::equal(a.entries, b.entries, entry);
}

/// Whether an argument of a trainer or of its config says nothing of the GPU's memory.
bool is_beside_the_gpu(std::string_view key) {
  return key == "dataset_num_proc" || std::ranges::count(key_file("unsloth").no_effect, key, &KeyLine::what) > 0;
}

/// The arguments of a call of a trainer or of its config that make its run's memory on the GPU what it is.
std::vector<const Entry*> telling(const Node& step) {
  std::vector<const Entry*> out;
  for (const Entry& entry : step.find("keywords")->entries) {
    if (!is_beside_the_gpu(entry.key)) out.push_back(&entry);
  }
  return out;
}

/// Runs of one model that take the same of the GPU, as continued pretraining and instruction tuning after it may.
bool takes_the_same(const Node& a, const Node& b) {
  const auto equal = [](const Entry* x, const Entry* y) { return x->key == y->key && same(x->value, y->value); };
  return same(*a.find("call"), *b.find("call")) && same(*a.find("positional"), *b.find("positional")) &&
         std::ranges::equal(telling(a), telling(b), equal);
}

class Reader {
 public:
  explicit Reader(const Document& script) : script_(script) {}

  Result<Node> config() {
    const Node* steps = script_.root.find("steps");
    if (steps != nullptr) find_calls(*steps);
    if (!errors_.empty()) return std::move(errors_);
    if (calls_.load == nullptr || calls_.trainer == nullptr || calls_.trains == nullptr) return nothing_trained();
    root_.kind = Node::Kind::mapping;
    root_.line = root_.column = 1;
    add("loader", *calls_.load->find("call"), named(*calls_.load->find("call"), owner_of(call_of(*calls_.load))));
    add("trainer", *calls_.trainer->find("call"), *calls_.trainer->find("call"));
    if (calls_.config != nullptr) {
      const Node& call = *calls_.config->find("call");
      add("config", call, named(call, function_of(call_of(*calls_.config))));
    }
    add_arguments(*calls_.load, "from_pretrained.", "model_name");
    if (calls_.adapt != nullptr) add_adapter(*calls_.adapt);
    // The trainer's own go over those of its config.
    add_arguments(*calls_.trainer, "", {});
    if (calls_.config != nullptr) add_arguments(*calls_.config, "", {});
    for (const Node* set : calls_.sets) add_set(*set);
    refuse_what_is_not_read();
    if (!errors_.empty()) return std::move(errors_);
    return std::move(root_);
  }

 private:
  Result<Node> nothing_trained() const {
    Diagnostic out{Severity::error, "ingest/no-training", {}, {script_.file, 0, 0}, {}, {}};
    out.message = calls_.load == nullptr ? "the script loads no model by Unsloth's from_pretrained"
                  : calls_.trainer == nullptr
                      ? "the script makes no trainer that is known, so there is no step to estimate"
                      : "the script never calls train() of its trainer";
    return out;
  }

  void not_read(const Node& at, const std::string& what, const std::string& hint) {
    errors_.push_back(script_error(script_, at, "ingest/not-read", what, hint));
  }

  /// Arguments are read by their names: of more than the first `most` that have none, it is not known what they are.
  void refuse_positional(const Node* step, std::size_t most) {
    if (step == nullptr) return;
    const Node& positional = *step->find("positional");
    if (positional.items.size() <= most) return;
    not_read(*step->find("call"), "arguments of " + std::string(call_of(*step)) + " without their names are not read",
             "write them as name=value");
  }

  void refuse_what_is_not_read() {
    refuse_positional(calls_.load, 1);
    refuse_positional(calls_.adapt, 1);
    refuse_positional(calls_.config, 1);  // output_dir
    refuse_positional(calls_.trainer, 1);
    if (calls_.config != nullptr) return;
    for (const Entry& entry : calls_.trainer->find("keywords")->entries) {
      if (entry.key != "args" || entry.value.kind == Node::Kind::null) continue;
      Node at;
      at.line = entry.line;
      at.column = entry.column;
      not_read(at, "args: where the trainer's config is made is not read", "make it by its class: SFTConfig(…)");
    }
  }

  /// os.environ.setdefault("UNSLOTH_…"), setattr(args, "…"), dataclasses.replace(args, …): settings made by a call.
  void refuse_setting(const Node& step, std::string_view name, std::string_view owner) {
    if (step.find("positional") == nullptr) return;  // Not a call.
    const Node& positional = *step.find("positional");
    const auto is_argument = [](std::string_view key) {
      return std::ranges::any_of(arguments_of("unsloth"), [&](const Key& known) { return known.name == key; });
    };
    bool sets = false;
    if ((owner == "os.environ" && (name == "setdefault" || name == "update")) || (owner == "os" && name == "putenv")) {
      const bool named = !positional.items.empty() && positional.items.front().kind == Node::Kind::string;
      sets = !named || positional.items.front().text.starts_with("UNSLOTH_");
    }
    if (name == "setattr" && owner.empty() && positional.items.size() > 1)
      sets = positional.items[1].kind != Node::Kind::string || is_argument(positional.items[1].text);
    if (name == "replace" && (owner.empty() || owner == "dataclasses"))
      sets = std::ranges::any_of(step.find("keywords")->entries, is_argument, &Entry::key);
    if (sets) not_read(*step.find("call"), "what " + std::string(call_of(step)) + " sets is not read", "assign it");
  }

  /// Up to the last call of train(): what comes after it loads the model again, to use it.
  void find_calls(const Node& steps) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < steps.items.size(); ++i) {
      if (starts_training(call_of(steps.items[i]))) end = i + 1;
    }
    if (end == 0) end = steps.items.size();
    for (std::size_t i = 0; i < end; ++i) take(steps.items[i]);
  }

  void take(const Node& step) {
    if (step.find("set") != nullptr) return calls_.sets.push_back(&step);
    const std::string_view call = call_of(step);
    const std::string_view name = function_of(call);
    const std::string_view owner = function_of(owner_of(call));
    refuse_setting(step, name, owner_of(call));
    if (starts_training(call)) calls_.trains = &step;
    if (name == "from_pretrained" && is_loader(owner)) once(calls_.load, step);
    if (name == "get_peft_model" && is_loader(owner)) once(calls_.adapt, step);
    if (is_config(name)) of_a_run(calls_.config, step);
    if (find_trainer(name) != nullptr) of_a_run(calls_.trainer, step);
  }

  /// Of runs that take the same the last one counts.
  void of_a_run(const Node*& slot, const Node& step) {
    if (slot != nullptr && takes_the_same(*slot, step)) slot = &step;
    once(slot, step);
  }

  void once(const Node*& slot, const Node& step) {
    if (slot == nullptr || same(*slot, step)) {
      slot = &step;
      return;
    }
    const std::string name(call_of(step));
    errors_.push_back(script_error(script_, *step.find("call"), "ingest/several-runs",
                                   "the script calls " + std::string(call_of(*slot)) + " before it, and " + name +
                                       " here with other arguments: it trains more than once, or by a condition",
                                   "keep the calls of one run"));
  }

  static Node named(const Node& at, std::string_view text) {
    Node out = at;
    out.text = text;
    return out;
  }

  void add(const std::string& key, const Node& at, Node value) {
    if (!seen_.insert(key).second) return;
    root_.entries.push_back({key, at.line, at.column, std::move(value)});
  }

  /// A positional argument is `first`; the others hand objects over.
  void add_arguments(const Node& step, const std::string& prefix, std::string_view first) {
    const Node& positional = *step.find("positional");
    if (!first.empty() && !positional.items.empty()) {
      add(prefix + std::string(first), positional.items.front(), value_of(positional.items.front()));
    }
    for (const Entry& entry : step.find("keywords")->entries) {
      Node at;
      at.line = entry.line;
      at.column = entry.column;
      add(prefix + entry.key, at, value_of(entry.value));
    }
  }

  void add_adapter(const Node& step) {
    const Node& call = *step.find("call");
    Node called = named(call, "true");
    called.kind = Node::Kind::boolean;
    add("get_peft_model.called", call, std::move(called));
    add_arguments(step, "get_peft_model.", {});
    std::erase_if(root_.entries, [](const Entry& entry) { return entry.key == "get_peft_model.model"; });
  }

  /// Unsloth's environment, and what is assigned to the arguments after they were made.
  void add_set(const Node& step) {
    constexpr std::string_view environment = "os.environ.";
    const Node& target = *step.find("set");
    const std::string_view path = target.text;
    const Node& value = *step.find("value");
    if (path.starts_with(environment)) {
      const std::string_view name = path.substr(environment.size());
      if (name.starts_with("UNSLOTH_")) add("environ." + std::string(name), target, value_of(value));
      return;
    }
    const std::string_view member = function_of(path);
    const bool known = std::ranges::any_of(arguments_of("unsloth"), [&](const Key& key) { return key.name == member; });
    if (known) add("assigned." + std::string(member), target, value_of(value));
  }

  /// torch.bfloat16 by its name, and what Unsloth says of the GPU as "auto".
  static Node value_of(const Node& value) {
    constexpr auto dtypes = std::to_array<std::string_view>({"bfloat16", "float16", "float32"});
    constexpr auto by_gpu = std::to_array<std::string_view>(
        {"is_bfloat16_supported()", "is_bf16_supported()", "torch.cuda.is_bf16_supported()"});
    if (value.kind != Node::Kind::expression) return value;
    std::string_view text = value.text;
    Node out = value;
    out.kind = Node::Kind::string;
    if (text.starts_with("torch.") && std::ranges::count(dtypes, text.substr(6)) > 0) {
      out.text = text.substr(6);
      return out;
    }
    const bool negated = text.starts_with("not ");
    if (negated) text.remove_prefix(4);
    if (std::ranges::count(by_gpu, text) == 0) return value;
    out.text = negated ? "without bf16" : "with bf16";
    return out;
  }

  const Document& script_;
  Calls calls_{};
  Diagnostics errors_{};
  Node root_{};
  std::set<std::string> seen_{};
};

Result<Node> config(const Document& script) { return Reader(script).config(); }

}  // namespace

const Trainer* find_trainer(std::string_view name) {
  const auto* found = std::ranges::find(trainers, name, &Trainer::name);
  return found == trainers.end() ? nullptr : found;
}

const ScriptForm form{is_script, config};

}  // namespace oomplan::ingestion::unsloth
