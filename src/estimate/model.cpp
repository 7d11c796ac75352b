#include "model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "adapter_checks.hpp"
#include "oomplan/core/text.hpp"
#include "op_names.hpp"

namespace oomplan::estimator {
namespace {

void add_unknown(Builder& builder, std::string_view kind, const std::string& name,
                 const std::vector<std::string_view>& known) {
  Diagnostic d;
  d.code = "estimate/bad-architecture";
  d.message = fmt::format("{}: there is no {} \"{}\"", builder.architecture.name, kind, name);
  if (const auto near = nearest(name, known)) d.hint = fmt::format("did you mean \"{}\"?", *near);
  builder.add_once(std::move(d));
}

/// A module in torch's checkpoint_wrapper.
class Wrapped final : public Module {
 public:
  Wrapped(std::unique_ptr<Module> module, bool by_name) : module_(std::move(module)), by_name_(by_name) {}

  void forward(Play& play, Stream& s) const override {
    const auto forward = [play, this, arguments = by_name_ ? s.arguments : Arguments()](const Tensor& input) mutable {
      Stream within;
      within.arguments = arguments;
      within.hidden = input;
      module_->forward(play, within);
      return within.hidden;
    };
    s.hidden = play.torch.checkpoint(s.hidden, forward, {.by_name = by_name_});
  }

