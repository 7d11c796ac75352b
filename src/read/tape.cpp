#include "tape.hpp"

#include <algorithm>
#include <utility>

#include "oomplan/core/text.hpp"

namespace oomplan::read {
namespace {

constexpr int deepest = 256;  // trees are built and destroyed by recursion

}  // namespace

void refuse_depth(const Source& source, std::size_t offset, int depth, const std::string& when) {
  source.refuse(offset, "read/too-deep", "nested deeper than " + with_separators(depth) + " levels" + when);
}

void refuse_nodes(const Source& source, std::size_t offset, int nodes, const std::string& when) {
  source.refuse(offset, "read/too-many-nodes", "more than " + with_separators(nodes) + " keys and values" + when);
}

Diagnostic duplicate_key(const Source& source, const std::string& key, std::size_t offset, std::size_t first) {
  const Location where = source.at(first);
  const std::string place = where.file + ":" + std::to_string(where.line) + ":" + std::to_string(where.column);
  return source.error(offset, "read/duplicate-key", "key '" + key + "' is given twice",
                      "the first is at " + place + "; keep one of them");
}

Tape::Tape(const Source& source, const ReadBudget& budget) : source_(source), budget_(budget) {
  budget_.depth = std::min(budget_.depth, deepest);
}

void Tape::scalar(std::size_t offset, Node::Kind kind, std::string text) {
  push({Item::Type::scalar, kind, false, offset, std::move(text)}, offset);
}

void Tape::merge_key(std::size_t offset) { push({Item::Type::scalar, Node::Kind::string, true, offset, "<<"}, offset); }

void Tape::open(std::size_t offset, Node::Kind kind) { push({Item::Type::open, kind, false, offset, {}}, offset); }

void Tape::close() { push({Item::Type::close, Node::Kind::null, false, 0, {}}, 0); }

void Tape::repeat(std::size_t begin, std::size_t end, std::size_t offset) {
  expanding_ = true;
  for (std::size_t at = begin; at < end; ++at) push(Item(items_[at]), offset);
  expanding_ = false;
}

void Tape::push(Item item, std::size_t blamed) {
  if (item.type == Item::Type::close) {
    --depth_;
  } else {
    if (item.type == Item::Type::open) ++depth_;
    ++nodes_;
    bytes_ += item.text.size();
  }
  check(blamed);
  items_.push_back(std::move(item));
}

void Tape::check(std::size_t blamed) const {
  const std::string when = expanding_ ? " once aliases are expanded" : "";
  if (depth_ > budget_.depth) refuse_depth(source_, blamed, budget_.depth, when);
  if (nodes_ > budget_.nodes) refuse_nodes(source_, blamed, budget_.nodes, when);
  if (bytes_ > budget_.bytes) {
    const Bytes most(static_cast<std::int64_t>(budget_.bytes));
    source_.refuse(blamed, "read/too-large", "more than " + to_text(most) + " of text" + when);
  }
}

}  // namespace oomplan::read
