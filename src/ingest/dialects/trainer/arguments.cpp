#include "arguments.hpp"

#include <string_view>

#include "../../optimizers.hpp"
#include "../../versions.hpp"

namespace oomplan::ingestion::trainer {
namespace {

constexpr std::string_view with_momentum = "sgd_momentum";

}  // namespace

void plan_optimizer(const Arguments& args, TrainingPlan& plan) {
  const auto optim = args.get<std::string>("optim");
  auto& optimizer = plan.optimizer.name;
  if (optim.value) {
    const OptimizerName& name = *find_optimizer(*optim.value);
    optimizer = {std::string(name.plan.empty() ? name.theirs : name.plan), optim.origin};
    if (name.plan.empty()) plan.unmodelled.push_back({"optimizer " + *optim.value, "optim", optim.origin.where});
  }
  const auto more = args.get<std::string>("optim_args");
  // transformers up to 5.1 makes its SGD without optim_args.
  const std::string_view transformers = version_behind("transformers", plan.framework);
  const bool reads = transformers.empty() || !is_older(transformers, "5.2");
  if (reads && optimizer.value == "sgd" && has_momentum(more.value.value_or(""))) {
    optimizer = {std::string(with_momentum), more.origin};
  }
}

void plan_clipping(const Arguments& args, Setting<bool>& clips) {
  const auto norm = args.get<double>("max_grad_norm");
  if (norm.value) clips = {*norm.value > 0, norm.origin};
}

void plan_noise(const Arguments& args, Setting<bool>& noise) {
  const auto alpha = args.get<double>("neftune_noise_alpha");
  if (alpha.value) noise = {true, alpha.origin};
}

Said optim(const TrainingPlan& plan) {
  const std::string& name = plan.optimizer.name.value;
  return name == with_momentum ? "sgd" : trainer_name(name);
}

Said optim_args(const TrainingPlan& plan) {
  return word_where(plan.optimizer.name.value == with_momentum, "momentum=0.9");
}

Said max_grad_norm(const TrainingPlan& plan) { return plan.optimizer.clip_gradients.value ? "1.0" : "0.0"; }

Said neftune_noise_alpha(const TrainingPlan& plan) { return word_where(plan.recipe.neftune.value, "5.0"); }
Said bf16(const TrainingPlan& plan) { return flag(plan.precision.autocast.value == Autocast::bf16); }
Said fp16(const TrainingPlan& plan) { return flag(plan.precision.autocast.value == Autocast::fp16); }
Said streaming(const TrainingPlan& plan) { return flag_where(plan.loader.rows_as.value == RowsAs::stream, true); }
Said four_bit_kind(const TrainingPlan& plan) {
  return word_where(plan.quantization.kind.value == Quantization::fp4, "fp4");
}

}  // namespace oomplan::ingestion::trainer
