#include <algorithm>
#include <optional>
#include <string_view>

#include "judge.hpp"
#include "oomplan/core/text.hpp"
#include "setting.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::size_t lines_at_each_end = 1000;
constexpr std::size_t most_fixes = 8;

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool has_finding(const Diagnosis& d, std::string_view id) {
  return std::any_of(d.also.begin(), d.also.end(), [&](const Finding& f) { return f.id == id; });
}

// The first line at the ends that is it; null where there is none.
template <class Is>
const Line* line_that(const Case& c, Is is) {
  const std::vector<Line>& lines = *c.lines;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == lines_at_each_end && lines.size() > 2 * lines_at_each_end) i = lines.size() - lines_at_each_end;
    if (is(lines[i], i)) return &lines[i];
  }
  return nullptr;
}

bool has_one_of(const Line& line, const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [&](const std::string& word) { return line.body.find(word) != line.body.npos; });
}

const Line* line_with(const Case& c, const std::vector<std::string>& words) {
  return line_that(c, [&](const Line& line, std::size_t) { return has_one_of(line, words); });
}

bool applies(const AdviceText& advice, const Case& c, const Diagnosis& d) {
  if (!contains(advice.causes, name_of(d.verdict.cause))) return false;
  if (!advice.phases.empty() && !contains(advice.phases, d.moment.phase)) return false;
  if (std::any_of(advice.findings.begin(), advice.findings.end(), [&](const auto& id) { return !has_finding(d, id); }))
    return false;
  if (advice.request_below && c.gpu.requested.value_or(0) >= *advice.request_below) return false;
  if (line_with(c, advice.unless) != nullptr) return false;
  if (!advice.beside.empty() && line_with(c, advice.beside) == nullptr) return false;
  const bool of_log = c.root != nullptr && c.root->line.has_value();  // a snapshot is PyTorch's, and has no words
  if (!advice.without.empty() && (!of_log || line_with(c, advice.without) != nullptr)) return false;
  if (advice.families.empty() && advice.signs.empty()) return true;
  return (c.root != nullptr && contains(advice.families, c.root->family)) || line_with(c, advice.signs) != nullptr;
}

void add(const std::vector<Fix>& fixes, std::vector<Fix>& out) {
  for (const Fix& fix : fixes)
    if (std::none_of(out.begin(), out.end(), [&](const Fix& f) { return f.id == fix.id; })) out.push_back(fix);
}

// Those named first come first, in the order of their names.
void put_first(const std::vector<std::string>& ids, std::vector<Fix>& fixes) {
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
    const auto found = std::find_if(fixes.begin(), fixes.end(), [&](const Fix& f) { return f.id == *id; });
    if (found != fixes.end()) std::rotate(fixes.begin(), found, found + 1);
  }
}

using Matched = std::vector<const AdviceText*>;

// Without what a later one replaces, but for what the failure's own numbers say.
Matched matching(const Rules& rules, const Case& c, const Diagnosis& d) {
  Matched out;
  for (const AdviceText& advice : rules.advice)
    if (applies(advice, c, d)) out.push_back(&advice);
  const auto is_strong = [](const AdviceText* a) { return a->replaces && a->without.empty(); };
  const auto replacing = std::ranges::find_if(out, is_strong);
  if (replacing == out.end()) return out;
  const AdviceText* const first = *replacing;
  bool before = true;
  std::erase_if(out, [&](const AdviceText* a) {
    before = before && a != first;
    return before && !contains(a->findings, "others_hold_enough");
  });
  std::erase_if(out, [&](const AdviceText* a) { return a->replaces && !is_strong(a); });
  return out;
}

// What fits best is matched last and so put first: the moment before the framework, both before the cause.
std::vector<Fix> collected(const Matched& matched, const CauseText& text) {
  std::vector<Fix> out;
  for (const AdviceText* advice : matched) add(advice->to_do, out);
  if (std::none_of(matched.begin(), matched.end(), [](const AdviceText* a) { return a->replaces; }))
    add(text.to_do, out);
  for (auto advice = matched.rbegin(); advice != matched.rend(); ++advice) put_first((*advice)->first, out);
  std::erase_if(out, [&](const Fix& fix) {
    return std::any_of(matched.begin(), matched.end(), [&](const AdviceText* a) { return contains(a->drops, fix.id); });
  });
  return out;
}

// Drop advice that a finding rules out.
bool ruled_out(const Rules& rules, const Fix& fix, const Diagnosis& d) {
  const bool by_size = rules.are_alike(fix.id, "expandable-segments") || fix.id == "other-processes";
  return by_size && has_finding(d, "request_exceeds_total");
}

