#include "key_versions.hpp"

#include <algorithm>

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

}  // namespace oomplan::ingestion
