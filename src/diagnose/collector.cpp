#include "collector.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "unwrap.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::int64_t head_lines = 200;
constexpr std::int64_t lines_around = 150;
constexpr std::size_t bytes_before = std::size_t{32} << 10;
constexpr std::size_t most_bytes = std::size_t{2} << 20;  // of first_ and of last_ each
constexpr std::size_t longest_kept = LogText::most;

constexpr int most_ranks = 24;
constexpr std::size_t most_retained = std::size_t{16} << 20;
constexpr std::size_t longest_picked = std::size_t{4} << 10;
constexpr int picked_before = 24;
constexpr int picked_after = 12;

// The number behind "rank" or "default" in a line's prefix; 0 where there is none. Not worth more: it only keeps the
// candidates of many ranks apart.
std::uint32_t speaker_in(std::string_view line) {
  line = line.substr(0, 64);
  std::size_t at = line.find("ank");
  if (at == std::string_view::npos) at = line.find("default");
  if (at == std::string_view::npos) return 0;
  at = std::min(line.find_first_of("0123456789", at), line.size());
  std::uint32_t out = 0;
  for (; at < line.size() && line[at] >= '0' && line[at] <= '9'; ++at)
    out = out * 10 + static_cast<std::uint32_t>(line[at] - '0');
  return out;
}

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
  Raw line{std::exchange(spare_, {}), number, file_, std::exchange(gap_, false)};
  line.text.assign(raw.substr(0, longest_kept));
  const std::size_t bytes = line.text.size() + sizeof(Raw);
  if (first_bytes_ < most_bytes) {
    first_bytes_ += bytes;
    first_.push_back(std::move(line));
    return;
  }
  if (pick_after_ > 0) {
    --pick_after_;
    line.key = picked_key_;
    line.group = groups_;
  }
  last_bytes_ += bytes;
  last_.push_back(std::move(line));
  while (last_bytes_ > most_bytes) {
    last_bytes_ -= last_.front().text.size() + sizeof(Raw);
    if (last_.front().group > 0) {
      retain(std::move(last_.front()));
    } else {
      spare_ = std::move(last_.front().text);
    }
    last_.pop_front();
  }
}

// The line just kept may be what the run died of; it, what stands before it and what follows are marked.
void Collector::pick(std::string_view line) {
  if (last_.empty()) return;
  const auto candidate = std::find_if(hits_.begin(), hits_.end(), [&](const Prefilter::Hit& hit) {
    return candidates_.empty() || (hit.id < candidates_.size() && candidates_[hit.id]);
  });
  if (candidate == hits_.end()) return;
  ++groups_;
  picked_key_ = std::uint64_t{candidate->id} << 32U | speaker_in(line);
  pick_after_ = picked_after;
  int before = picked_before;
  for (auto raw = last_.rbegin(); raw != last_.rend() && before-- > 0 && (raw->group == 0 || raw == last_.rbegin());
       ++raw) {
    raw->key = picked_key_;
    raw->group = groups_;
  }
}

void Collector::retain(Raw raw) {
  // Many ranks that say the same share what is left of the room, so that no other sentence is kept out.
  if (!picks_.contains(raw.key)) {
    int& ranks = ranks_of_[raw.key >> 32U];
    if (ranks >= most_ranks) raw.key |= 0xFFFFFFFFU;
    if (ranks > 0 && retained_bytes_ > most_retained) return;
    ++ranks;
  }
  Picks& picks = picks_[raw.key];
  if (picks.group != raw.group) {
    picks.group = raw.group;
    picks.bytes = 0;
    if (++picks.groups > 2) {
      for (const Raw& old : picks.last) retained_bytes_ -= old.text.size() + sizeof(Raw);
      picks.last.clear();
    }
  }
  raw.text.resize(std::min(raw.text.size(), longest_picked));
  picks.bytes += raw.text.size();
  if (picks.bytes > 2 * longest_picked) return;
  retained_bytes_ += raw.text.size() + sizeof(Raw);
  (picks.groups > 2 ? picks.last : picks.first).push_back(std::move(raw));
}

