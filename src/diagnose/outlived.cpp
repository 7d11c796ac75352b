#include "outlived.hpp"

#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace oomplan::diagnose {
namespace {

constexpr int enough = 50;

using Speaker = std::tuple<std::string, std::optional<std::int64_t>, std::string>;

Speaker speaker_of(const Evidence& e) { return {e.where.file, e.rank, e.source}; }

// Of the whole run a tracker's file is, wherever it stands.
bool is_of_a_live_run(const Evidence& e) {
  return (is_step(e) || e.find("served") != nullptr) && e.family != "tensorboard";
}

bool can_be_outlived(const Evidence& e) {
  switch (e.says) {
    case Says::gpu_alloc_failed:
    case Says::gpu_library_failed:
    case Says::gpu_kernel_limit:
    case Says::host_alloc_failed:
    case Says::shm_full:
    case Says::disk_full:
    case Says::other_failure:
      return true;
    default:
      return false;
  }
}

bool names_a_rank(const Evidence& e) {
  return e.says == Says::launcher && (e.find("local_rank") != nullptr || e.find("root_rank") != nullptr);
}

class Heard {
 public:
  void add(const Evidence& e) {
    Lines& lines = by_speaker_[speaker_of(e)];
    if (lines.last != e.line) ++lines.count;
    lines.last = e.line;
  }
  void clear() { by_speaker_.clear(); }

  /// What rank 0 says for all is mostly without its number.
  bool enough_of(const Evidence& e) const {
    if (count_of(speaker_of(e)) >= enough) return true;
    return e.rank == 0 && count_of({e.where.file, std::nullopt, e.source}) >= enough;
  }

 private:
  struct Lines {
    int count = 0;
    std::optional<std::size_t> last{};
  };
  int count_of(const Speaker& speaker) const {
    const auto found = by_speaker_.find(speaker);
    return found == by_speaker_.end() ? 0 : found->second.count;
  }
  std::map<Speaker, Lines> by_speaker_{};
};

}  // namespace

bool is_step(const Evidence& e) {
  return e.says == Says::progress && (e.find("step") != nullptr || e.find("logged") != nullptr);
}

std::vector<bool> outlived(const std::vector<Evidence>& all, const Posts& posts) {
  std::vector<bool> out(all.size(), false);
  Heard after;
  bool is_told = false;
  for (std::size_t i = all.size(); i-- > 0;) {
    const Evidence& e = all[i];
    if (i + 1 < all.size() && !posts.are_together(e, all[i + 1])) {
      after.clear();
      is_told = false;
    }
    is_told = is_told || names_a_rank(e);
    if (is_of_a_live_run(e) && !is_told) after.add(e);
    out[i] = can_be_outlived(e) && after.enough_of(e);
  }
  return out;
}

}  // namespace oomplan::diagnose
