// Picks from a log of any size the lines worth reading: its head, its end, and what stands around a loud sentence.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "line.hpp"
#include "oomplan/read/log_text.hpp"
#include "prefilter.hpp"

namespace oomplan::diagnose {

class Collector {
 public:
  /// `loud` finds the places to stop at. `candidates`, by the ids of its literals, are those that a run may have died
  /// of: of each, and of each rank that says it, the first two and the last stay whatever else is loud. Once 256 KiB
  /// are kept, what a file says over and over is stopped at 250 times; then it is kept only where it was said last, and
  /// for the ranks where they were seen to say it last: in what a block is full of, no more than its last place is
  /// looked for. Sentences of `numbered`, by the same ids, differ in what follows, and are stopped at 20,000 times.
  explicit Collector(const Prefilter& loud, std::vector<bool> candidates = {}, std::vector<bool> numbered = {})
      : loud_(loud), candidates_(std::move(candidates)), numbered_(std::move(numbered)), muted_(loud) {}

  void begin(int file);
  void read(std::string_view block);
  /// Ends the current log.
  void end();

  /// All lines kept so far, in order.
  std::vector<Line> take();
  std::int64_t lines_seen() const { return lines_seen_; }

 private:
  void read_plain(std::string_view text);
  bool begins_loud(std::string_view text);
  void keep(std::string_view raw, std::int64_t number);
  void keep_before(std::string_view text, std::size_t stop, std::int64_t stop_line);
  void keep_wanted(std::string_view text, std::size_t until);
  void remember(std::string_view text);
  std::int64_t line_at(std::string_view text, std::size_t at);

  struct Raw {
    std::string text{};
    std::int64_t number = 0;
    int file = 0;
    bool after_gap = false;
    std::uint64_t key = 0;    // of the candidate that it stands by: sentence and rank
    std::uint32_t group = 0;  // of the hit; 0 for none
  };
  struct Picks {
    std::vector<Raw> first{};
    std::vector<Raw> last{};
    std::uint32_t group = 0;
    int groups = 0;
    std::size_t bytes = 0;  // of the group
  };
  void pick(std::string_view line);
  void retain(Raw raw);
  std::vector<Raw> retained();

  struct Passage {
    std::string text{};  // whole lines, the first of this number
    std::int64_t number = 0;
    int file = 0;
    std::size_t at = 0;      // in the block that it was noted in last: the line that is repeated
    std::int64_t block = 0;  // that block
  };
  const Prefilter::Hit& candidate() const;
  bool is_repeated(std::string_view text);
  void learn(std::string_view text, std::size_t at);
  void hear_out(std::string_view text, std::size_t at);
  void look_for_muted(std::string_view text);
  void note(std::string_view text);
  void keep_noted(std::string_view text);
  Passage& passage_of(std::uint32_t id, std::string_view line);
  void add_passages(std::vector<Raw>& raws);

  static void add_file(std::span<const Raw> raws, std::vector<Line>& out);

  const Prefilter& loud_;
  std::vector<bool> candidates_;
  std::vector<bool> numbered_;
  std::unordered_map<std::uint64_t, Picks> picks_{};   // what last_ had to drop
  std::unordered_map<std::uint64_t, int> ranks_of_{};  // of a sentence, those that have a place of their own
  std::size_t retained_bytes_ = 0;
  std::uint32_t groups_ = 0;
  std::uint64_t picked_key_ = 0;
  int pick_after_ = 0;  // lines that still belong to the last candidate
  struct Heard {
    std::uint32_t stops = 0;  // in this file
    std::uint32_t here = 0;   // in this block, more often than it is stopped at
    std::int64_t block = 0;   // that block
  };
  struct Mute {
    std::uint32_t literal = 0;
    std::size_t from = 0;  // in the current block
  };
  Prefilter::Muted muted_;
  std::vector<Mute> mutes_{};                              // what muted_ has
  std::vector<Heard> heard_{};                             // by literal
  std::int64_t block_ = 0;                                 // counts them
  std::unordered_map<std::uint64_t, Passage> passages_{};  // by sentence, file and rank
  std::unordered_map<std::uint64_t, int> passages_of_{};   // of a sentence in a file
  std::vector<Passage*> noted_{};                          // those of this block
  std::size_t noted_until_ = 0;                            // the end of the line that was noted last
  std::vector<Raw> first_{};                               // until the budget is half spent
  std::deque<Raw> last_{};  // then only the latest; made readable at the end, as most are dropped again
  std::string spare_{};     // of a line that was dropped, for the next one
  std::size_t first_bytes_ = 0;
  std::size_t last_bytes_ = 0;
  int file_ = 0;
  std::int64_t wanted_ = 0;     // lines to keep from here on
  std::size_t kept_until_ = 0;  // in the current block
  bool gap_ = true;             // lines were passed over since the last one kept
  std::string before_{};        // the end of the block before, not kept yet
  std::int64_t block_line_ = 1;
  std::int64_t counted_line_ = 1;  // the number of the line at counted_at_
  std::size_t counted_at_ = 0;
  std::int64_t lines_seen_ = 0;
  std::vector<Prefilter::Hit> hits_{};
};

}  // namespace oomplan::diagnose
