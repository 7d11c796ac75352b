#include "rules.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "keys.hpp"
#include "oomplan/core/embedded.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/diagnose/diagnose.hpp"
#include "oomplan/read/packed.hpp"

namespace oomplan {
namespace diagnose {

std::span<const EmbeddedFile> embedded_files();  // of rules/

namespace {

constexpr std::string_view extension = ".yaml";
// The prefilter of whole logs looks at every fourth byte; shorter anchors are found only near others.
constexpr std::size_t shortest_loud = 7;

struct File {
  std::string_view path;
  std::string_view text;
  std::string_view packed;
  std::string shown;
};

std::vector<File> files_of(const std::vector<RuleFile>& own) {
  std::vector<File> out;
  for (const RuleFile& file : own) out.push_back({file.path, file.text, {}, file.file});
  for (const EmbeddedFile& file : embedded_files())
    out.push_back({file.path, {}, file.packed, "rules/" + std::string(file.path)});
  std::stable_sort(out.begin(), out.end(), [](const File& a, const File& b) { return a.path < b.path; });
  out.erase(std::unique(out.begin(), out.end(), [](const File& a, const File& b) { return a.path == b.path; }),
            out.end());
  return out;
}

std::string_view name_in(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  return path.substr(0, path.size() - std::min(path.size(), extension.size()));
}

std::string text_at(const Node& node, std::string_view key) {
  const Node* found = node.find(key);
  return found != nullptr ? found->text : std::string();
}

std::vector<std::string> texts_at(const Node& node, std::string_view key) {
  std::vector<std::string> out;
  if (const Node* found = node.find(key))
    for (const Node& item : found->items) out.push_back(item.text);
  return out;
}

std::vector<Fix> fixes_at(const Node& node, std::string_view key) {
  std::vector<Fix> out;
  if (const Node* found = node.find(key))
    for (const Entry& entry : found->entries) out.push_back({entry.key, entry.value.text});
  return out;
}

Diagnostic bad(const Document& document, std::string message) {
  return {.code = "diagnose/bad-rule", .message = std::move(message), .where = {document.file, 1, 1}};
}

Diagnostics add_cause(const Document& document, std::string_view name, Rules& rules) {
  const std::optional<Cause> cause = cause_named(name);
  if (!cause) return {bad(document, "the file is named after no cause")};
  const Node& root = document.root;
  rules.causes.push_back(
      {*cause, text_at(root, "title"), fixes_at(root, "do"), fixes_at(root, "do_not"), texts_at(root, "prove")});
  return {};
}

std::optional<Phase> phase_named(std::string_view name) {
  const auto found = std::find(phase_names.begin(), phase_names.end(), name);
  if (found == phase_names.end()) return std::nullopt;
  return static_cast<Phase>(found - phase_names.begin());
}

Diagnostics add_moment(const Document& document, std::string_view name, Rules& rules) {
  const Node& root = document.root;
  const std::string part_of = text_at(root, "part_of");
  MomentText out{.phase = std::string(name), .played = phase_named(part_of.empty() ? name : part_of)};
  if (!part_of.empty() && !out.played) return {bad(document, "the estimator plays no phase \"" + part_of + "\"")};
  const std::optional<std::int64_t> order = parse_integer(text_at(root, "order"));
  if (!order || *order < 1 || *order > 1000) return {bad(document, "a moment needs its `order`, from 1 on")};
  out.order = static_cast<int>(*order);
  out.host_memory_peaks = text_at(root, "host_memory_peaks") == "true";
  out.meaning = text_at(root, "meaning");
  out.files = texts_at(root, "files");
  out.functions = texts_at(root, "functions");
  out.code = texts_at(root, "code");
  rules.moments.push_back(std::move(out));
  return {};
}

Diagnostics add_actions(const Document& document, std::string_view, Rules& rules) {
  for (const Entry& entry : document.root.entries) rules.actions.push_back(entry.key);
  return {};
}

Diagnostics add_ladder_fix(const Document&, std::string_view name, Rules& rules) {
  rules.fixes.emplace_back(name);
  return {};
}

Diagnostics add_alike(const Document& document, std::string_view, Rules& rules) {
  rules.alike.push_back(texts_at(document.root, "ids"));
  return {};
}

Diagnostics add_launcher(const Document& document, std::string_view name, Rules& rules) {
  const Node& root = document.root;
  rules.launchers.push_back({std::string(name), texts_at(root, "signs"), texts_at(root, "names"),
                             text_at(root, "placeholder"), texts_at(root, "ask"), text_at(root, "alone") == "true"});
  return {};
}

Diagnostics add_advice(const Document& document, std::string_view name, Rules& rules) {
  const Node& root = document.root;
  AdviceText out{.name = std::string(name),
                 .replaces = text_at(root, "replaces") == "true",
                 .to_do = fixes_at(root, "do"),
                 .not_to_do = fixes_at(root, "do_not"),
                 .first = texts_at(root, "first"),
                 .drops = texts_at(root, "do_not_list"),
                 .to_prove = texts_at(root, "prove")};
  if (const Node* when = root.find("when")) {
    Diagnostics wrong = unknown_keys(
        document, *when,
        {"causes", "phases", "findings", "families", "signs", "beside", "unless", "request_below", "without"},
        "`when`");
    if (!wrong.empty()) return wrong;
    out.causes = texts_at(*when, "causes");
    out.phases = texts_at(*when, "phases");
    out.findings = texts_at(*when, "findings");
    out.families = texts_at(*when, "families");
    out.signs = texts_at(*when, "signs");
    out.beside = texts_at(*when, "beside");
    out.unless = texts_at(*when, "unless");
    out.request_below = parse_integer(text_at(*when, "request_below"));
    out.without = texts_at(*when, "without");
  }
  const auto lists_at = [&](std::string_view key, auto& lists) {
    if (const Node* found = root.find(key))
      for (const Entry& entry : found->entries) lists.emplace_back(entry.key, texts_at(*found, entry.key));
  };
  lists_at("already", out.already);
  lists_at("set", out.set);
  rules.advice.push_back(std::move(out));
  return {};
}

Diagnostics add_suggestion(const Document& document, std::string_view, Rules& rules) {
  const Node& root = document.root;
  SuggestionText out{texts_at(root, "hints"), texts_at(root, "words"), text_at(root, "says")};
  if (const Node* judged = root.find("judged"))
    for (const Node& one : judged->items)
      out.judged.push_back({texts_at(one, "causes"), text_at(one, "unless_advised"), text_at(one, "fits") == "true",
                            text_at(one, "text")});
  rules.suggestions.push_back(std::move(out));
  return {};
}

/// What is wrong with a list's phrases: an empty one would be in every text.
std::string fault_of_phrases(const Node& root) {
  for (const Entry& entry : root.entries) {
    if (entry.key == "meaning" || entry.key == "source") continue;
    const bool wholes = entry.key == "wholes";
    if (!entry.value.is_sequence()) return entry.key + " is a list of phrases";
    for (const Node& phrase : entry.value.items) {
      if (phrase.text.find_first_not_of(" *") == std::string::npos) return "a phrase is empty";
      if (wholes && std::ranges::count(phrase.text, '*') > 1) return "a phrase has more than one *";
    }
  }
  return {};
}

Diagnostics add_wording(const Document& document, std::string_view name, Rules& rules) {
  const std::optional<Wording> list = wording_named(name);
  if (!list) return {bad(document, "the file is named after no list")};
  if (text_at(document.root, "meaning").empty()) return {bad(document, "a list needs its `meaning`")};
  if (std::string fault = fault_of_phrases(document.root); !fault.empty()) return {bad(document, std::move(fault))};
  rules.wordings[static_cast<std::size_t>(*list)] = {texts_at(document.root, "parts"), texts_at(document.root, "words"),
                                                     texts_at(document.root, "wholes")};
  return {};
}

Diagnostics add_sentences(const Document& document, std::string_view name, Rules& rules) {
  Result<std::vector<Sentence>> sentences = sentences_of(document, name);
  if (!sentences) return sentences.errors();
  for (Sentence& sentence : *sentences) rules.sentences.push_back(std::move(sentence));
  return {};
}

struct Folder {
  std::string_view name;
  Diagnostics (*add)(const Document&, std::string_view, Rules&);
  std::vector<std::string_view> keys{};  // of its files; none where they have names of their own, or another reader
};

const Folder* folder_named(std::string_view name) {
  static const std::vector<Folder> folders{
      {"messages", add_sentences, {"sentences"}},
      {"causes", add_cause, {"title", "do", "do_not", "prove"}},
      {"moments", add_moment, {"order", "part_of", "meaning", "host_memory_peaks", "files", "functions", "code"}},
      {"launchers", add_launcher, {"signs", "names", "placeholder", "ask", "alone"}},
      {"advice", add_advice, {"when", "replaces", "do", "do_not", "do_not_list", "first", "already", "set", "prove"}},
      {"suggestions", add_suggestion, {"hints", "words", "says", "judged"}},
      {"actions", add_actions},
      {"alike", add_alike, {"ids"}},
      {"wording", add_wording, {"meaning", "source", "parts", "words", "wholes"}},
      {"ladder", add_ladder_fix},
  };
  const auto found = std::ranges::find(folders, name, &Folder::name);
  return found == folders.end() ? nullptr : &*found;
}

Diagnostics add_file(const File& file, Rules& rules) {
  const Folder* folder = folder_named(file.path.substr(0, std::min(file.path.find('/'), file.path.size())));
  if (folder == nullptr) return {};
  const ReadBudget budget{.bytes = std::size_t{1} << 20, .depth = 12, .nodes = 40'000};
  const Result<Document> document = data_document(file.text, file.packed, file.shown, budget);
  if (!document) return document.errors();
  const std::string what = "a file of rules/" + std::string(folder->name);
  Diagnostics wrong =
      folder->keys.empty() ? Diagnostics() : unknown_keys(*document, document->root, folder->keys, what);
  if (!wrong.empty()) return wrong;
  return folder->add(*document, name_in(file.path), rules);
}

// Which ids are the ladder's is known once all files are read.
void name_kinds(Rules& rules) {
  const auto name = [&](std::vector<Fix>& fixes) {
    for (Fix& fix : fixes)
      if (rules.is_fix(fix.id)) fix.kind = Fix::Kind::ladder;
  };
  for (CauseText& text : rules.causes) {
    name(text.to_do);
    name(text.not_to_do);
  }
  for (AdviceText& advice : rules.advice) {
    name(advice.to_do);
    name(advice.not_to_do);
  }
}

void index(Rules& rules) {
  for (std::uint32_t i = 0; i < rules.sentences.size(); ++i) {
    const Sentence& sentence = rules.sentences[i];
    rules.deadly.push_back(sentence.says <= Says::other_failure || sentence.says == Says::launcher);
    rules.numbered.push_back(sentence.says == Says::launcher || sentence.says == Says::killed);
    for (const std::string& anchor : spellings(sentence)) {
      rules.every.add(anchor, i);
      const std::string loud = sentence.whole_line ? "\n" + anchor : anchor;
      if (is_loud(sentence.says) && loud.size() >= shortest_loud) rules.loud.add(loud, i);
    }
  }
  rules.every.finish();
  rules.loud.finish();
}

}  // namespace

const CauseText* Rules::find(Cause cause) const {
  for (const CauseText& text : causes)
    if (text.cause == cause) return &text;
  return nullptr;
}

bool Rules::is_fix(std::string_view id) const { return std::find(fixes.begin(), fixes.end(), id) != fixes.end(); }

bool Rules::are_alike(std::string_view a, std::string_view b) const {
  const auto names = [](const std::vector<std::string>& ids, std::string_view id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  return a == b || std::any_of(alike.begin(), alike.end(),
                               [&](const std::vector<std::string>& ids) { return names(ids, a) && names(ids, b); });
}

const MomentText* Rules::find_moment(std::string_view phase) const {
  for (const MomentText& text : moments)
    if (text.phase == phase) return &text;
  return nullptr;
}

}  // namespace diagnose

Result<Rulebook> Rulebook::load(const std::vector<RuleFile>& own) {
  auto rules = std::make_shared<diagnose::Rules>();
  Diagnostics errors;
  for (const diagnose::File& file : diagnose::files_of(own)) {
    const Diagnostics found = diagnose::add_file(file, *rules);
    errors.insert(errors.end(), found.begin(), found.end());
  }
  if (errors.empty()) errors = diagnose::undeclared(*rules);
  if (!errors.empty()) return errors;
  diagnose::name_kinds(*rules);
  diagnose::index(*rules);
  return Rulebook(std::move(rules));
}

}  // namespace oomplan
