#include "other_kills.hpp"

#include <algorithm>
#include <string_view>

#include "case.hpp"
#include "reader.hpp"

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
  for (std::size_t i = 0; i < all.size() && !someone_vanished_; ++i) {
    const Evidence& e = all[i];
    someone_vanished_ = tells_of_vanished(e);
    if (!e.line) continue;
    if (e.find("finished") != nullptr || (tells_own_end(wordings, e, lines) && !survived(i)))
      ended_.insert(lines[*e.line].file);
  }
}

// A process of the run's is named in its log by its number.
bool OtherKills::is_of_the_run(const Evidence& kill, int file) const {
  const auto pid = kill.number("pid");
  if (!pid) return false;
  const std::string number = std::to_string(*pid);
  const auto is_digit = [](std::string_view text, std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
  };
  return std::ranges::any_of(lines_, [&](const Line& line) {
    if (line.file == file) return false;
    const std::string_view text = line.body;
    for (std::size_t at = text.find(number); at != text.npos; at = text.find(number, at + 1))
      if ((at == 0 || !is_digit(text, at - 1)) && !is_digit(text, at + number.size())) return true;
    return false;
  });
}

// A browser that was killed tells nothing of a training run. What runs such are, the process's name may not say.
bool OtherKills::is_of_a_stranger(const Evidence& kill) const {
  return list_of(wordings_, Wording::trains_nothing).have(kill.text_of("comm"));
}

bool OtherKills::operator()(const Evidence& kill) const {
  if (someone_vanished_ || !is_kill_on_host(wordings_, kill) || !kill.line) return false;
  const int own = lines_[*kill.line].file;
  if (files_.size() < 2) return is_of_a_stranger(kill) && ended_.contains(own);
  // A log that just stops is what a kill leaves.
  const bool all_end = std::ranges::all_of(files_, [&](int file) { return file == own || ended_.contains(file); });
  return all_end && !is_of_the_run(kill, own);
}

}  // namespace oomplan::diagnose