 private:
  std::unique_ptr<Module> module_;
  bool by_name_;
};

/// `wraps`: those that are modules, each.
void make_steps(std::span<const OpSpec> specs, Builder& builder, Modules& out, bool wraps = false) {
  for (const OpSpec& spec : specs) {
    const OpType* op = find_op(spec.op);
    if (op == nullptr) {
      add_unknown(builder, "op", spec.op, op_names());
      continue;
    }
    out.push_back(op->make(Attributes(spec, builder), builder));
    const bool by_name = op->called_by == CalledBy::name;
    if (wraps && (by_name || op->called_by == CalledBy::position))
      out.back() = std::make_unique<Wrapped>(std::move(out.back()), by_name);
  }
}

void make_head(const OpSpec& spec, Builder& builder, Model& model) {
  const Task task = builder.facts.task;
  const OpSpec* other = head_for(builder.architecture, task);
  const OpSpec& own = other != nullptr ? *other : spec;
  const bool scores = builder.facts.scores_rows || (&own == &spec && task == Task::sequence_classification);
  const bool embeds =
      &own == &spec && task == Task::sentence_embedding;  // Of a causal model, which says nothing of it.
  const std::string name = embeds ? "sentence_head" : scores ? "score_head" : own.op;
  const HeadType* head = find_head(name);
  if (head == nullptr) return add_unknown(builder, "head", name, {});
  const Attributes attributes(own, builder);
  const auto before = std::ssize(builder.parameters);
  model.head = head->make(attributes, builder);
  // Optimizers go through parameters in the order in which a model's class names its modules.
  if (attributes.flag("named_first", false))
    std::rotate(builder.parameters.begin(), builder.parameters.begin() + before, builder.parameters.end());
}

/// The weights come after the model's own.
void make_values(const OpSpec& spec, Builder& builder, Model& model) {
  const HeadType* head = find_head("value_head");
  if (head == nullptr) return add_unknown(builder, "head", "value_head", {});
  model.values = head->make(Attributes(spec, builder), builder);
}

// peft/tuners/tuners_utils.py: inject_adapter raises a ValueError.
Diagnostic no_target(const Facts& facts, const Builder& builder) {
  Diagnostic d;
  d.code = "estimate/no-target";
  std::string targets;
  for (const std::string& target : facts.lora_targets) targets += (targets.empty() ? "" : ", ") + target;
  d.message = fmt::format("no module of {} is one of the {} targets {}", builder.architecture.source,
                          title_of(facts.kind), targets);
  d.where = facts.lora_targets_at;
  return d;
}

Diagnostic nothing_trained(const Facts& facts, const Builder& builder) {
  Diagnostic d;
  d.code = "estimate/no-target";
  d.message = "no parameter of " + builder.architecture.source +
              " is trained by these names: backward() stops, or the optimizer, which gets none";
  d.where = facts.trained_at;
  return d;
}

// llamafactory/model/adapter.py: _setup_freeze_tuning raises a ValueError.
Diagnostic no_part(const Facts& facts, const Builder& builder, const std::string& part) {
  Diagnostic d;
  d.code = "estimate/no-target";
  d.message = fmt::format("no module of a trained layer of {} is {}", builder.architecture.source, part);
  d.where = facts.trained_at;
  return d;
}

Diagnostic not_saved(const Facts& facts, const Builder& builder, const std::string& module) {
  Diagnostic d;
  d.code = "estimate/unmodelled";
  d.message =
      fmt::format("training a copy of {}, which is neither the embedding nor the head of {}, is not modelled yet",
                  module, builder.architecture.source);
  d.where = facts.modules_to_save_at;
  return d;
}

int last_norm_of(const std::vector<OpSpec>& tail) {
  const auto is_norm = [](const OpSpec& spec) { return spec.op.find("norm") != std::string::npos; };
  const auto at = std::find_if(tail.rbegin(), tail.rend(), is_norm);
  return static_cast<int>(tail.rend() - at) - 1;
}

/// Of layers that share weights, the first that has those of layer `number`.
std::int64_t owner_of(const Segment& segment, std::int64_t number) {
  const auto layers = std::ssize(segment.layers);
  if (segment.groups == 0) return number;
  return divided_up(number * segment.groups / layers * layers, segment.groups);
}

using Beside = std::vector<std::vector<OpSpec>>;

/// Those beside a layer of this kind.
std::span<const OpSpec> beside(const Beside& steps, std::uint8_t kind) {
  return kind < steps.size() ? std::span(steps[kind]) : std::span<const OpSpec>();
}

/// Of the segment's first `layers`, those that have such steps.
std::int64_t having(const Segment& segment, const Beside& steps, std::int64_t layers) {
  const auto end = segment.layers.begin() + static_cast<std::ptrdiff_t>(layers);
  return std::count_if(segment.layers.begin(), end, [&](std::uint8_t kind) { return !beside(steps, kind).empty(); });
}

/// The steps beside a layer, numbered among the layers that have some.
Modules make_beside(const Segment& segment, const Beside& steps, const Unit& unit, std::int64_t number,
                    Builder& builder) {
  Modules out;
  Restore first(builder.first_layer, having(segment, steps, number));
  Restore step(builder.layer_step,
               having(segment, steps, unit.number + unit.layers) - having(segment, steps, unit.number));
  Restore whole_name(builder.prefix, std::string());
  make_steps(beside(steps, segment.layers[static_cast<std::size_t>(number)]), builder, out);
  return out;
}

/// A layer whose class is no GradientCheckpointingLayer has an op that says so, and one that is left out where there
/// are no images.
bool may_be_checkpointed(const Segment& segment, std::int64_t number, const Facts& facts) {
  const std::vector<OpSpec>& ops = segment.kinds[segment.layers[static_cast<std::size_t>(number)]];
  return std::ranges::none_of(ops, [&](const OpSpec& op) {
    const Attribute* says = op.find("checkpointed");
    const auto* word = says == nullptr ? nullptr : std::get_if<std::string>(says);
    return word != nullptr && (*word == "never" || facts.images.count == 0);
  });
}

/// The span that an op of the layer says; with `given: own_span` of its rotation too.
OfKind of_kind(const Segment& segment, std::int64_t number, Builder& builder) {
  OfKind out;
  for (const OpSpec& op : segment.kinds[segment.layers[static_cast<std::size_t>(number)]]) {
    if (op.find("span") != nullptr) out.mask = Attributes(op, builder).span("span");
    const Attribute* given = op.find("given");
    const auto* word = given == nullptr ? nullptr : std::get_if<std::string>(given);
    if (word != nullptr && *word == "own_span") out.rotation = Attributes(op, builder).span("span");
  }
  return out;
}

/// Where an op says `given: in_order`, its mask.
InOrder in_order(const Segment& segment, std::int64_t number) {
  InOrder out;
  for (const OpSpec& op : segment.kinds[segment.layers[static_cast<std::size_t>(number)]]) {
    const Attribute* given = op.find("given");
    const auto* word = given == nullptr ? nullptr : std::get_if<std::string>(given);
    if (word != nullptr && *word == "in_order") (op.find("cross") != nullptr ? out.cross : out.own) = true;
  }
  return out;
}

void make_layers(const Segment& segment, const Unit& unit, Builder& builder, Model::Segment& made) {
  std::vector<std::shared_ptr<const Modules>>& out = made.blocks;
  builder.prefix = segment.module + ".*";
  builder.repeats = unit.times;
  builder.layers = std::ssize(segment.layers);
  for (int i = 0; i < unit.layers; ++i) {
    const std::int64_t owner = owner_of(segment, unit.number + i);
    Restore in_layer(builder.torch.recorder.scope.layer, static_cast<std::int16_t>(unit.first + i));
    made.before.push_back(make_beside(segment, segment.before, unit, unit.number + i, builder));
    made.after.push_back(make_beside(segment, segment.after, unit, unit.number + i, builder));
    made.checkpointed.push_back(builder.facts.checkpointed.is(unit.number + i) &&
                                may_be_checkpointed(segment, unit.number + i, builder.facts));
    made.of_kind.push_back(of_kind(segment, unit.number + i, builder));
    made.in_order.push_back(in_order(segment, unit.number + i));
    if (owner < unit.number + i) {
      out.push_back(out[static_cast<std::size_t>(owner)]);  // Of such a segment every layer is built.
      made.trains.push_back(made.trains[static_cast<std::size_t>(owner)]);
      continue;
    }
    builder.first_layer = unit.number + i;
    builder.layer_step = unit.layers;
    const std::uint8_t kind = segment.layers[static_cast<std::size_t>(unit.number + i)];
    Modules block;
    const std::int64_t before = std::ssize(builder.parameters);
    make_steps(segment.kinds[kind], builder, block, builder.facts.checkpoints_modules);
    made.trains.push_back(std::any_of(builder.parameters.begin() + before, builder.parameters.end(),
                                      [](const Parameter& p) { return p.trained; }));
    out.push_back(std::make_shared<const Modules>(std::move(block)));
  }
  builder.prefix.clear();
  builder.repeats = 1;
  builder.layers = 0;
}

/// What a clip comes to: twice as many frames as the stem leaves, each of so many bins.
std::int64_t features_of(const Architecture& architecture) {
  if (architecture.body.empty()) return 0;
  const auto& stem = architecture.body.front().stem;
  const auto audio = std::ranges::find(stem, "audio_stem", &OpSpec::op);
  if (audio == stem.end()) return 0;
  std::int64_t out = 2;
  for (const char* size : {"frames", "bins"}) {
    const Attribute* a = audio->find(size);
    const auto* count = a == nullptr ? nullptr : std::get_if<std::int64_t>(a);
    out = saturating_mul(out, count == nullptr ? 1 : *count);
  }
  return out;
}

void make_body(const Repetition& repetition, Builder& builder, Model& model) {
  std::vector<Model::Segment>& out = model.body;
  const int first = model.first_segment;
  auto unit = std::ranges::find_if(repetition.units(), [&](const Unit& u) { return u.segment >= first; });
  if (unit != repetition.units().end()) model.first_layer = static_cast<std::int16_t>(unit->first);
  for (const Segment& segment : builder.architecture.body) {
    Model::Segment& made = out.emplace_back();
    made.decodes = segment.decodes;
    made.hears = segment.hears;
    made.merges = segment.merges;
    Restore media(builder.facts.images, segment.hears ? builder.facts.sounds : builder.facts.images);
    make_steps(segment.stem, builder, made.stem);
    for (const int here = first + static_cast<int>(out.size()) - 1;
         unit != repetition.units().end() && unit->segment == here; ++unit) {
      if (segment.taken && unit->number == *segment.taken) made.taken = std::ssize(made.blocks);
      make_layers(segment, *unit, builder, made);
    }
    made.tower = segment.tower;
    made.silent = segment.silent;
    make_steps(segment.tail, builder, made.tail);
  }
}

}  // namespace

Result<Model> build(Torch& torch, const Facts& facts, const Architecture& architecture, const Repetition& repetition,
                    std::unique_ptr<Policy> policy, const Model* before, int first_segment, const std::string& owner) {
  Builder builder(torch, facts, architecture, *policy);
  Model model;
  builder.own_modules(owner, before == nullptr ? std::vector<std::string>() : before->modules);
  model.features = features_of(architecture);
  model.first_segment = first_segment;
  make_body(repetition, builder, model);
  make_steps(architecture.tail, builder, model.tail);
  model.last_norm = last_norm_of(architecture.tail);
  if (!architecture.head.op.empty()) make_head(architecture.head, builder, model);
  if (facts.has_values) make_values(architecture.head, builder, model);
  if (facts.adapts() && builder.trained == 0 && facts.trained.empty() && builder.problems.empty())
    builder.problems.push_back(no_target(facts, builder));
  // Without enable_input_require_grads nothing asks for a gradient, and backward() raises.
  const bool raises = !facts.frozen.empty() || (!facts.trained.empty() && !facts.input_grads);
  if (raises && builder.trained == 0 && builder.problems.empty())
    builder.problems.push_back(nothing_trained(facts, builder));
  for (const std::string& part : facts.trained_layers == 0 ? std::vector<std::string>{} : builder.unmatched_parts())
    builder.problems.push_back(no_part(facts, builder, part));
  for (const std::string& name : builder.unsaved_modules()) builder.problems.push_back(not_saved(facts, builder, name));
  if (!builder.problems.empty()) return std::move(builder.problems);
  builder.finish_loading();
  if (facts.adapts()) model.unmatched_targets = builder.unmatched_targets();
  model.scans = builder.scans;
  model.remembers = builder.remembers;
  model.parameters = std::move(builder.parameters);
  model.modules = std::move(builder.modules);
  model.policy = std::move(policy);
  model.policy->wrap(torch, model.parameters);
  model.total = builder.total;
  model.trained = builder.trained;
  return model;
}

}  // namespace oomplan::estimator
