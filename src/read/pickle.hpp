// Python's pickles, protocol 2 to 5, as data: containers, texts and numbers. What would import, call or build anything
// is refused.
//
// Opcodes: Lib/pickletools.py of CPython 3.13; what writes them: Modules/_pickle.c, and torch/csrc/jit/serialization.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "byte_source.hpp"
#include "long_array.hpp"

namespace oomplan::read {

/// What a pickle may take before it is refused.
struct PickleBudget {
  std::size_t memory = std::size_t{2} << 30;  ///< Bytes of the tree, memo and stack.
  std::size_t marks = 1000;                   ///< Open marks: how deep containers stand in one another.
  std::size_t text = std::size_t{1} << 20;    ///< Bytes of one text.
};

/// Four bytes that stand for a value of a tree.
class PickleValue {
 public:
  enum class Kind : std::uint8_t { none, integer, wide, text, list, dict, real };
  static constexpr std::uint32_t most = (1U << 29U) - 1;

  PickleValue() = default;
  PickleValue(Kind kind, std::uint32_t index) : bits_(index << 3U | static_cast<std::uint32_t>(kind)) {}
  static PickleValue from_bits(std::uint32_t bits) {
    PickleValue out;
    out.bits_ = bits;
    return out;
  }
  Kind kind() const { return static_cast<Kind>(bits_ & 7U); }
  std::uint32_t index() const { return bits_ >> 3U; }
  std::uint32_t bits() const { return bits_; }
  friend bool operator==(const PickleValue&, const PickleValue&) = default;

 private:
  std::uint32_t bits_ = 0;
};

/// What a pickle holds. Equal texts, lists of equal parts and the keys of alike dicts are kept once, so that a snapshot
/// with a million stacks takes the room of the few that differ. A list or dict may hold itself: walk it to a fixed
/// depth.
class PickleTree {
 public:
  using Value = PickleValue;
  using Kind = Value::Kind;

  Value root() const { return root_; }
  bool is(Value value, Kind kind) const { return value.kind() == kind; }
  /// 0, or nothing, where the value is of another kind.
  std::int64_t integer(Value value) const;
  double real(Value value) const;
  std::string_view text(Value value) const;

  /// The key as the tree's dicts have it; none where no text of it is that.
  Value key(std::string_view text) const;
  /// The dict's last value under the key; none where there is none, or it is no dict, or one of over a thousand keys.
  Value find(Value dict, Value key) const;

  /// A key looked for in dict after dict: where it was in the last is where it is in the next of the same keys.
  struct Column {
    Value key{};
    std::uint32_t keys = 0xFFFFFFFFU;
    std::uint32_t index = 0;
  };
  Value find(Value dict, Column& column) const;

  /// A list's parts in runs; nothing where it is no list. Lists of one run that are equal have the same run.
  struct Run {
    std::span<const Value> items{};
    std::uint32_t id = 0;
  };
  template <class Visit>
  void each_run(Value list, const Visit& visit) const;
  template <class Visit>
  void each(Value list, const Visit& visit) const {
    each_run(list, [&](const Run& run) {
      for (const Value value : run.items) visit(value);
    });
  }

 private:
  friend class PickleBuilder;
  static constexpr std::uint32_t unset = 0xFFFFFFFFU;
  /// Part of a list or, where it has keys, of a dict.
  struct Slice {
    std::uint32_t items = 0;
    std::uint32_t keys = unset;
    std::uint32_t count = 0;
  };
  /// Most are one slice; `last` is the last link of a ring of further ones.
  struct Container {
    std::uint32_t slice = unset;
    std::uint32_t last = unset;
  };
  struct Link {
    std::uint32_t slice = 0;
    std::uint32_t next = 0;
  };
  struct Text {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
  };
  struct Row {
    std::uint32_t hash = 0;
    std::uint32_t index = unset;
  };

  /// Goes on while `visit` returns true.
  template <class Visit>
  void each_slice(Value container, const Visit& visit) const;
  std::string_view text_at(std::uint32_t index) const {
    return std::string_view(characters_).substr(texts_[index].begin, texts_[index].size);
  }

  Value root_{};
  LongArray<Value> items_{};
  LongArray<Slice> slices_{};
  LongArray<Container> containers_{};
  LongArray<Link> links_{};
  LongArray<std::int64_t> wide_{};
  std::string characters_{};
  std::vector<Text> texts_{};
  std::vector<Row> text_rows_{};
};

/// Whether the first two bytes are those of a pickle.
bool is_pickle(std::string_view begun);

/// Reads one pickle, up to its STOP. Errors, with the offset where it stands:
/// read/forbidden-opcode   an opcode that imports, calls or builds, or one that is not known
/// read/bad-pickle         the stack, the memo or a container is not what the opcode needs
/// read/truncated          the file ends before STOP
/// read/too-large, read/too-deep   beyond the budget
/// and those of `bytes`.
Result<PickleTree> read_pickle(ByteSource& bytes, const std::string& name, const PickleBudget& budget = {});

template <class Visit>
void PickleTree::each_slice(Value container, const Visit& visit) const {
  const Container& at = containers_[container.index()];
  if (at.slice == unset || !visit(at.slice) || at.last == unset) return;
  std::uint32_t link = at.last;
  do {
    link = links_[link].next;
  } while (visit(links_[link].slice) && link != at.last);
}

template <class Visit>
void PickleTree::each_run(Value list, const Visit& visit) const {
  if (list.kind() != Kind::list) return;
  each_slice(list, [&](std::uint32_t slice) {
    visit(Run{items_.part(slices_[slice].items, slices_[slice].count), slice});
    return true;
  });
}

}  // namespace oomplan::read