// The allocator was told already, and it failed all the same.
bool segments_were_expandable(const Diagnosis& d) {
  return std::any_of(d.also.begin(), d.also.end(), [](const Finding& f) {
    return f.id == "allocator_conf_already_set" && f.text.find("expandable_segments:True") != std::string::npos;
  });
}

std::vector<std::string> listed(const std::vector<std::pair<std::string, std::vector<std::string>>>& lists,
                                const std::string& id) {
  const auto found = std::ranges::find_if(lists, [&](const auto& list) { return list.first == id; });
  return found == lists.end() ? std::vector<std::string>() : found->second;
}

// What a line suggests, it does not set.
bool suggests(const Rules& rules, const Case& c, std::size_t line) {
  if (std::ranges::any_of(rules.suggestions,
                          [&](const SuggestionText& s) { return has_one_of((*c.lines)[line], s.words); }))
    return true;
  return std::ranges::any_of(*c.evidence, [&](const Evidence& e) {
    return e.line == line && (e.says == Says::hint || e.says == Says::gpu_alloc_failed);
  });
}

// A line that says that something is not so, or only how it would be.
bool hedges(const Line& line) {
  static const std::vector<std::string> words{"not installed", "not available", "falling back", "ignored", "deprecated",
                                              "instead",       "usage:",        "hint",         " would ", "try "};
  return has_one_of(line, words);
}

// The lines of the ends, made ready once for all settings.
class Shown {
 public:
  Shown(const Rules& rules, const Case& c) : rules_(rules), case_(c) {
    line_that(c, [&](const Line& line, std::size_t at) {
      lines_.emplace_back(at, SettingsLine(line.body, is_elsewhere(at)));
      return false;
    });
  }

  /// The first line that sets it; null where there is none, or one that sets it otherwise.
  const Line* line_that_sets(const std::string& setting) const {
    const Line* out = nullptr;
    for (const auto& [at, line] : lines_) {
      if (line.sets_otherwise(setting)) return nullptr;
      const Line& whole = (*case_.lines)[at];
      if (out == nullptr && line.sets(setting) && !hedges(whole) && !suggests(rules_, case_, at)) out = &whole;
    }
    return out;
  }

 private:
  // Of YAML: below "inference:", which stands further left.
  bool is_elsewhere(std::size_t at) const {
    constexpr std::size_t most_lines = 40;
    const auto indent = [&](std::size_t i) { return (*case_.lines)[i].body.find_first_not_of(' '); };
    std::size_t least = indent(at);
    if (least == std::string::npos || least == 0) return false;
    for (std::size_t i = at, seen = 0; i-- > 0 && seen < most_lines && least > 0; ++seen) {
      const Line& line = (*case_.lines)[i];
      if (line.file != (*case_.lines)[at].file) return false;
      const std::size_t here = indent(i);
      if (here == std::string::npos || here >= least) continue;
      if (!line.body.ends_with(':')) return false;
      least = here;
      if (is_of_another_phase(std::string_view(line.body).substr(here, line.body.size() - here - 1))) return true;
    }
    return false;
  }

  const Rules& rules_;
  const Case& case_;
  std::vector<std::pair<std::size_t, SettingsLine>> lines_{};
};

const Line* already_on(const Rules& rules, const Case& c, const Shown& shown, const std::string& id) {
  for (const AdviceText& advice : rules.advice) {
    const std::vector<std::string> signs = listed(advice.already, id);
    const std::vector<std::string> settings = listed(advice.set, id);
    const auto shows = [&](const Line& line, std::size_t) { return has_one_of(line, signs) && !hedges(line); };
    if (const Line* line = signs.empty() ? nullptr : line_that(c, shows)) return line;
    for (const std::string& setting : settings)
      if (const Line* line = shown.line_that_sets(setting)) return line;
  }
  return nullptr;
}

// With the facts that it names in braces; other braces are the text's own.
std::string with_facts(std::string text, const Case& c) {
  for (const Reading& fact : c.facts)
    if (const std::string name = "{" + fact.name + "}"; text.find(name) != std::string::npos)
      text.replace(text.find(name), name.size(), fact.text);
  return text;
}

