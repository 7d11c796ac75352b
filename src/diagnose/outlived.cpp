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

bool is_of_a_live_run(const Evidence& e) {
  return e.says == Says::progress && (e.find("step") != nullptr || e.find("served") != nullptr) &&
         e.family != "tensorboard";  // of the whole run, wherever its file stands
}

struct Heard {
  int lines = 0;
  std::optional<std::size_t> last{};
};

}  // namespace

std::vector<bool> outlived(const std::vector<Evidence>& all, const Posts& posts) {
  std::vector<bool> out(all.size(), false);
  std::map<Speaker, Heard> after;
  bool is_told = false;
  for (std::size_t i = all.size(); i-- > 0;) {
    const Evidence& e = all[i];
    if (i + 1 < all.size() && !posts.are_together(e, all[i + 1])) {
      after.clear();
      is_told = false;
    }
    is_told = is_told || e.says == Says::killed || e.says == Says::launcher;
    if (is_of_a_live_run(e) && !is_told) {
      Heard& heard = after[speaker_of(e)];
      if (heard.last != e.line) ++heard.lines;
      heard.last = e.line;
    }
    if (e.says != Says::other_failure) continue;
    const auto heard = after.find(speaker_of(e));
    out[i] = heard != after.end() && heard->second.lines >= enough;
  }
  return out;
}

}  // namespace oomplan::diagnose
