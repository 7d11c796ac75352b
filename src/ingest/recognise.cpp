#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "file_kind.hpp"
#include "oomplan/core/text.hpp"
#include "steps.hpp"

namespace oomplan::ingestion {
namespace {

struct Score {
  const Dialect* dialect = nullptr;
  std::size_t known = 0;           ///< How many of the file's keys it knows.
  std::vector<std::string> own{};  ///< Those of them that no other dialect knows.
  bool names_model = false;        ///< Its key for the model is there.

  /// Of two that know as many, the one with more keys of its own, then the one that has the model.
  auto rank() const { return std::tuple(known, own.size(), names_model); }
};

bool may_be(const Dialect& dialect, const Inputs& inputs) {
  const auto tells = [&](std::string_view key) { return has_path(inputs, key); };
  return dialect.tells.empty() || std::ranges::count_if(dialect.tells, tells) >= 2;
}

std::vector<Score> blank_scores(const Inputs& inputs) {
  std::vector<Score> out;
  for (const Dialect* dialect : registry()) {
    if (dialect->of_script == nullptr && may_be(*dialect, inputs)) out.push_back({dialect});
  }
  return out;
}

/// The dialects that know each of the file's keys.
std::map<std::string_view, std::vector<Score*>> knowing_each(const Inputs& inputs, std::vector<Score>& scores) {
  std::map<std::string_view, std::vector<Score*>> out;
  for (const Input& input : inputs) out[input.key];
  for (Score& score : scores) {
    for (const std::string_view key : score.dialect->keys()) {
      const auto found = out.find(key);
      if (found == out.end() || std::ranges::count(found->second, &score) > 0) continue;
      found->second.push_back(&score);
    }
  }
  return out;
}

/// The best first.
std::vector<Score> scores_of(const Inputs& inputs) {
  std::vector<Score> out = blank_scores(inputs);
  const auto knowing_by_key = knowing_each(inputs, out);
  for (const Input& input : inputs) {
    for (Score& score : out) {
      if (input.key == score.dialect->model_key) score.names_model = true;
    }
    const std::vector<Score*>& knowing = knowing_by_key.at(input.key);
    for (Score* score : knowing) ++score->known;
    if (knowing.size() == 1) knowing.front()->own.push_back(input.key);
  }
  std::ranges::stable_sort(out, std::greater{}, &Score::rank);
  return out;
}

std::string listed() {
  std::string out;
  for (const Dialect* dialect : registry()) {
    if (dialect->of_script == nullptr) out += (out.empty() ? "" : ", ") + std::string(dialect->name);
  }
  return out;
}

Diagnostic about(const Document& document, std::string_view code, std::string message) {
  return {Severity::error,
          std::string(code),
          std::move(message),
          {document.file, 0, 0},
          "say which with --dialect: " + listed(),
          {}};
}

/// "hf's (packing, use_peft)": with keys that are its alone, as many as a message bears.
std::string shown(const Score& score) {
  constexpr std::size_t most = 3;
  std::string keys;
  for (std::size_t i = 0; i < std::min(score.own.size(), most); ++i) keys += (i == 0 ? "" : ", ") + score.own[i];
  return std::string(score.dialect->name) + "'s" + (keys.empty() ? "" : " (" + keys + ")");
}

Result<const Dialect*> named(const Document& document, std::string_view name) {
  const Dialect* found = find_dialect(name);
  if (found != nullptr && (found->of_script == nullptr || is_script(document.syntax))) return found;
  if (found != nullptr) {
    Diagnostic out =
        about(document, "ingest/unknown-dialect",
              std::string(name) + "'s configs are Python scripts and notebooks, which this file is none of");
    out.hint = "a script's name ends with .py, a notebook's with .ipynb";
    return out;
  }
  Diagnostic out = about(document, "ingest/unknown-dialect", "no dialect is called \"" + std::string(name) + "\"");
  out.hint = "known: " + listed();
  return out;
}

Diagnostic not_read(const Document& document, const FileKind& kind) {
  Diagnostic out = about(document, kind.trains ? "ingest/unknown-dialect" : "ingest/no-training",
                         "this is " + std::string(kind.what) + ", which " +
                             (kind.trains ? "is not read yet" : "trains nothing by itself"));
  out.hint = (kind.trains ? "what would work: " : "") + std::string(kind.hint);
  return out;
}

}  // namespace

Result<const Dialect*> recognise(const Inputs& inputs, const Document& document, std::string_view name) {
  if (!name.empty()) return named(document, name);
  const std::vector<Score> scores = scores_of(inputs);
  const Score& best = scores.front();
  if (const std::optional<FileKind> kind = kind_of(inputs); kind && best.known < inputs.size())
    return not_read(document, *kind);
  if (best.known * 3 < inputs.size() || best.known == 0) {
    return about(document, "ingest/unknown-dialect", "no dialect knows enough of these keys");
  }
  if (scores.size() > 1 && scores[1].rank() == best.rank()) {
    return about(document, "ingest/ambiguous-dialect",
                 "these keys are as much " + shown(best) + " as " + shown(scores[1]));
  }
  return best.dialect;
}

}  // namespace oomplan::ingestion
