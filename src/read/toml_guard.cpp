#include "toml_guard.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/text.hpp"

namespace oomplan::read {
namespace {

class Guard {
 public:
  Guard(const Source& source, const ReadBudget& budget)
      : source_(source), text_(source.text()), depth_(std::clamp(budget.depth, 0, 256)), nodes_(budget.nodes) {}

  void run() {
    while (at_ < text_.size()) step();
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') return skip_string(c);
    if (c == '#') return skip_to('\n');
    ++at_;
    if (c == '\n' && open_.empty()) begin_key();
    if (c == '=') end_key();
    if (in_key_ && c == '.') count_part();
    if (c == '[' || c == '{') open(c);
    if (c == ']' || c == '}') close();
    if (c == ',') separate();
  }

  void begin_key() {
    in_key_ = true;
    parts_ = 0;
  }

  void end_key() {
    in_key_ = false;
    count(2);  // with its value
  }

  void count_part() {
    if (++parts_ >= depth_) refuse_depth();
    count(1);
  }

  void open(char bracket) {
    const bool header = in_key_ && open_.empty();
    if (header && (at_ < 2 || text_[at_ - 2] != '[')) count(1);
    if (header) return;
    open_.push_back(bracket);
    if (static_cast<int>(open_.size()) > depth_) refuse_depth();
    if (bracket == '{') begin_key();
  }

  void close() {
    if (!open_.empty()) open_.pop_back();
    in_key_ = in_key_ && open_.empty();
  }

  void separate() {
    if (!open_.empty() && open_.back() == '{') return begin_key();
    count(1);
  }

  void count(int nodes) {
    counted_ += nodes;
    if (counted_ <= nodes_) return;
    source_.refuse(at_ - 1, "read/too-many-nodes", "more than " + with_separators(nodes_) + " keys and values");
  }

  [[noreturn]] void refuse_depth() const {
    source_.refuse(at_ - 1, "read/too-deep", "nested deeper than " + with_separators(depth_) + " levels");
  }

  void skip_to(char c) { at_ = std::min(text_.find(c, at_), text_.size()); }

  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool block = text_.substr(at_).starts_with(three);
    const std::string_view end = block ? std::string_view(three) : std::string_view(three).substr(0, 1);
    at_ += end.size();
    while (at_ < text_.size() && !text_.substr(at_).starts_with(end)) {
      if (!block && text_[at_] == '\n') return;
      at_ += quote == '"' && text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_ + end.size(), text_.size());
    while (block && at_ < text_.size() && text_[at_] == quote) ++at_;  // """" ends with a quote inside
  }

  const Source& source_;
  std::string_view text_;
  int depth_;
  int nodes_;
  std::size_t at_ = 0;
  bool in_key_ = true;
  int parts_ = 0;
  int counted_ = 0;
  std::vector<char> open_;
};

}  // namespace

void guard_toml(const Source& source, const ReadBudget& budget) { Guard(source, budget).run(); }

}  // namespace oomplan::read
