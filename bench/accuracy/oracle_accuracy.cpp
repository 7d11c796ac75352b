// Holds estimates against the true allocated bytes of training steps.
//
//   oracle_accuracy --models MODELS.json --cases CASES.json --results RESULTS.json [--json OUT]
//
// MODELS: name -> {arch, config: Hugging Face keys}. CASES: a list of plans. RESULTS: for each case its id and the peaks
// of each phase of steps 1 and 2. Prints a line a case and, last,
// "S of N supported, A within 0.1 %, B within 1 %, worst W %".
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "oomplan/catalog.hpp"
#include "oomplan/estimate.hpp"

namespace {

using nlohmann::json;
using namespace oomplan;

const std::map<std::string, Phase> phases{{"fwd", Phase::forward},        {"loss", Phase::loss},
                                          {"bwd", Phase::backward},       {"opt", Phase::optimizer_step},
                                          {"between", Phase::between}};

std::string_view short_name(Phase phase) {
  for (const auto& [name, p] : phases) {
    if (p == phase) return name;
  }
  return "load";
}

json load(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  return json::parse(in);
}

/// Options of a case that no plan expresses and that change what is allocated.
std::string unsupported_option(const json& c) {
  for (const char* key : {"experts", "tgt_len"}) {
    if (c.contains(key)) return key;
  }
  if (!c.value("train_mode", true)) return "train_mode";
  if (c.value("steps", 2) != 2) return "steps";
  return "";
}

std::string optimizer_of(const std::string& name) {
  static const std::map<std::string, std::string> names{
      {"adamw", "adamw_foreach"},     {"adamw_foreach", "adamw_foreach"}, {"adamw_forloop", "adamw_for_each"},
      {"adamw_fused", "adamw_fused"}, {"adamw8bit", "adamw_8bit"}};
  const auto at = names.find(name);
  return at == names.end() ? name : at->second;
}

TrainingPlan plan_of(const json& c) {
  TrainingPlan p;
  const std::string precision = c.value("precision", "bf16_pure");
  const std::string method = c.value("method", "full");
  p.micro_batch_size.value = c.value("micro_batch", 1);
  p.sequence_length.value = c.value("seq_len", 128);
  p.gradient_accumulation_steps.value = c.value("grad_accum", 1);
  const bool bf16_base = precision == "bf16_pure" || (method != "full" && c.value("base_bf16", false));
  p.weights_dtype.value = bf16_base ? WeightsDType::bf16 : WeightsDType::fp32;
  p.autocast.value = precision == "amp_bf16" ? Autocast::bf16 : Autocast::none;
  p.adapter.value = method == "full" ? Adapter::none : Adapter::lora;
  p.lora_rank.value = c.value("lora_r", 16);
  p.lora_targets.value = c.value("lora_targets", std::vector<std::string>{"q_proj", "v_proj"});
  p.lora_dropout.value = c.value("lora_dropout", 0.0);
  p.adapter_dtype.value = c.value("adapter_fp32", true) ? AdapterDType::fp32 : AdapterDType::as_base;
  p.quantization.value = method == "qlora" ? Quantization::nf4 : Quantization::none;
  p.double_quantization.value = c.value("double_quant", true);
  p.quantization_compute_dtype.value = DType::bf16;
  p.optimizer.value = optimizer_of(c.value("optimizer", "adamw"));
  p.clip_gradients.value = c.value("clip_grad", false);
  p.gradient_checkpointing.value = c.value("gradient_checkpointing", false);
  p.reentrant_checkpointing.value = c.value("use_reentrant", false);
  p.attention.value = c.value("attention", "sdpa") == "eager" ? Attention::eager : Attention::sdpa;
  p.outputs_kept.value = !c.value("del_out", false);
  p.set_grads_to_none.value = c.value("set_to_none", true);
  p.use_cache.value = c.value("use_cache", false);
  return p;
}

struct Outcome {
  std::string unsupported{};
  std::int64_t predicted = 0;
  Phase predicted_phase = Phase::load;
  double error = 0.0;        ///< Of the peak, in %.
  double worst_phase = 0.0;  ///< The largest error among the phases' peaks, in %.
};

double percent(std::int64_t predicted, std::int64_t truth) {
  return 100.0 * (static_cast<double>(predicted) - static_cast<double>(truth)) / static_cast<double>(truth);
}

Outcome compare(const Footprint& f, const json& result) {
  Outcome o;
  o.predicted = f.peak.total.count();
  o.predicted_phase = f.peak.phase;
  o.error = percent(o.predicted, result.at("peak"));
  for (const PhasePeak& p : f.peaks) {
    if (p.step == 0) continue;
    const json& step = result.at("steps").at(static_cast<std::size_t>(p.step - 1));
    const auto truth = step.find(std::string(short_name(p.phase)));
    if (truth == step.end()) continue;
    const double e = percent(p.total.count(), truth->at("peak"));
    if (std::abs(e) > std::abs(o.worst_phase)) o.worst_phase = e;
  }
  return o;
}

std::string joined(const Diagnostics& errors) {
  std::string text;
  for (const Diagnostic& d : errors) text += (text.empty() ? "" : "; ") + d.message;
  return text;
}

Outcome run_case(const json& models, const json& c, const json& result) {
  Outcome o;
  o.unsupported = unsupported_option(c);
  if (!o.unsupported.empty()) return o;
  json config = models.at(c.at("model").get<std::string>()).at("config");
  config.update(c.value("config_override", json::object()));
  const auto document = parse_document(config.dump(), c.at("model"), Syntax::json);
  const auto architecture = document ? architecture_of(*document) : Result<Architecture>(document.errors());
  if (!architecture) return {.unsupported = joined(architecture.errors())};
  const auto footprint = estimate(plan_of(c), *architecture);
  if (!footprint) return {.unsupported = joined(footprint.errors())};
  return compare(*footprint, result);
}

const json* result_of(const json& results, const json& c) {
  for (const json& r : results) {
    if (r.value("id", "") == c.value("id", "")) return &r;
  }
  return nullptr;
}

int run(const std::string& models_path, const std::string& cases_path, const std::string& results_path,
        const std::string& json_path) {
  const json models = load(models_path);
  const json cases = load(cases_path);
  const json results = load(results_path);
  json rows = json::array();
  int supported = 0, exact = 0, close = 0, right_phase = 0, phases_close = 0;
  double worst = 0.0;
  for (const json& c : cases) {
    const std::string id = c.value("id", "?");
    const json* result = result_of(results, c);
    if (result == nullptr || !result->contains("peak")) continue;
    const Outcome o = run_case(models, c, *result);
    if (!o.unsupported.empty()) {
      fmt::print("{} {:<18} unsupported: {}\n", id, c.value("model", "?"), o.unsupported);
      rows.push_back({{"id", id}, {"unsupported", o.unsupported}});
      continue;
    }
    const std::int64_t truth = result->at("peak");
    const std::string true_phase = result->at("peak_phase");
    fmt::print("{} {:<18} predicted {:>15} true {:>15} error {:>8.4f} % phase {:<4} true {:<4} worst phase {:>8.4f} %\n",
               id, c.value("model", "?"), o.predicted, truth, o.error, short_name(o.predicted_phase), true_phase,
               o.worst_phase);
    rows.push_back({{"id", id}, {"predicted", o.predicted}, {"true", truth}, {"error_percent", o.error},
                    {"predicted_phase", short_name(o.predicted_phase)}, {"true_phase", true_phase},
                    {"worst_phase_percent", o.worst_phase}});
    ++supported;
    exact += std::abs(o.error) <= 0.1;
    close += std::abs(o.error) <= 1.0;
    right_phase += short_name(o.predicted_phase) == true_phase;
    phases_close += std::abs(o.worst_phase) <= 1.0;
    if (std::abs(o.error) > std::abs(worst)) worst = o.error;
  }
  if (!json_path.empty()) std::ofstream(json_path) << rows.dump(1) << '\n';
  fmt::print("peak phase right in {} of {}, every phase peak within 1 % in {} of {}\n", right_phase, supported,
             phases_close, supported);
  fmt::print("{} of {} supported, {} within 0.1 %, {} within 1 %, worst {:.4f} %\n", supported, cases.size(), exact,
             close, worst);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> options;
  for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  if (!options.contains("--models") || !options.contains("--cases") || !options.contains("--results")) {
    fmt::print(stderr, "usage: oracle_accuracy --models MODELS.json --cases CASES.json --results RESULTS.json [--json OUT]\n");
    return 2;
  }
  try {
    return run(options["--models"], options["--cases"], options["--results"], options["--json"]);
  } catch (const std::exception& e) {
    fmt::print(stderr, "oracle_accuracy: {}\n", e.what());
    return 3;
  }
}
