#include "other_kills.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "case.hpp"
#include "oomplan/core/text.hpp"
#include "reader.hpp"
#include "words.hpp"

namespace oomplan::diagnose {
namespace {

// Somebody died without a word, or the others found that out.
bool tells_of_vanished(const Evidence& e) {
  if (e.says == Says::killed || e.says == Says::bus_error || e.says == Says::consequence) return true;
  if (e.says == Says::slurm_killed || e.says == Says::cgroup_killed) return true;
  if (e.find("vanished") != nullptr || e.family == "dataloader_signal") return true;
  const std::string signal = signal_of(e);
  return e.says == Says::launcher && (signal == "SIGKILL" || signal == "SIGBUS");
}

// "0.991", "2.991" and "step 991" name no process.
bool names_process(std::string_view text, std::string_view number) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  constexpr auto counted = std::to_array<std::string_view>({"step", "iter", "iteration", "epoch", "batch"});
  for (std::size_t at = text.find(number); at != text.npos; at = text.find(number, at + 1)) {
    std::string_view before = text.substr(0, at);
    const std::string_view after = text.substr(at + number.size());
    const bool of_longer = (!before.empty() && (is_digit(before.back()) || before.back() == '.')) ||
                           (!after.empty() && (is_digit(after.front()) || after.front() == '/')) ||
                           (after.size() > 1 && after.front() == '.' && is_digit(after[1]));
    if (of_longer) continue;
    while (!before.empty() && !is_letter(before.back())) before.remove_suffix(1);
    const std::string lead = lowered(before.substr(before.size() - std::min<std::size_t>(before.size(), 9)));
    if (std::ranges::none_of(counted, [&](std::string_view word) { return lead.ends_with(word); })) return true;
  }
  return false;
}

}  // namespace

bool is_about_others(const Wordings& wordings, const Evidence& e) {
  const Phrases& list = list_of(wordings, Wording::talks_to_others);
  return list.have(e.family) || list.are_in(e.text);
}

bool is_kill_on_host(const Wordings& wordings, const Evidence& e) {
  return e.says == Says::kernel_killed || e.says == Says::kernel_detail || e.says == Says::node_killed ||
         e.says == Says::kubernetes_killed || list_of(wordings, Wording::watches_a_host).have(e.family);
}

bool tells_own_end(const Wordings& wordings, const Evidence& e, const std::vector<Line>& lines) {
  if (!e.line || e.find("quoted") != nullptr) return false;
  if (e.says == Says::gpu_alloc_failed || e.says == Says::gpu_kernel_limit || e.says == Says::disk_full) return true;
  if (e.says == Says::gpu_library_failed) return !is_vague(e) && may_be_of_memory(e);
  return e.says == Says::other_failure && below_frame(lines, *e.line) && !is_about_others(wordings, e);
}

OtherKills::OtherKills(const Wordings& wordings, const std::vector<Evidence>& all, const std::vector<Line>& lines,
                       const std::function<bool(std::size_t)>& survived)
    : wordings_(wordings), lines_(lines) {
  if (std::ranges::none_of(all, [&](const Evidence& e) { return is_kill_on_host(wordings, e); })) return;
  for (const Line& line : lines) files_.insert(line.file);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Evidence& e = all[i];
    if (tells_of_vanished(e)) {
      someone_vanished_ = true;
      const auto pid = e.number("pid");
      if (pid) vanished_.insert(*pid);
      is_each_numbered_ = is_each_numbered_ && pid;
    }
    if (!e.line) continue;
    const auto code = e.says == Says::launcher ? e.number("exit_code") : std::nullopt;
    if (code && *code > 0 && signal_of(e).empty()) exited_.insert(lines[*e.line].file);
    if (e.find("finished") != nullptr || (tells_own_end(wordings, e, lines) && !survived(i)))
      ended_.insert(lines[*e.line].file);
  }
}

// A process of the run's is named in its log by its number.
bool OtherKills::is_of_the_run(const Evidence& kill, int file) const {
  const auto pid = kill.number("pid");
  if (!pid) return false;
  const std::string number = std::to_string(*pid);
  return std::ranges::any_of(lines_,
                             [&](const Line& line) { return line.file != file && names_process(line.body, number); });
}

// A browser that was killed tells nothing of a training run. What runs such are, the process's name may not say.
bool OtherKills::is_of_a_stranger(const Evidence& kill) const {
  return list_of(wordings_, Wording::trains_nothing).have(kill.text_of("comm"));
}

bool OtherKills::is_not_who_vanished(const Evidence& kill) const {
  const auto pid = kill.number("pid");
  return pid && is_each_numbered_ && !vanished_.contains(*pid);
}

bool OtherKills::operator()(const Evidence& kill) const {
  if (!is_kill_on_host(wordings_, kill) || !kill.line) return false;
  if (someone_vanished_) return is_of_a_stranger(kill) && is_not_who_vanished(kill);
  const int own = lines_[*kill.line].file;
  if (files_.size() < 2) return is_of_a_stranger(kill) && (ended_.contains(own) || exited_.contains(own));
  // A log that just stops is what a kill leaves.
  const bool all_end = std::ranges::all_of(files_, [&](int file) { return file == own || ended_.contains(file); });
  return all_end && !is_of_the_run(kill, own);
}

}  // namespace oomplan::diagnose
