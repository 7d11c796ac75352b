// Finds where any of hundreds of literals may stand, at memory speed: one look a stride at four bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace oomplan::diagnose {

/// A literal of at least stride + 3 bytes has, wherever it stands, four of its bytes at a multiple of the stride. So
/// only those places are looked at, through a table of bits that fits in the first cache; what passes is looked up by
/// eight bytes, compared by eight, and then in full. Of a literal's windows the one is taken whose bytes the fewest
/// others have.
class Prefilter {
 public:
  static constexpr std::size_t gram = 4;

  explicit Prefilter(std::size_t stride) : stride_(stride) {}

  /// `literal` (at least stride + 3 bytes) will be reported as `id`.
  void add(std::string_view literal, std::uint32_t id);
  void finish();

  struct Hit {
    std::size_t at = 0;
    std::uint32_t id = 0;
    std::uint32_t literal = 0;
  };
  /// The first hits at or after `from`: those of the first place where there is one, into `hits` (emptied first).
  /// Returns where to go on, text.size() at the end.
  std::size_t find(std::string_view text, std::size_t from, std::vector<Hit>& hits) const {
    return find(text, from, tables_, hits);
  }

  /// Literals that a log is full of, which find() then passes over as fast as anything else.
  class Muted;
  std::size_t find(std::string_view text, std::size_t from, const Muted& muted, std::vector<Hit>& hits) const;
  /// The last hits of one literal that begin at or after `from`, into `hits` (emptied first).
  void find_last(std::string_view text, std::size_t from, std::uint32_t literal, std::vector<Hit>& hits) const;

 private:
  struct Entry {
    std::uint32_t bit = 0;
    std::uint32_t literal = 0;
    std::uint32_t offset = 0;  // of the key in the literal
    std::uint32_t size = 0;
    std::uint64_t word = 0;  // up to eight bytes of the literal, those at the key among them
    std::uint64_t mask = 0;
    std::uint32_t word_offset = 0;
    std::uint32_t longs = 0;  // of the eight bytes from the key on
    bool is_short = false;    // there are fewer
  };
  struct Literal {
    std::string text{};
    std::vector<std::uint32_t> ids{};
  };
  static constexpr unsigned bit_width = 18;
  static constexpr unsigned slot_width = 16;
  static std::uint32_t bit_of(std::uint32_t key) { return (key * 2654435761U) >> (32 - bit_width); }
  static std::uint32_t slot_of(std::uint32_t bit) { return bit >> (bit_width - slot_width); }
  template <unsigned width>
  using Table = std::array<std::uint64_t, (std::size_t{1} << width) / 64>;
  struct Bits {
    Table<bit_width> keys{};
    Table<bit_width> shorts{};  // keys that a literal has fewer than eight bytes from
    Table<slot_width> longs{};  // eight bytes from a key on
  };
  struct Tables {
    Bits bits{};
    std::vector<Entry> entries{};             // by slot
    std::vector<std::uint32_t> begins{};      // of each slot among the entries, and their end
    std::vector<std::uint32_t> live_ends{};   // of each slot: what is muted comes behind
    std::vector<std::uint32_t> short_ends{};  // and the short ones come first
  };
  /// What lines say that a log is full of: each four bytes in a row, and each eight.
  struct Noise {
    std::unordered_set<std::uint32_t> keys{};
    std::unordered_set<std::uint32_t> longs{};
  };
  static std::uint32_t long_of(const char* text);
  int cost_at(std::string_view literal, std::size_t offset, const Noise& noise) const;
  std::size_t best_window(std::string_view literal, const Noise& noise) const;
  static std::size_t word_beside(std::string_view literal, std::size_t near, const Noise& noise);
  void enter(std::uint32_t literal, std::size_t begin, const Noise& noise, std::vector<Entry>& entries) const;
  Tables tables_for(const Noise& noise) const;
  std::size_t find(std::string_view text, std::size_t from, const Tables& tables, std::vector<Hit>& hits) const;
  void check(std::string_view text, std::size_t at, std::span<const Entry> entries, std::vector<Hit>& hits) const;
  static void set_bits(const std::vector<bool>& muted, Tables& tables);
  void tell(std::size_t at, std::uint32_t literal, std::vector<Hit>& hits) const;

  std::size_t stride_;
  std::size_t longest_ = sizeof(std::uint64_t);  // of the literals
  Tables tables_{};
  std::vector<Literal> literals_{};
  std::vector<int> shared_{};                             // by slot: windows of all literals
  std::unordered_map<std::string, std::size_t> known_{};  // of literals_, while they are added
};

class Prefilter::Muted {
 public:
  explicit Muted(const Prefilter& filter) : filter_(filter), muted_(filter.literals_.size()) {}
  void set(std::uint32_t literal, bool muted) {
    muted_[literal] = muted;
    if (!own_) own_ = filter_.tables_;
    set_bits(muted_, *own_);
  }
  /// A line that the log is full of: literals that share words with it are looked for by others of their bytes.
  void learn(std::string_view line);

 private:
  friend class Prefilter;
  static constexpr int most_learned = 16;
  const Tables& tables() const { return own_ ? *own_ : filter_.tables_; }

  const Prefilter& filter_;
  std::vector<bool> muted_;
  std::optional<Tables> own_{};  // from the first literal on that is muted: most logs have none, and it is a megabyte
  Noise noise_{};
  int learned_ = 0;
};

}  // namespace oomplan::diagnose
