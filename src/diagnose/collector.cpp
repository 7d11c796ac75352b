#include "collector.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace oomplan::diagnose {
namespace {

constexpr std::int64_t head_lines = 200;
constexpr std::int64_t lines_around = 150;
constexpr std::size_t bytes_before = std::size_t{32} << 10;
constexpr std::size_t most_bytes = std::size_t{2} << 20;  // of first_ and of last_ each
constexpr std::size_t longest_kept = std::size_t{16} << 10;

std::size_t line_end(std::string_view text, std::size_t at) { return std::min(text.find('\n', at), text.size()); }

// Where the last `lines` lines of `text` begin.
std::size_t tail_begin(std::string_view text, std::int64_t lines) {
  std::size_t at = text.size();
  if (at > 0 && text[at - 1] == '\n') --at;
  while (at > 0 && lines-- > 0) {
    const void* found = memrchr(text.data(), '\n', at);
    if (found == nullptr) return 0;
    at = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
  }
  return at == 0 ? 0 : at + 1;
}

}  // namespace

void Collector::begin(int file) {
  file_ = file;
  wanted_ = head_lines;
  gap_ = true;
  before_.clear();
}

std::int64_t Collector::line_at(std::string_view text, std::size_t at) {
  counted_line_ += count_newlines(text.substr(counted_at_, at - counted_at_));
  counted_at_ = at;
  return counted_line_;
}

void Collector::keep(std::string_view raw, std::int64_t number) {
  Raw line{std::string(raw.substr(0, longest_kept)), number, file_, std::exchange(gap_, false)};
  const std::size_t bytes = line.text.size() + sizeof(Raw);
  if (first_bytes_ < most_bytes) {
    first_bytes_ += bytes;
    first_.push_back(std::move(line));
    return;
  }
  last_bytes_ += bytes;
  last_.push_back(std::move(line));
  while (last_bytes_ > most_bytes) {
    last_bytes_ -= last_.front().text.size() + sizeof(Raw);
    last_.pop_front();
  }
}

std::size_t Collector::keep_wanted(std::string_view text, std::size_t at) {
  while (wanted_ > 0 && at < text.size()) {
    const std::size_t end = line_end(text, at);
    keep(text.substr(at, end - at), line_at(text, at));
    at = std::min(end + 1, text.size());
    --wanted_;
  }
  kept_until_ = std::max(kept_until_, at);
  return at;
}

// What stands before the line at `stop`, as far as it was not kept.
void Collector::keep_before(std::string_view text, std::size_t stop, std::int64_t stop_line) {
  const std::size_t floor = std::max(kept_until_, stop > bytes_before ? stop - bytes_before : 0);
  std::string_view here = text.substr(floor, stop - floor);
  std::string joined;
  if (floor == 0 && !before_.empty()) here = joined = before_ + std::string(here);
  const std::size_t begin = tail_begin(here, lines_around);
  if (begin > 0 || floor > kept_until_) gap_ = true;
  here.remove_prefix(begin);
  if (floor > 0 && floor > kept_until_ && begin == 0) here.remove_prefix(std::min(line_end(here, 0) + 1, here.size()));
  std::int64_t number = stop_line - count_newlines(here);
  while (!here.empty()) {
    const std::size_t end = line_end(here, 0);
    keep(here.substr(0, end), number++);
    here.remove_prefix(std::min(end + 1, here.size()));
  }
  before_.clear();
}

// A sentence that makes up a whole line is looked for with the end of the line before, which a block's first lacks.
bool Collector::begins_loud(std::string_view text) {
  constexpr std::size_t longest_anchor = 128;
  loud_.find("\n" + std::string(text.substr(0, longest_anchor)), 0, hits_);
  return !hits_.empty() && hits_.front().at == 0;
}

void Collector::read(const TextBlock& block) {
  const std::string_view text = block.text;
  counted_line_ = block_line_ = block.line;
  counted_at_ = kept_until_ = 0;
  if (begins_loud(text)) {
    keep_before(text, 0, block.line);
    wanted_ = lines_around;
  }
  std::size_t at = keep_wanted(text, 0);
  while (at < text.size()) {
    at = loud_.find(text, at, hits_);
    if (hits_.empty()) break;
    const std::size_t hit = std::max(hits_.front().at, kept_until_);
    const void* before = memrchr(text.data() + kept_until_, '\n', hit - kept_until_);
    const std::size_t line =
        before == nullptr ? kept_until_ : static_cast<std::size_t>(static_cast<const char*>(before) - text.data()) + 1;
    const std::int64_t number = line_at(text, line);
    keep_before(text, line, number);
    wanted_ = lines_around;
    // In a line longer than any message only the part around the hit matters.
    const std::size_t end = line_end(text, line);
    const std::size_t begin = hit > line + 4096 ? hit - 4096 : line;
    keep(text.substr(begin, end - begin), number);
    at = kept_until_ = std::max(std::min(end + 1, text.size()), hit + 1);
    at = keep_wanted(text, at);
  }
  remember(text);
}

void Collector::remember(std::string_view text) {
  lines_seen_ += count_newlines(text);
  if (!text.empty() && text.back() != '\n') ++lines_seen_;
  const std::size_t floor = std::max(kept_until_, text.size() > bytes_before ? text.size() - bytes_before : 0);
  if (floor > 0) before_.clear();
  if (floor > kept_until_ && floor > 0) gap_ = true;
  before_.append(text.substr(floor));
  if (before_.size() > 2 * bytes_before) before_.erase(0, before_.size() - bytes_before);
  counted_line_ = line_at(text, text.size());
}

void Collector::end() {
  kept_until_ = 0;
  const std::int64_t after = counted_line_ + (before_.empty() || before_.back() == '\n' ? 0 : 1);
  std::string rest = std::exchange(before_, {});
  const std::size_t begin = tail_begin(rest, head_lines);
  std::string_view here = std::string_view(rest).substr(begin);
  std::int64_t number = after - count_newlines(here) - (here.empty() || here.back() == '\n' ? 0 : 1);
  if (begin > 0) gap_ = true;
  while (!here.empty()) {
    const std::size_t end = line_end(here, 0);
    keep(here.substr(0, end), number++);
    here.remove_prefix(std::min(end + 1, here.size()));
  }
}

std::vector<Line> Collector::take() {
  std::vector<Line> out;
  out.reserve(first_.size() + last_.size());
  const auto add = [&out](const Raw& raw) {
    const std::size_t before = out.size();
    add_lines(raw.text, raw.file, raw.number, out);
    if (raw.after_gap && out.size() > before) out[before].header = true;
  };
  for (const Raw& raw : first_) add(raw);
  first_ = {};
  for (; !last_.empty(); last_.pop_front()) add(last_.front());
  return out;
}

}  // namespace oomplan::diagnose
