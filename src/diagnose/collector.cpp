#include "collector.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "oomplan/core/last_byte.hpp"
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

constexpr std::size_t kept_whole = std::size_t{256} << 10;  // before anything counts as repeated
constexpr std::uint32_t most_stops = 250;                   // for one literal in a file
constexpr std::uint32_t most_numbered_stops = 20'000;       // where what follows tells sentences apart
constexpr std::uint32_t most_noted = 16;                    // and then in a block
constexpr std::size_t most_passages = 256;                  // then all that is new shares one

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

// Where the line that holds `at` begins, not before `floor`.
std::size_t line_begin(std::string_view text, std::size_t at, std::size_t floor) {
  const std::size_t before = last_byte(text.substr(floor, at - floor), '\n');
  return before == std::string_view::npos ? floor : floor + before + 1;
}

// Where the last `lines` lines of `text` begin.
std::size_t tail_begin(std::string_view text, std::int64_t lines) {
  std::size_t at = text.size();
  if (at > 0 && text[at - 1] == '\n') --at;
  while (at > 0 && lines-- > 0) {
    const std::size_t found = last_byte(text.substr(0, at), '\n');
    if (found == std::string_view::npos) return 0;
    at = found;
  }
  return at == 0 ? 0 : at + 1;
}

}  // namespace

