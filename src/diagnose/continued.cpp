#include "continued.hpp"

#include <algorithm>

namespace oomplan::diagnose {
namespace {

constexpr std::size_t most_lines_back = 4;
constexpr std::size_t most_lines_ahead = 24;

}  // namespace

std::optional<std::size_t> next_of_speaker(const std::vector<Line>& lines, std::size_t index, std::size_t from) {
  const std::size_t end = std::min(lines.size(), from + most_lines_ahead);
  bool beside = true;
  for (std::size_t i = from + 1; i < end && !lines[i].header; ++i) {
    if (has_bar(lines[i].body)) continue;
    const bool goes_on = beside && !lines[i].prefixed && lines[i].file == lines[index].file;
    if (goes_on || same_speaker(lines[index], lines[i])) return i;
    beside = false;
  }
  return std::nullopt;
}

std::optional<std::string_view> Ahead::text(std::size_t index, std::size_t joined) {
  if (index != index_) {
    index_ = last_ = index;
    joined_ = lines_[index].body;
    ends_.assign(1, joined_.size());
  }
  while (ends_.size() <= joined) {
    const std::optional<std::size_t> next = next_of_speaker(lines_, index, last_);
    if (!next) return std::nullopt;
    last_ = *next;
    joined_ += '\n';
    joined_ += lines_[last_].body;
    ends_.push_back(joined_.size());
  }
  return std::string_view(joined_).substr(0, ends_[joined]);
}

std::optional<std::string_view> Behind::text(std::size_t index, std::size_t back) {
  if (index != index_) join(index);
  if (back >= begins_.size()) return std::nullopt;
  return std::string_view(joined_).substr(begins_[back], end_ - begins_[back]);
}

void Behind::join(std::size_t index) {
  index_ = index;
  std::vector<std::size_t> sizes{lines_[index].body.size()};
  std::size_t first = index;
  for (; first > 0 && sizes.size() <= most_lines_back; --first) {
    const Line& before = lines_[first - 1];
    const bool joins = !lines_[first].header && before.file == lines_[first].file && !before.body.empty() &&
                       (!lines_[first].prefixed || same_speaker(before, lines_[first]));
    if (!joins || sizes.back() + before.body.size() > most_joined_bytes) break;
    sizes.push_back(sizes.back() + before.body.size() + 1);
  }
  joined_.clear();
  for (std::size_t i = first; i < index; ++i) joined_ += lines_[i].body + '\n';
  joined_ += lines_[index].body;
  end_ = joined_.size();
  begins_.clear();
  for (const std::size_t size : sizes) begins_.push_back(end_ - size);
  const std::optional<std::size_t> next = next_of_speaker(lines_, index, index);
  if (next) joined_ += '\n' + lines_[*next].body;
}

}  // namespace oomplan::diagnose
