#include "case.hpp"

#include <algorithm>
#include <array>

namespace oomplan::diagnose {
namespace {

bool is_told_apart(const Evidence& e) {
  switch (e.says) {
    case Says::frame:
    case Says::progress:
    case Says::hint:
    case Says::setting:
    case Says::harmless:
    case Says::consequence:
      return true;
    default:
      return false;
  }
}

// Another failure of the same kind has numbers of its own, and another victim's row is not this one's.
bool belongs(const Evidence& e, const Evidence& root) {
  if (is_told_apart(e)) return false;
  if (&e != &root && e.says == root.says && e.find("requested") != nullptr && root.find("requested") != nullptr) {
    return e.family == root.family && e.number("requested") == root.number("requested") && e.rank == root.rank;
  }
  if (e.message == "kernel/task-row") return e.number("row_pid") == root.number("pid");
  const bool kernel = e.says == Says::kernel_killed || e.says == Says::kernel_detail;
  if (kernel && e.find("pid") && root.find("pid")) return e.number("pid") == root.number("pid");
  return true;
}

// What a GPU's message lacks is not to be had from a host's, nor the other way round.
bool compatible(const Evidence& e, const Evidence& root) {
  return e.family == root.family || e.place == root.place || e.says == Says::launcher || e.place == Where::none;
}

// What a sentence says of itself is no fact of another's failure.
bool is_of_its_sentence(const Reading& fact) {
  constexpr auto flags = std::to_array<std::string_view>(
      {"general", "weak", "soft", "vanished", "absurd", "holds_nothing", "others_hold", "quoted", "told", "passes_on",
       "registers", "of_segments", "panic", "ends", "ended_by", "begins"});
  return is_for_the_verdict(fact) || std::find(flags.begin(), flags.end(), fact.name) != flags.end();
}

void add(const Evidence& e, std::vector<Reading>& out) {
  const std::size_t before = out.size();
  for (const Reading& fact : e.facts) {
    if (is_of_its_sentence(fact)) continue;
    const auto known = std::any_of(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(before),
                                   [&](const Reading& f) { return f.name == fact.name; });
    if (!known) out.push_back(fact);
  }
}

void add_signal(const Evidence& e, std::vector<Reading>& out) {
  const bool known = std::any_of(out.begin(), out.end(), [](const Reading& f) { return f.name == "signal"; });
  const std::string signal = known ? std::string() : signal_of(e);
  if (!signal.empty()) out.push_back({.name = "signal", .text = signal});
}

}  // namespace

bool is_for_the_verdict(const Reading& fact) {
  constexpr auto words = std::to_array<std::string_view>({"at_most", "but", "unless_frames_of", "headline"});
  return std::find(words.begin(), words.end(), fact.name) != words.end();
}

bool heads_traceback(const Evidence& evidence) {
  return evidence.says == Says::frame && evidence.find("path") == nullptr;
}

const Reading* Case::find(std::string_view name) const {
  for (const Reading& fact : facts)
    if (fact.name == name) return &fact;
  return nullptr;
}

std::optional<std::int64_t> Case::number(std::string_view name) const {
  const Reading* fact = find(name);
  if (fact == nullptr || fact->kind == Reading::Kind::text || fact->kind == Reading::Kind::real) return std::nullopt;
  return fact->integer;
}

std::string Case::text_of(std::string_view name) const {
  const Reading* fact = find(name);
  return fact != nullptr ? fact->text : std::string();
}

const Evidence* Case::first(Says says) const {
  for (const Evidence& e : *evidence)
    if (e.says == says) return &e;
  return nullptr;
}

bool Case::any(Says says) const { return first(says) != nullptr; }

std::vector<Reading> facts_of(const std::vector<Evidence>& evidence, const Evidence& root) {
  std::vector<Reading> out = root.facts;
  add_signal(root, out);
  const auto round = [&](bool same_family) {
    for (const Evidence& e : evidence) {
      if (&e == &root || (e.family == root.family) != same_family) continue;
      if (belongs(e, root) && compatible(e, root)) add(e, out);
    }
  };
  // Of how full something was over time, the last is the state at the failure.
  for (auto e = evidence.rbegin(); e != evidence.rend(); ++e)
    if (e->says == Says::memory_state && e->family != root.family && belongs(*e, root) && compatible(*e, root))
      add(*e, out);
  round(true);
  round(false);
  if (const std::optional<Reading> size = size_of_shape(out)) out.push_back(*size);
  return out;
}

Case case_of(const Rules& rules, const std::vector<Evidence>& evidence, const std::vector<Line>& lines,
             const std::vector<std::string>& files) {
  Case out{.wordings = &rules.wordings, .evidence = &evidence, .lines = &lines, .files = &files};
  const Root root = root_of(rules.wordings, evidence, lines);
  out.root = root.evidence;
  out.survived = root.survived;
  out.outlived = root.outlived;
  if (out.root == nullptr) return out;
  out.facts = facts_of(evidence, *out.root);
  out.gpu = gpu_numbers(out.facts);
  out.moment = moment_of(rules, evidence, lines, *out.root, files);
  return out;
}

}  // namespace oomplan::diagnose
