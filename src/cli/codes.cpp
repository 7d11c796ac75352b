#include "codes.hpp"

#include <algorithm>
#include <array>

namespace oomplan::cli {
namespace {

constexpr auto rows = std::to_array<CodeRow>({
    {"catalog/bad-value", Verdict::invalid,
     "The model's config.json has a value of the wrong type or out of range, so its shapes cannot be known. Mend the "
     "file, or name the model by its hub id."},
    {"catalog/missing-key", Verdict::invalid,
     "The model's config.json lacks a key that decides its shapes. A config.json saved by transformers has it; "
     "a hand-written one needs it added."},
    {"catalog/unknown-architecture", Verdict::undecided,
     "The model's model_type is one that oomplan has no description of, so no number is given. The message lists the "
     "known ones; docs/adding.md says how to describe another."},
    {"catalog/unknown-gpu", Verdict::usage,
     "No GPU of that name is known. `oomplan gpus` lists them; a size such as 24GiB is taken as well."},
    {"catalog/unknown-model", Verdict::undecided,
     "The model is neither a path that exists nor a hub id that oomplan knows; it never asks the network. Give the "
     "path of the model's directory or of its config.json (--set changes one key of the config)."},
    {"cli/output", Verdict::invalid, "The answer could not be written: standard output is closed or its disk is full."},
    {"cli/unknown-bucket", Verdict::usage, "--explain takes the name of a bucket, as the table's rows have it."},
    {"cli/usage", Verdict::usage,
     "The command line cannot be understood. `oomplan --help` and `oomplan COMMAND --help` say what there is."},
    {"estimate/too-large", Verdict::invalid,
     "A size in the config is beyond anything that a machine has; most likely a slip of the keyboard."},
    {"estimate/too-long", Verdict::invalid,
     "The sequence is longer than the positions that the model can address. The run itself would stop with an index "
     "error. Shorten the sequence or take another model."},
    {"estimate/unmodelled", Verdict::undecided,
     "The config asks for something that changes memory and that oomplan does not play yet. A number that ignores it "
     "would be wrong, so none is given. Without that key (or with --set KEY=false for a what-if) there is an answer."},
});

constexpr int urgency(Verdict verdict) {
  switch (verdict) {
    case Verdict::bug:
      return 4;
    case Verdict::usage:
      return 3;
    case Verdict::invalid:
      return 2;
    case Verdict::undecided:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

std::span<const CodeRow> code_rows() { return rows; }

const CodeRow* find_code(std::string_view code) {
  const auto* row =
      std::lower_bound(rows.begin(), rows.end(), code, [](const CodeRow& r, auto c) { return r.code < c; });
  return row != rows.end() && row->code == code ? row : nullptr;
}

Verdict verdict_of(const Diagnostics& diagnostics) {
  Verdict worst = Verdict::answered;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != Severity::error) continue;
    const CodeRow* row = find_code(diagnostic.code);
    const Verdict verdict = row ? row->verdict : Verdict::bug;
    if (urgency(verdict) > urgency(worst)) worst = verdict;
  }
  return worst;
}

}  // namespace oomplan::cli
