#include "judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "cause.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/diagnose/diagnose.hpp"
#include "other_kills.hpp"

namespace oomplan {
namespace diagnose {
namespace {

Where place_of(const Case& c, Cause cause) {
  switch (cause) {
    case Cause::vram_exhausted:
    case Cause::vram_fragmentation:
    case Cause::vram_other_process:
    case Cause::vram_leak_suspected:
    case Cause::gpu_library_alloc:
    case Cause::gpu_shared_mem_limit:
      return Where::gpu;
    case Cause::disk_full:
      return Where::storage;
    case Cause::unknown:
      return Where::none;
    case Cause::not_oom:
      return c.root == nullptr || c.find("absurd") != nullptr ? Where::none : c.root->place;
    default:
      return Where::host;
  }
}

std::string headline_of(const CauseText* text, const Diagnosis& d, const Case& c) {
  std::string out = text != nullptr ? text->title : std::string(name_of(d.verdict.cause));
  if (c.root != nullptr && d.out_of_memory && d.place == c.root->place)
    if (const std::string own = c.root->text_of("headline"); !own.empty()) out = own;
  if (d.verdict.cause == Cause::sigkill_unknown && signal_of(*c.root).empty())
    out = "a process vanished; the log does not say what ended it";
  if (const auto asked = c.gpu.requested; asked && d.place == Where::gpu && d.out_of_memory)
    out += ", asking for " + shown(*asked);
  if (d.moment.phase != "unknown") out += ", in " + d.moment.phase;
  if (d.rank) out += fmt::format(", rank {} first", *d.rank);
  if (d.moment.step) out += fmt::format(", after step {}", *d.moment.step);
  return fmt::format("{} ({})", out, name_of(d.verdict.confidence));
}

// The kernel names a process, and the launcher says whose it was.
std::optional<std::int64_t> rank_of_process(const Case& c) {
  const std::optional<std::int64_t> pid = c.root->number("pid");
  if (!pid) return std::nullopt;
  for (const Evidence& e : *c.evidence)
    if (e.says == Says::launcher && e.number("pid") == pid)
      if (const auto rank = e.number("root_rank").has_value() ? e.number("root_rank") : e.number("local_rank"))
        return rank;
  return std::nullopt;
}

// srun names the one task that was killed; the step's cgroup has a folder for each.
std::optional<std::int64_t> rank_of_task(const Case& c) {
  constexpr std::string_view folder = "/task_";
  if (!is_kernel_kill(c)) return std::nullopt;
  for (const Evidence& e : *c.evidence)
    if (const auto task = e.number("task");
        task && signal_of(e) == "SIGKILL" && e.text.find(": task ") != std::string::npos)
      return task;
  const std::string cgroup = c.text_of("task_memcg");
  const std::size_t at = cgroup.rfind(folder);
  return at == std::string::npos ? std::nullopt : parse_integer(std::string_view(cgroup).substr(at + folder.size()));
}

std::optional<std::int64_t> first_rank(const Case& c) {
  if (c.root->rank) return c.root->rank;
  if (const auto rank = c.number("root_rank")) return rank;
  if (const auto rank = rank_of_process(c)) return rank;
  if (const auto rank = rank_of_task(c)) return rank;
  return c.root->says == Says::launcher ? c.number("local_rank") : std::nullopt;
}

// What is told of a failure in a text may be of another run, or of none.
void doubt(Judgement& judgement) {
  judgement.confidence = Confidence::possible;
  judgement.against.push_back("the words stand in a text about a failure, and no line of a program reports it");
}

// What failed is told, and so is that the run did not die of it.
void weigh_end(Judgement& judgement) {
  if (judgement.cause == Cause::not_oom) return;
  judgement.confidence = std::min(judgement.confidence, Confidence::likely);
  judgement.against.push_back(
      "the run ended with exit code 0: it caught the failure, or a notebook went on behind the cell that failed");
}

void weigh_life_after(Judgement& judgement) {
  if (judgement.cause == Cause::not_oom || judgement.cause == Cause::unknown) return;
  judgement.confidence = Confidence::possible;
  judgement.against.push_back("the run went on behind it for long, and the log does not say what ended it");
}

// Of two runs in one log, the first may be the one that is asked about.
void weigh_failure_before(Judgement& judgement) {
  if (judgement.cause != Cause::not_oom) return;
  judgement.confidence = std::min(judgement.confidence, Confidence::likely);
  judgement.against.push_back("a failure for lack of memory or disk stands above it, behind which the run went on");
}

// Others went on where one was killed, or a script says so whatever happened.
void weigh_good_end(Judgement& judgement) {
  if (judgement.cause == Cause::not_oom || judgement.cause == Cause::unknown) return;
  judgement.confidence = std::min(judgement.confidence, Confidence::likely);
  judgement.against.push_back("the log says below it that the run finished");
}

// An error of the program's beside a kill on its host: it may be what the others' death led to.
bool stands_beside_a_kill(const Case& c) {
  if (c.root == nullptr || c.root->says != Says::other_failure) return false;
  return std::ranges::any_of(*c.evidence, [&](const Evidence& e) {
    return is_kill_on_host(*c.wordings, e) && e.says != Says::kernel_detail && e.find("quoted") == nullptr;
  });
}

void weigh_kill(Judgement& judgement) {
  judgement.confidence = Confidence::possible;
  judgement.against.push_back("a process was killed for memory on the host, and the error may have followed from that");
}

// Whether one of the root's traceback's paths has one of the words, as a folder of it: "File …/torch/cuda/memory.py:9".
bool has_frame_of(const Case& c, const std::string& folders) {
  constexpr std::size_t most_lines_below = 140;
  if (!c.root->line || folders.empty()) return false;
  const std::vector<Line>& lines = *c.lines;
  const std::size_t end = std::min(lines.size(), *c.root->line + most_lines_below);
  for (std::size_t i = *c.root->line; i < end && lines[i].file == lines[*c.root->line].file; ++i) {
    std::string path = lines[i].body.substr(0, lines[i].body.find(".py"));
    std::ranges::replace(path, '\\', '/');
    if (path.size() == lines[i].body.size()) continue;
    for (std::size_t at = 0; at < folders.size();) {
      const std::size_t stop = std::min(folders.find(' ', at), folders.size());
      if (path.find("/" + folders.substr(at, stop - at) + "/") != path.npos) return true;
      at = stop + 1;
    }
  }
  return false;
}

// A sentence that leaves something open says how sure it makes, and what speaks against more.
void weigh_words(const Case& c, Judgement& judgement) {
  const Evidence& root = *c.root;
  const std::string most = root.text_of("at_most");
  if (most.empty() || judgement.cause == Cause::not_oom || has_frame_of(c, root.text_of("unless_frames_of"))) return;
  const Confidence bound = most == name_of(Confidence::likely) ? Confidence::likely : Confidence::possible;
  if (judgement.confidence <= bound) return;
  judgement.confidence = bound;
  judgement.against.push_back(root.text_of("but"));
}

bool is_failure(const Evidence& e) {
  return (e.says <= Says::bus_error && e.says != Says::kernel_detail) || e.family == "killed_for_memory";
}

bool follows(const Case& c, const Evidence& e) {
  return e.says == Says::consequence || (e.says == Says::launcher && c.root->says != Says::launcher);
}

// A line each once, where it follows from the root as what follows.
void add_lines(const Case& c, Diagnosis& out) {
  constexpr std::size_t most = 12;
  std::set<std::size_t> following;
  for (const Evidence& e : *c.evidence)
    if (e.line && &e != c.root && follows(c, e)) following.insert(*e.line);
  for (const Evidence& e : *c.evidence) {
    out.failures += is_failure(e) ? 1 : 0;
    if (&e == c.root || e.says == Says::frame || e.says == Says::progress || e.says == Says::hint) continue;
    const bool is_after = follows(c, e);
    auto& list = is_after ? out.consequences : out.supporting;
    const bool told = is_after ? !list.empty() && list.back().line == e.line : e.line && following.contains(*e.line);
    if (list.size() < most && !told) list.push_back(e);
  }
}

}  // namespace

std::vector<Judgement> judgements(const Case& c) {
  std::vector<Judgement> out;
#define OOMPLAN_ENTRY(name) out.push_back(causes::name(c));
#include "registry/causes.inc"
#undef OOMPLAN_ENTRY
  std::erase_if(out, [](const Judgement& j) { return j.weight == 0; });
  if (c.root != nullptr && c.root->find("quoted") != nullptr) std::for_each(out.begin(), out.end(), doubt);
  if (c.root != nullptr) std::ranges::for_each(out, [&](Judgement& one) { weigh_words(c, one); });
  if (c.root != nullptr && ended_with_0(c)) std::for_each(out.begin(), out.end(), weigh_end);
  if (c.outlived != nullptr && c.outlived == c.root) std::for_each(out.begin(), out.end(), weigh_life_after);
  if (c.outlived != nullptr && c.outlived != c.root && c.outlived->says < Says::other_failure)
    std::for_each(out.begin(), out.end(), weigh_failure_before);
  if (c.root != nullptr && finished_behind(*c.evidence, *c.root)) std::for_each(out.begin(), out.end(), weigh_good_end);
  if (stands_beside_a_kill(c)) std::for_each(out.begin(), out.end(), weigh_kill);
  std::stable_sort(out.begin(), out.end(), [](const Judgement& a, const Judgement& b) { return a.weight > b.weight; });
  return out;
}

Diagnosis judge(const Rules& rules, const Case& c) {
  Diagnosis out;
  std::vector<Judgement> all = judgements(c);
  out.verdict = all.front();
  out.alternatives.assign(all.begin() + 1, all.end());
  std::erase_if(out.alternatives,
                [](const Judgement& j) { return j.cause == Cause::not_oom || j.cause == Cause::unknown; });
  out.out_of_memory = out.verdict.cause != Cause::not_oom && out.verdict.cause != Cause::unknown &&
                      out.verdict.cause != Cause::sigkill_unknown && out.verdict.cause != Cause::disk_full &&
                      out.verdict.cause != Cause::gpu_shared_mem_limit;
  out.place = place_of(c, out.verdict.cause);
  out.moment = c.moment;
  std::remove_copy_if(c.facts.begin(), c.facts.end(), std::back_inserter(out.facts), is_for_the_verdict);
  if (c.root != nullptr) {
    out.root = *c.root;
    out.rank = first_rank(c);
    add_lines(c, out);
  }
  out.also = findings(c);
  if (out.verdict.cause == Cause::unknown || out.verdict.cause == Cause::sigkill_unknown) out.shows = shown_end(c);
  advise(rules, c, out);
  out.headline = headline_of(rules.find(out.verdict.cause), out, c);
  return out;
}

}  // namespace diagnose
}  // namespace oomplan