std::vector<Collector::Raw> Collector::retained() {
  std::vector<Raw> out;
  for (auto& [key, picks] : picks_) {
    std::move(picks.first.begin(), picks.first.end(), std::back_inserter(out));
    std::move(picks.last.begin(), picks.last.end(), std::back_inserter(out));
  }
  picks_.clear();
  std::stable_sort(out.begin(), out.end(), [](const Raw& a, const Raw& b) {
    return std::pair(a.file, a.number) < std::pair(b.file, b.number);
  });
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i].after_gap = i == 0 || out[i].file != out[i - 1].file || out[i].number > out[i - 1].number + 1;
  return out;
}

// The lines up to `until` that are still wanted behind the last hit.
void Collector::keep_wanted(std::string_view text, std::size_t until) {
  while (wanted_ > 0 && kept_until_ < until) {
    const std::size_t end = line_end(text, kept_until_);
    keep(text.substr(kept_until_, end - kept_until_), line_at(text, kept_until_));
    kept_until_ = std::min(end + 1, text.size());
    --wanted_;
  }
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

// What was written with other blanks holds no word of a rule, so the block is made plain first.
void Collector::read(const TextBlock& block) {
  if (!has_foreign_blanks(block.text)) return read_plain(block);
  std::string text = plain(block.text);
  for (std::size_t at = text.find("&nbsp;"); at != std::string::npos; at = text.find("&nbsp;", at + 1))
    text.replace(at, 6, " ");
  read_plain({text, block.line});
}

void Collector::read_plain(const TextBlock& block) {
  const std::string_view text = block.text;
  counted_line_ = block_line_ = block.line;
  counted_at_ = kept_until_ = 0;
  if (begins_loud(text)) {
    keep_before(text, 0, block.line);
    wanted_ = lines_around;
  }
  for (std::size_t at = 0; at < text.size();) {
    at = loud_.find(text, at, hits_);
    if (hits_.empty()) break;
    const std::size_t hit = std::max(hits_.front().at, kept_until_);
    const void* before = memrchr(text.data() + kept_until_, '\n', hit - kept_until_);
    const std::size_t line =
        before == nullptr ? kept_until_ : static_cast<std::size_t>(static_cast<const char*>(before) - text.data()) + 1;
    keep_wanted(text, line);
    const std::int64_t number = line_at(text, line);
    keep_before(text, line, number);
    wanted_ = lines_around;
    const std::size_t end = line_end(text, line);
    keep(text.substr(line, end - line), number);
    pick(text.substr(line, end - line));
    kept_until_ = std::max(std::min(end + 1, text.size()), hit + 1);
    at = std::max(end, hit + 1);  // the next line may be looked for with the end of this one
  }
  keep_wanted(text, text.size());
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
  std::vector<Raw> raws = std::move(first_);
  first_ = {};
  std::vector<Raw> middle = retained();
  if (!middle.empty() && !last_.empty()) last_.front().after_gap = true;
  std::move(middle.begin(), middle.end(), std::back_inserter(raws));
  for (; !last_.empty(); last_.pop_front()) raws.push_back(std::move(last_.front()));
  std::vector<Line> out;
  out.reserve(raws.size());
  for (auto begin = raws.begin(); begin != raws.end();) {
    const auto end = std::find_if(begin, raws.end(), [&](const Raw& raw) { return raw.file != begin->file; });
    add_file({&*begin, static_cast<std::size_t>(end - begin)}, out);
    begin = end;
  }
  unwrap(out);
  return out;
}

void Collector::add_file(std::span<const Raw> raws, std::vector<Line>& out) {
  std::vector<std::string_view> filled;
  for (const Raw& raw : raws)
    if (raw.text.find_first_not_of(" \r") != std::string::npos) filled.push_back(raw.text);
  const std::vector<std::size_t> margins = margins_of(filled);
  std::size_t at = 0;
  for (const Raw& raw : raws) {
    const bool blank = raw.text.find_first_not_of(" \r") == std::string::npos;
    const std::size_t before = out.size();
    add_lines(std::string_view(raw.text).substr(blank ? 0 : margins[at++]), raw.file, raw.number, out);
    if (raw.after_gap && out.size() > before) out[before].header = true;
  }
}

}  // namespace oomplan::diagnose
