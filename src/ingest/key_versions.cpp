#include "key_versions.hpp"

#include <algorithm>
#include <charconv>

#include "versions.hpp"

namespace oomplan::ingestion {
namespace {

const KeyLine* line_of(const std::vector<KeyLine>& lines, std::string_view key) {
  const auto found = std::ranges::find(lines, key, &KeyLine::what);
  return found == lines.end() ? nullptr : &*found;
}

bool is_before(const Stack& stack, const KeyVersion& bound) {
  const std::string_view version = version_in(stack, bound.package);
  return !version.empty() && is_older(version, bound.version);
}

bool is_gone(const KeyFile& file, const Stack& stack, std::string_view key) {
  const KeyLine* line = line_of(file.until, key);
  return line != nullptr && !is_before(stack, key_version(line->text));
}

bool is_to_come(const KeyFile& file, const Stack& stack, std::string_view key) {
  const KeyLine* line = line_of(file.since, key);
  return line != nullptr && is_before(stack, key_version(line->text));
}

void refuse(const Input& input, std::string message, std::string hint, Draft& draft) {
  draft.errors.push_back(at_value(input, "ingest/refused", input.key + ": " + std::move(message), std::move(hint)));
  draft.bad_keys.push_back(input.key);
  std::erase_if(draft.plan.unmodelled, [&](const Unmodelled& gap) { return gap.key == input.key; });
}

std::string none(const Stack& stack, const KeyVersion& bound) {
  return stack.name_of(bound.package) + " has no such argument";
}

/// "trl before 0.20 has it, and --framework trl==… says the version".
std::string had(const KeyVersion& bound, std::string_view when, const Draft& draft) {
  const bool guessed = draft.plan.recipe.trainer.origin.kind == Origin::Kind::assumed;
  return std::string(bound.package) + std::string(when) + std::string(bound.version) + " has it: --framework " +
         std::string(bound.package) + "==… says which runs" +
         (guessed && bound.package == "trl"
              ? "; --trainer trainer, if a script around transformers' Trainer reads this file"
              : "");
}

}  // namespace

KeyVersion key_version(std::string_view text) {
  KeyVersion out;
  const auto semicolon = text.find("; ");
  if (semicolon != text.npos) out.note = text.substr(semicolon + 2);
  text = text.substr(0, semicolon);
  const auto space = text.find(' ');
  out.package = text.substr(0, space);
  if (space != text.npos) out.version = text.substr(space + 1);
  return out;
}

std::string_view version_in(const Stack& stack, std::string_view package) {
  const auto found = std::ranges::find(stack.layers(), package, &StackLayer::package);
  return found == stack.layers().end() ? std::string_view() : std::string_view(found->version);
}

bool has_key(const KeyFile& file, const Stack& stack, std::string_view key) {
  return !is_gone(file, stack, key) && !is_to_come(file, stack, key);
}

void refuse_by_version(const KeyFile& file, const Stack& stack, const KeyReaders& readers, const Inputs& inputs,
                       Draft& draft) {
  const std::string& trainer = draft.plan.recipe.trainer.value;
  for (const Input& input : inputs) {
    const bool taken_out = !input.command_line.empty() && input.value->kind == Node::Kind::null;
    if (taken_out) continue;
    const KeyLine* until = line_of(file.until, input.key);
    if (until != nullptr && is_gone(file, stack, input.key)) {
      const KeyVersion bound = key_version(until->text);
      const std::string now = bound.note.empty() ? "" : "; " + std::string(bound.note);
      if (readers.reads(bound.package, trainer))
        refuse(input, none(stack, bound) + now, had(bound, " before ", draft), draft);
      continue;
    }
    const KeyLine* since = line_of(file.since, input.key);
    if (since == nullptr || !is_to_come(file, stack, input.key)) continue;
    const KeyVersion bound = key_version(since->text);
    if (readers.strict(bound.package, trainer))
      refuse(input, none(stack, bound) + " yet", had(bound, " from ", draft), draft);
  }
}

std::vector<const Input*> refused_by_version(const KeyFile& file, const Inputs& inputs, const Draft& draft) {
  std::vector<const Input*> out;
  for (const Input& input : inputs) {
    const bool bad = std::ranges::count(draft.bad_keys, input.key) > 0;
    if (bad && (line_of(file.until, input.key) || line_of(file.since, input.key))) out.push_back(&input);
  }
  return out;
}

namespace {

/// "0.26" of "0.27": a minor version stands for all its patches. Empty of "1.0".
std::string minor_before(std::string_view version) {
  const auto dot = version.find('.');
  int minor = 0;
  if (dot != version.npos) std::from_chars(version.data() + dot + 1, version.data() + version.size(), minor);
  return minor > 0 ? std::string(version.substr(0, dot + 1)) + std::to_string(minor - 1) : "";
}

/// The newest version that the layer stands for and that has the keys; empty where there is none.
std::string newest_with(const KeyFile& file, const std::vector<const Input*>& keys, const StackLayer& layer) {
  std::string out = layer.version;
  for (const Input* input : keys) {
    const KeyLine* line = line_of(file.until, input->key);
    const KeyVersion bound = line == nullptr ? KeyVersion{} : key_version(line->text);
    if (bound.package == layer.package && !is_older(out, bound.version)) out = minor_before(bound.version);
  }
  for (const Input* input : keys) {
    const KeyLine* line = line_of(file.since, input->key);
    const KeyVersion bound = line == nullptr ? KeyVersion{} : key_version(line->text);
    if (bound.package == layer.package && is_older(out, bound.version)) return {};
  }
  return !out.empty() && covers(layer, out) ? out : std::string();
}

/// The oldest version of `package` that the framework's own layer takes; empty where it says nothing.
std::string oldest_below(std::string_view top, std::string_view version, std::string_view package) {
  for (const StackLayer& layer : stack_layers()) {
    if (layer.package != top || !covers(layer, version)) continue;
    for (const auto& [other, oldest] : layer.needs) {
      if (other == package) return oldest;
    }
  }
  return {};
}

}  // namespace

std::string_view package_of(const KeyFile& file, std::string_view key) {
  const KeyLine* until = line_of(file.until, key);
  const KeyLine* line = until == nullptr ? line_of(file.since, key) : until;
  return line == nullptr ? std::string_view() : key_version(line->text).package;
}

std::vector<NamedVersion> versions_with(const KeyFile& file, const std::vector<const Input*>& keys,
                                        std::string_view package, const TrainingPlan& plan) {
  const std::string_view top = std::string_view(plan.framework).substr(0, plan.framework.find(' '));
  const std::string oldest = oldest_below(top, framework_version(plan, top), package);
  std::vector<NamedVersion> out;
  for (const StackLayer& layer : stack_layers()) {
    const bool held = layer.package == package && !layer.since.empty() && layer.is_for(top);
    const std::string version = held ? newest_with(file, keys, layer) : std::string();
    const bool runs = !version.empty() && (oldest.empty() || !is_older(version, oldest));
    if (runs) out.push_back({layer.package, version, {}, false});
  }
  std::ranges::sort(out, [](const NamedVersion& a, const NamedVersion& b) { return is_older(b.version, a.version); });
  return out;
}

}  // namespace oomplan::ingestion
