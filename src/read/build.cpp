#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tape.hpp"

namespace oomplan::read {
namespace {

constexpr std::size_t most_reported = 10;  // each carries its line as excerpt

class Builder {
 public:
  explicit Builder(const Tape& tape) : tape_(tape), source_(tape.source()) {}

  Node document() {
    Node root = value();
    if (!errors_.empty()) throw Refused{std::move(errors_)};
    return root;
  }

 private:
  // The keys of a mapping so far, with the offset of each, and the mappings to merge, the strongest first.
  struct Keys {
    std::map<std::string_view, std::size_t> seen{};
    std::vector<Node> merged{};
  };

  const Item& take() { return tape_.items()[next_++]; }
  bool closes() {
    const bool closing = tape_.items()[next_].type == Item::Type::close;
    if (closing) ++next_;
    return closing;
  }

  Node value() {
    const Item& item = take();
    Node node = started(item);
    if (node.is_sequence()) {
      while (!closes()) node.items.push_back(value());
    } else if (node.is_mapping()) {
      Keys keys;
      while (!closes()) entry(node, keys);
      merge(node, keys);
    }
    return node;
  }

  Node started(const Item& item) const {
    Node node;
    node.kind = item.kind;
    if (node.kind != Node::Kind::null) node.text = item.text;
    const Location where = source_.at(item.offset);
    node.line = where.line;
    node.column = where.column;
    return node;
  }

  void entry(Node& mapping, Keys& keys) {
    const Item& key = take();
    if (key.type != Item::Type::scalar) refuse_key(key.offset);
    if (key.merge) return merge_from(value(), key.offset, keys);
    const auto [first, added] = keys.seen.emplace(key.text, key.offset);
    if (!added) report_duplicate(key, first->second);
    const Location where = source_.at(key.offset);
    mapping.entries.push_back({key.text, where.line, where.column, value()});
  }

  [[noreturn]] void refuse_key(std::size_t offset) const {
    const bool twice = offset > 0 && source_.text().substr(offset - 1).starts_with("{{");
    source_.refuse(offset, "read/syntax", "a key must be a single word or string",
                   twice ? "'{{ ... }}' is a template: render it first" : "");
  }

  void report_duplicate(const Item& key, std::size_t first) {
    if (errors_.size() == most_reported) return;
    errors_.push_back(duplicate_key(source_, key.text, key.offset, first));
  }

  // As PyYAML has it: of a list the first is strongest, and a later `<<` is stronger than an earlier one.
  void merge_from(Node node, std::size_t offset, Keys& keys) {
    std::vector<Node> sources;
    if (node.is_sequence()) {
      sources = std::move(node.items);
    } else {
      sources.push_back(std::move(node));
    }
    for (const Node& source : sources) {
      if (source.is_mapping()) continue;
      source_.refuse(offset, "read/syntax", "'<<' merges a mapping or a list of mappings");
    }
    keys.merged.insert(keys.merged.begin(), std::make_move_iterator(sources.begin()),
                       std::make_move_iterator(sources.end()));
  }

  static void merge(Node& mapping, Keys& keys) {
    std::set<std::string, std::less<>> present;
    if (keys.merged.empty()) return;
    for (const auto& [key, offset] : keys.seen) present.emplace(key);
    for (Node& source : keys.merged) {
      for (Entry& entry : source.entries) {
        if (present.insert(entry.key).second) mapping.entries.push_back(std::move(entry));
      }
    }
  }

  const Tape& tape_;
  const Source& source_;
  std::size_t next_ = 0;
  Diagnostics errors_;
};

}  // namespace

Node build(const Tape& tape) { return Builder(tape).document(); }

}  // namespace oomplan::read