void add_fixes(const Rules& rules, const std::vector<Fix>& fixes, const Case& c, Diagnosis& out) {
  const Shown shown(rules, c);
  for (const Fix& fix : fixes) {
    if (ruled_out(rules, fix, out)) continue;
    const Line* on = already_on(rules, c, shown, fix.id);
    if (fix.id == "expandable-segments" && segments_were_expandable(out)) {
      out.not_to_do.push_back({fix.id, "expandable_segments was already on when it failed.", fix.kind});
    } else if (on != nullptr) {
      out.not_to_do.push_back({fix.id, "It is so already: line " + std::to_string(on->number) + ".", fix.kind});
    } else if (out.to_do.size() < most_fixes) {
      out.to_do.push_back({fix.id, with_facts(fix.text, c), fix.kind});
    }
  }
}

bool is_advised(const Rules& rules, const Diagnosis& d, std::string_view id) {
  return std::any_of(d.to_do.begin(), d.to_do.end(), [&](const Fix& f) { return rules.are_alike(f.id, id); });
}

// Before what is on already. What fits this case is not advised against for most of its kind, under whatever name.
void add_warnings(const Rules& rules, const Matched& matched, const CauseText& text, Diagnosis& out) {
  std::vector<Fix> own;
  for (const AdviceText* advice : matched) add(advice->not_to_do, own);
  add(text.not_to_do, own);
  std::vector<Fix> all;
  for (const Fix& fix : own)
    if (!is_advised(rules, out, fix.id)) all.push_back(fix);
  add(out.not_to_do, all);
  out.not_to_do = std::move(all);
}

bool is_suggested(const SuggestionText& suggestion, const Case& c) {
  return line_with(c, suggestion.words) != nullptr ||
         std::ranges::any_of(*c.evidence, [&](const Evidence& e) { return contains(suggestion.hints, e.message); });
}

// None where it names what is not known.
std::optional<std::string> filled(std::string text, const Case& c) {
  for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open)) {
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) return text;
    const std::string name = text.substr(open + 1, close - open - 1);
    std::string value = c.text_of(name);
    if (name == "unallocated" && c.gpu.unallocated) value = to_text(Bytes(*c.gpu.unallocated));
    if (value.empty()) return std::nullopt;
    text.replace(open, close + 1 - open, value);
    open += value.size();
  }
  return text;
}

// What the log itself advises, and whether it fits.
void judge_suggestions(const Rules& rules, const Case& c, Diagnosis& out) {
  for (const SuggestionText& suggestion : rules.suggestions) {
    const auto judged = std::ranges::find_if(suggestion.judged, [&](const SuggestionText::Case& one) {
      const bool advised = !one.unless_advised.empty() && is_advised(rules, out, one.unless_advised);
      return contains(one.causes, name_of(out.verdict.cause)) && !advised;
    });
    if (judged == suggestion.judged.end() || !is_suggested(suggestion, c)) continue;
    if (const std::optional<std::string> text = filled(judged->text, c))
      out.also.push_back({judged->fits ? "log_suggestion_fits" : "log_suggestion",
                          "the log suggests " + suggestion.says + ", " + *text});
  }
}

// Who ended a run is asked of what launched it, before anybody else.
void add_questions(const Rules& rules, const Case& c, const std::vector<std::string>& own, Diagnosis& out) {
  const bool of_end = out.verdict.cause == Cause::unknown || out.verdict.cause == Cause::sigkill_unknown;
  const Questions asked = of_end ? questions(rules, c) : Questions{};
  out.to_prove = asked.first;
  const bool watched = std::any_of(c.lines->begin(), c.lines->end(),
                                   [](const Line& line) { return line.body.starts_with("oomplan run:"); });
  for (const std::string& command : own) {
    const bool of_ours = command.starts_with("oomplan run ");
    if (of_ours ? !watched : !asked.alone) out.to_prove.push_back(command);
  }
  out.to_prove.insert(out.to_prove.end(), asked.last.begin(), asked.last.end());
}

}  // namespace

void advise(const Rules& rules, const Case& c, Diagnosis& out) {
  if (const MomentText* moment = rules.find_moment(out.moment.phase); moment != nullptr && out.out_of_memory)
    out.meaning.push_back(moment->meaning);
  const CauseText* text = rules.find(out.verdict.cause);
  if (text == nullptr) return;
  const Matched matched = matching(rules, c, out);
  add_fixes(rules, collected(matched, *text), c, out);
  add_warnings(rules, matched, *text, out);
  judge_suggestions(rules, c, out);
  if (out.verdict.confidence == Confidence::proved) return;
  const auto proving =
      std::find_if(matched.rbegin(), matched.rend(), [](const AdviceText* a) { return !a->to_prove.empty(); });
  add_questions(rules, c, proving == matched.rend() ? text->to_prove : (*proving)->to_prove, out);
}

}  // namespace oomplan::diagnose