void Collector::begin(int file) {
  file_ = file;
  counted_line_ = 1;
  wanted_ = head_lines;
  gap_ = true;
  before_.clear();
  heard_.clear();
  for (const Mute& mute : mutes_) muted_.set(mute.literal, false);
  mutes_.clear();
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

// Of the hits at one place the one that a run may have died of, if there is any.
const Prefilter::Hit& Collector::candidate() const {
  const auto found = std::find_if(hits_.begin(), hits_.end(), [&](const Prefilter::Hit& hit) {
    return hit.id < candidates_.size() && candidates_[hit.id];
  });
  return found == hits_.end() ? hits_.front() : *found;
}

// The line just kept may be what the run died of; it, what stands before it and what follows are marked.
void Collector::pick(std::string_view line) {
  if (last_.empty()) return;
  const std::uint32_t id = candidate().id;
  if (!candidates_.empty() && (id >= candidates_.size() || !candidates_[id])) return;
  ++groups_;
  picked_key_ = std::uint64_t{id} << 32U | speaker_in(line);
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

// Whether all that stands here was stopped at often enough. What a block is full of is not heard in the rest of it.
bool Collector::is_repeated(std::string_view text) {
  bool repeated = true;
  const std::size_t before = mutes_.size();
  bool numbered = false;
  for (std::size_t i = 0; i < hits_.size(); ++i) {
    const Prefilter::Hit& hit = hits_[i];
    numbered = numbered || (hit.id < numbered_.size() && numbered_[hit.id]);
    if (i + 1 < hits_.size() && hits_[i + 1].literal == hit.literal) continue;
    if (hit.literal >= heard_.size()) heard_.resize(hit.literal + 1);
    Heard& heard = heard_[hit.literal];
    const std::uint32_t most = std::exchange(numbered, false) ? most_numbered_stops : most_stops;
    if (heard.stops < most || first_bytes_ < kept_whole) {
      ++heard.stops;
      repeated = false;
      continue;
    }
    if (std::exchange(heard.block, block_) != block_) heard.here = 0;
    if (++heard.here == most_noted) mutes_.push_back({hit.literal, hit.at + 1});
  }
  for (std::size_t i = before; i < mutes_.size(); ++i) muted_.set(mutes_[i].literal, true);
  if (mutes_.size() > before) learn(text, hits_.front().at);
  return repeated;
}

void Collector::learn(std::string_view text, std::size_t at) {
  const std::size_t begin = line_begin(text, at, 0);
  muted_.learn(text.substr(begin, line_end(text, at) - begin));
}

// The rest of a line that was stopped at.
void Collector::hear_out(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    at = loud_.find(text, at, muted_, hits_);
    is_repeated(text);
  }
}

// What was not heard is looked for from the block's end; what is not there any more is heard again.
void Collector::look_for_muted(std::string_view text) {
  std::erase_if(mutes_, [&](Mute& mute) {
    loud_.find_last(text, std::exchange(mute.from, 0), mute.literal, hits_);
    noted_until_ = 0;
    if (!hits_.empty()) note(text);
    if (hits_.empty()) muted_.set(mute.literal, false);
    return hits_.empty();
  });
}

Collector::Passage& Collector::passage_of(std::uint32_t id, std::string_view line) {
  const std::uint64_t said = std::uint64_t{id} << 48U | (static_cast<std::uint64_t>(file_) & 0xFFFFU) << 32U;
  const std::uint64_t key = said | speaker_in(line);
  const auto known = passages_.find(key);
  if (known != passages_.end()) return known->second;
  int& ranks = passages_of_[said];
  const std::uint64_t of_any_rank = said | 0xFFFFFFFFU;
  if (passages_.size() >= most_passages) return passages_[passages_.contains(of_any_rank) ? of_any_rank : ~0ULL];
  if (ranks >= most_ranks) return passages_[of_any_rank];
  ++ranks;
  return passages_[key];
}

// What is repeated is kept where it was said last, which the block's end shows.
void Collector::note(std::string_view text) {
  const Prefilter::Hit& hit = candidate();
  if (hit.at < std::max(noted_until_, kept_until_)) return;
  const std::size_t begin = line_begin(text, hit.at, std::max(noted_until_, kept_until_));
  noted_until_ = line_end(text, hit.at);
  Passage& passage = passage_of(hit.id, text.substr(begin, noted_until_ - begin));
  if (std::exchange(passage.block, block_) != block_) {
    passage.at = 0;
    noted_.push_back(&passage);
  }
  passage.at = std::max(passage.at, begin);
}

void Collector::keep_noted(std::string_view text) {
  std::sort(noted_.begin(), noted_.end(), [](const Passage* a, const Passage* b) { return a->at < b->at; });
  std::size_t counted = 0;
  std::int64_t number = block_line_;
  for (Passage* passage : noted_) {
    const std::size_t floor = passage->at > longest_picked ? line_end(text, passage->at - longest_picked - 1) + 1 : 0;
    const std::size_t reach = std::min(passage->at, floor);
    const std::size_t begin = reach + tail_begin(text.substr(reach, passage->at - reach), picked_before);
    std::size_t end = line_end(text, passage->at);
    for (int i = 0; i < picked_after && end < text.size(); ++i) end = line_end(text, end + 1);
    number += count_newlines(text.substr(counted, begin - counted));
    counted = begin;
    passage->text.assign(text.substr(begin, std::min(end, passage->at + longest_picked) - begin));
    passage->number = number;
    passage->file = file_;
  }
  noted_.clear();
}

// In the order of their lines, those that are kept anyway left out.
void Collector::add_passages(std::vector<Raw>& raws) {
  if (passages_.empty()) return;
  for (auto& [key, passage] : passages_) {
    std::string_view rest = passage.text;
    for (std::int64_t number = passage.number; !rest.empty(); ++number) {
      const std::size_t end = line_end(rest, 0);
      raws.push_back({std::string(rest.substr(0, end)), number, passage.file});
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  passages_.clear();
  std::stable_sort(raws.begin(), raws.end(), [](const Raw& a, const Raw& b) {
    return std::pair(a.file, a.number) < std::pair(b.file, b.number);
  });
  const auto same = [](const Raw& a, const Raw& b) {
    return a.file == b.file && a.number == b.number && (a.text.starts_with(b.text) || b.text.starts_with(a.text));
  };
  raws.erase(std::unique(raws.begin(), raws.end(), same), raws.end());
  for (std::size_t i = 0; i < raws.size(); ++i)
    raws[i].after_gap = i == 0 || raws[i].file != raws[i - 1].file || raws[i].number > raws[i - 1].number + 1;
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
void Collector::read(std::string_view block) {
  if (!has_foreign_blanks(block)) return read_plain(block);
  std::string text = plain(block);
  for (std::size_t at = text.find("&nbsp;"); at != std::string::npos; at = text.find("&nbsp;", at + 1))
    text.replace(at, 6, " ");
  read_plain(text);
}

void Collector::read_plain(std::string_view text) {
  block_line_ = counted_line_;
  counted_at_ = kept_until_ = noted_until_ = 0;
  ++block_;
  if (begins_loud(text)) {
    if (is_repeated(text)) {
      note(text);
    } else {
      keep_before(text, 0, block_line_);
      wanted_ = lines_around;
    }
  }
  for (std::size_t at = 0; at < text.size();) {
    at = loud_.find(text, at, muted_, hits_);
    if (hits_.empty()) break;
    if (is_repeated(text)) {
      note(text);
      continue;
    }
    const std::size_t hit = std::max(hits_.front().at, kept_until_);
    const std::size_t line = line_begin(text, hit, kept_until_);
    keep_wanted(text, line);
    const std::int64_t number = line_at(text, line);
    keep_before(text, line, number);
    wanted_ = lines_around;
    const std::size_t end = line_end(text, line);
    keep(text.substr(line, end - line), number);
    pick(text.substr(line, end - line));
    hear_out(text.substr(0, end), at);
    kept_until_ = std::max(std::min(end + 1, text.size()), hit + 1);
    at = std::max(end, hit + 1);  // the next line may be looked for with the end of this one
  }
  keep_wanted(text, text.size());
  look_for_muted(text);
  keep_noted(text);
  remember(text);
}

void Collector::remember(std::string_view text) {
  const std::int64_t after = line_at(text, text.size());
  lines_seen_ += after - block_line_;
  if (!text.empty() && text.back() != '\n') ++lines_seen_;
  const std::size_t floor = std::max(kept_until_, text.size() > bytes_before ? text.size() - bytes_before : 0);
  if (floor > 0) before_.clear();
  if (floor > kept_until_ && floor > 0) gap_ = true;
  before_.append(text.substr(floor));
  if (before_.size() > 2 * bytes_before) before_.erase(0, before_.size() - bytes_before);
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
  add_passages(raws);
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
