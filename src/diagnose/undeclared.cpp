// One name for one thing: what rules/causes, rules/advice and rules/messages name must be declared once, a fix by its
// file in rules/ladder, an action in rules/actions, a phase by its file in rules/moments.
#include <algorithm>
#include <set>
#include <string>

#include "rules.hpp"

namespace oomplan::diagnose {
namespace {

class Check {
 public:
  explicit Check(const Rules& rules) : rules_(rules) {}

  Diagnostics all() {
    for (const std::string& id : rules_.actions)
      if (rules_.is_fix(id)) report("\"" + id + "\" is a fix of rules/ladder and an action of rules/actions");
    for (const std::vector<std::string>& ids : rules_.alike)
      for (const std::string& one : ids) id(one, "rules/alike");
    for (const CauseText& text : rules_.causes) cause(text);
    for (const AdviceText& text : rules_.advice) advice(text);
    for (const SuggestionText& text : rules_.suggestions) suggestion(text);
    for (const Sentence& sentence : rules_.sentences) {
      phase(sentence.phase, sentence.id);
      if (!ids_.insert(sentence.id).second) report("two sentences are called \"" + sentence.id + "\"");
    }
    return std::move(errors_);
  }

 private:
  void report(std::string message) { errors_.push_back({.code = "diagnose/bad-rule", .message = std::move(message)}); }

  void id(const std::string& id, const std::string& user) {
    const bool action = std::find(rules_.actions.begin(), rules_.actions.end(), id) != rules_.actions.end();
    if (!action && !rules_.is_fix(id))
      report(user + " names \"" + id + "\", which is neither a fix of rules/ladder nor an action of rules/actions");
  }

  void ids(const std::vector<Fix>& fixes, const std::string& user) {
    for (const Fix& fix : fixes) id(fix.id, user);
  }

  void phase(const std::string& phase, const std::string& user) {
    if (!phase.empty() && phase != "unknown" && rules_.find_moment(phase) == nullptr)
      report(user + " names the phase \"" + phase + "\", which rules/moments does not have");
  }

  void cause(const CauseText& text) {
    const std::string user = "rules/causes/" + std::string(name_of(text.cause)) + ".yaml";
    ids(text.to_do, user);
    ids(text.not_to_do, user);
  }

  void advice(const AdviceText& text) {
    const std::string user = "rules/advice/" + text.name + ".yaml";
    ids(text.to_do, user);
    ids(text.not_to_do, user);
    for (const std::string& one : text.first) id(one, user);
    for (const std::string& one : text.drops) id(one, user);
    for (const auto& [one, signs] : text.already) id(one, user);
    for (const auto& [one, settings] : text.set) id(one, user);
    for (const std::string& one : text.phases) phase(one, user);
    causes(text.causes, user);
  }

  void suggestion(const SuggestionText& text) {
    for (const SuggestionText::Case& one : text.judged) {
      causes(one.causes, "rules/suggestions");
      if (!one.unless_advised.empty()) id(one.unless_advised, "rules/suggestions");
    }
  }

  void causes(const std::vector<std::string>& names, const std::string& user) {
    for (const std::string& one : names)
      if (!cause_named(one)) report(user + " names the cause \"" + one + "\", which there is not");
  }

  const Rules& rules_;
  std::set<std::string> ids_{};
  Diagnostics errors_{};
};

}  // namespace

Diagnostics undeclared(const Rules& rules) { return Check(rules).all(); }

}  // namespace oomplan::diagnose
