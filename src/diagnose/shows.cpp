#include <algorithm>

#include "judge.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::size_t longest = 200;

Location place_of(const Case& c, const Line& line) {
  return {(*c.files)[static_cast<std::size_t>(line.file)],
          static_cast<int>(std::min<std::int64_t>(line.number, 1 << 30)), line.column};
}

void add_last_line(const Case& c, std::vector<Shown>& out) {
  const auto with_text = [](const Line& line) { return line.body.find_first_not_of(' ') != std::string::npos; };
  const auto last = std::find_if(c.lines->rbegin(), c.lines->rend(), with_text);
  if (last == c.lines->rend()) return;
  out.push_back({"last line", last->quoted().substr(0, longest), place_of(c, *last)});
  const auto timed =
      std::find_if(c.lines->rbegin(), c.lines->rend(), [](const Line& line) { return !line.time.empty(); });
  if (timed != c.lines->rend()) out.push_back({"last time", timed->time, place_of(c, *timed)});
}

// The last sentence of the kind that has a value under that name.
void add_value(const Case& c, Says says, std::string_view name, const std::string& what, std::vector<Shown>& out) {
  for (auto e = c.evidence->rbegin(); e != c.evidence->rend(); ++e) {
    if (e->says != says || e->find(name) == nullptr) continue;
    out.push_back({what, e->text_of(name), e->where});
    return;
  }
}

const Evidence* last_of(const Case& c, std::initializer_list<Says> kinds) {
  const auto is_one = [&](const Evidence& e) { return std::ranges::find(kinds, e.says) != kinds.end(); };
  const auto found = std::find_if(c.evidence->rbegin(), c.evidence->rend(), is_one);
  return found == c.evidence->rend() ? nullptr : &*found;
}

void add_sentence(const Evidence* e, const std::string& what, std::vector<Shown>& out) {
  if (e != nullptr) out.push_back({what, e->text.substr(0, longest), e->where});
}

}  // namespace

std::vector<Shown> shown_end(const Case& c) {
  std::vector<Shown> out;
  add_last_line(c, out);
  add_value(c, Says::progress, "step", "last step", out);
  add_value(c, Says::launcher, "exitcode", "exit code", out);
  add_value(c, Says::launcher, "exit_code", "exit code", out);
  add_value(c, Says::launcher, "signal", "signal", out);
  const Evidence* memory = last_of(c, {Says::memory_state});
  const bool is_last_line = memory != nullptr && memory->where.line == out.front().where.line;  // Shown already.
  if (!is_last_line) add_sentence(memory, "memory", out);
  add_sentence(last_of(c, {Says::other_failure, Says::consequence}), "error", out);
  return out;
}

}  // namespace oomplan::diagnose
