// YAML onto the tape, as PyYAML 6.0.3 composes and constructs it for safe_load (yaml/parser.py, composer.py,
// constructor.py). Refused besides, on purpose: keys given twice, of which PyYAML takes the last; keys that are no
// scalars, values that are part of themselves, !!binary, !!set and their like, which no config of a framework has.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "syntax.hpp"
#include "yaml_scalar.hpp"
#include "yaml_scanner.hpp"

namespace oomplan::read {
namespace {

using Type = YamlToken::Type;

constexpr std::string_view standard_tag = "tag:yaml.org,2002:";
constexpr std::string_view no_key = "the key before this ':' is missing";

/// Where a node stands, which decides what may come.
enum class Place { block, block_value, flow };

class YamlParser {
 public:
  YamlParser(const Source& source, Tape& tape) : source_(source), tape_(tape), tokens_(source) {}

  void document() {
    if (at(Type::end)) source_.refuse(0, "read/empty", "the file holds nothing but comments");
    if (at_directive() || at(Type::document_start)) {
      start();
      if (at(Type::document_start) || at(Type::document_end) || at(Type::end)) {
        empty(peek().offset);
      } else {
        node(Place::block, false);
      }
    } else {
      node(Place::block, false);
    }
    finish();
  }

 private:
  struct Properties {
    std::string anchor{};
    std::optional<std::string> tag{};
    std::size_t offset = 0;
    bool any = false;
  };

  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;  // 0 while the value is not complete
  };

  const YamlToken& peek() { return tokens_.peek(); }
  YamlToken take() { return tokens_.take(); }
  bool at(Type type) { return peek().type == type; }

  [[noreturn]] void refuse(std::size_t offset, std::string_view message, std::string_view hint = {}) const {
    source_.refuse(offset, "read/syntax", std::string(message), std::string(hint));
  }

  // ---- The document ------------------------------------------------------------------------------------------------

  bool at_directive() { return at(Type::version) || at(Type::tag_handle) || at(Type::directive); }

  void start() {
    int versions = 0;
    while (at_directive()) {
      const YamlToken token = take();
      if (token.type == Type::tag_handle && !handles_.emplace(token.handle, token.text).second) {
        refuse(token.offset, "this handle is defined twice");
      }
      const bool good = token.type != Type::version || (++versions == 1 && token.text == "1");
      if (!good) refuse(token.offset, "one %YAML 1.x is all that a file may say");
    }
    if (!at(Type::document_start)) refuse(peek().offset, "'---' is expected behind a directive");
    take();
  }

  void finish() {
    while (at(Type::document_end)) take();
    if (at(Type::end)) return;
    if (!at(Type::document_start)) refuse(peek().offset, "this follows the end of the document");
    source_.refuse(peek().offset, "read/many-documents", "a second document begins here", "a config is one document");
  }

  // ---- Nodes -------------------------------------------------------------------------------------------------------

  void node(Place place, bool key) {
    if (at(Type::alias)) return alias(take());
    const Properties properties = take_properties();
    const std::size_t begin = tape_.size();
    declare(properties, begin);
    content(place, key, properties);
    if (!properties.anchor.empty()) anchors_[properties.anchor].end = tape_.size();
  }

  void content(Place place, bool key, const Properties& properties) {
    const bool block = place != Place::flow;
    if (at(Type::scalar)) return scalar(properties, take(), key);
    if (place == Place::block_value && at(Type::block_entry)) return indentless_sequence(properties);
    if (at(Type::flow_sequence)) return flow_sequence(properties);
    if (at(Type::flow_mapping)) return flow_mapping(properties);
    if (block && at(Type::block_sequence)) return block_sequence(properties);
    if (block && at(Type::block_mapping)) return block_mapping(properties);
    if (!properties.any) refuse_token();
    scalar(properties, {Type::scalar, properties.offset, properties.offset, {}, {}, true}, key);
  }

  [[noreturn]] void refuse_token() {
    if (at(Type::end) && !open_.empty()) refuse_open();
    if (at(Type::value)) refuse(peek().offset, no_key);
    refuse(peek().offset, at(Type::block_entry) ? "no '-' can stand here" : "a value is expected here");
  }

  [[noreturn]] void refuse_open() const {
    refuse(open_.back(), std::string("this '") + source_.text()[open_.back()] + "' is never closed");
  }

  Properties take_properties() {
    Properties out;
    out.offset = peek().offset;
    while ((at(Type::anchor) && out.anchor.empty()) || (at(Type::tag) && !out.tag)) {
      const YamlToken token = take();
      out.any = true;
      if (token.type == Type::anchor) {
        out.anchor = token.text;
      } else {
        out.tag = full_tag(token);
      }
    }
    return out;
  }

  std::string full_tag(const YamlToken& token) const {
    if (token.handle.empty()) return token.text;
    if (const auto own = handles_.find(token.handle); own != handles_.end()) return own->second + token.text;
    if (token.handle == "!!") return std::string(standard_tag) + token.text;
    if (token.handle != "!") refuse(token.offset, "no %TAG says what this tag's handle stands for");
    return "!" + token.text;
  }

  void declare(const Properties& properties, std::size_t begin) {
    if (properties.anchor.empty()) return;
    if (!anchors_.emplace(properties.anchor, Range{begin, 0}).second) {
      refuse(properties.offset, "this anchor is defined twice, which PyYAML refuses");
    }
  }

  void alias(const YamlToken& token) {
    const auto found = anchors_.find(token.text);
    if (found == anchors_.end()) refuse(token.offset, "no anchor of this name comes before");
    if (found->second.end == 0) refuse(token.offset, "this alias stands for a value it is part of");
    tape_.repeat(found->second.begin, found->second.end, token.offset);
  }

  void empty(std::size_t offset) { tape_.scalar(offset, Node::Kind::null, {}); }

  // ---- Scalars -----------------------------------------------------------------------------------------------------

  void scalar(const Properties& properties, const YamlToken& token, bool key) {
    const bool resolves = properties.tag ? *properties.tag == "!" : token.plain;
    if (resolves && token.text == "<<") return merge(token, key);
    const Node::Kind kind = resolves ? resolved(token, key) : tagged(properties, token);
    tape_.scalar(token.offset, kind, token.text);
  }

  void merge(const YamlToken& token, bool key) {
    if (!key) refuse(token.offset, "'<<' is a key that merges: as a value it stands in quotes");
    tape_.merge_key(token.offset);
  }

  Node::Kind resolved(const YamlToken& token, bool key) const {
    if (token.text == "=" && !key) refuse(token.offset, "a '=' alone stands in quotes: PyYAML has no value for it");
    const Node::Kind kind = resolve(token.text);
    if (!can_construct(kind, token.text)) {
      refuse(token.offset, "PyYAML takes this for a number or a date and cannot make one of it: put it in quotes");
    }
    return kind;
  }

  Node::Kind tagged(const Properties& properties, const YamlToken& token) const {
    static const std::map<std::string_view, Node::Kind> kinds{
        {"str", Node::Kind::string},   {"int", Node::Kind::integer}, {"float", Node::Kind::real},
        {"bool", Node::Kind::boolean}, {"null", Node::Kind::null},   {"timestamp", Node::Kind::string}};
    if (!properties.tag) return Node::Kind::string;
    const auto known = kinds.find(standard_name(*properties.tag));
    if (known == kinds.end()) refuse_tag(properties);
    if (!fits(known->first, known->second, token.text))
      refuse(token.offset, "this is no !!" + std::string(known->first));
    return known->second;
  }

  // A tag is the author's word only; the kind of a node must be true.
  static bool fits(std::string_view name, Node::Kind kind, const std::string& value) {
    const Node node{.kind = kind, .text = value};
    if (kind == Node::Kind::boolean) return node.as_boolean().has_value();
    if (kind == Node::Kind::integer) return (resolve(value) == kind && can_construct(kind, value)) || node.as_integer();
    if (kind == Node::Kind::real) return resolve(value) == kind || node.as_number();
    return name != "timestamp" || is_timestamp(value);
  }

  static std::string_view standard_name(std::string_view tag) {
    return tag.starts_with(standard_tag) ? tag.substr(standard_tag.size()) : std::string_view{};
  }

  [[noreturn]] void refuse_tag(const Properties& properties) const {
    refuse(properties.offset, "this tag has no meaning here", "write the value without a tag");
  }

  // ---- Collections -------------------------------------------------------------------------------------------------

  void open(const Properties& properties, std::size_t offset, Node::Kind kind) {
    const std::string_view name = kind == Node::Kind::mapping ? "map" : "seq";
    const auto& tag = properties.tag;
    if (tag && *tag != "!" && standard_name(*tag) != name) refuse_tag(properties);
    tape_.open(offset, kind);
  }

  void block_sequence(const Properties& properties) {
    open(properties, take().offset, Node::Kind::sequence);
    while (at(Type::block_entry)) {
      const YamlToken dash = take();
      if (at(Type::block_entry) || at(Type::block_end)) {
        empty(dash.end);
      } else {
        node(Place::block, false);
      }
    }
    if (!at(Type::block_end)) refuse(peek().offset, at(Type::value) ? no_key : "'-' is expected here");
    take();
    tape_.close();
  }

  // The dashes stand level with the key.
  void indentless_sequence(const Properties& properties) {
    open(properties, peek().offset, Node::Kind::sequence);
    while (at(Type::block_entry)) {
      const YamlToken dash = take();
      if (at(Type::block_entry) || at(Type::key) || at(Type::value) || at(Type::block_end)) {
        empty(dash.end);
      } else {
        node(Place::block, false);
      }
    }
    tape_.close();
  }

  bool ends_block_part() { return at(Type::key) || at(Type::value) || at(Type::block_end); }

  void block_part(std::size_t absent, bool key) {
    if (ends_block_part()) return empty(absent);
    node(Place::block_value, key);
  }

  void block_mapping(const Properties& properties) {
    open(properties, take().offset, Node::Kind::mapping);
    while (at(Type::key)) {
      const YamlToken key = take();
      block_part(key.end, true);
      if (at(Type::value)) {
        block_part(take().end, false);
      } else {
        empty(key.offset);
      }
    }
    if (!at(Type::block_end)) refuse(peek().offset, at(Type::value) ? no_key : "a key with its ':' is expected here");
    take();
    tape_.close();
  }

  /// True before the end; between two entries a comma is passed.
  bool next_in_flow(Type end, bool first) {
    if (at(end)) return false;
    if (first) return true;
    if (at(Type::end)) refuse_open();
    if (!at(Type::flow_entry)) {
      refuse(peek().offset,
             end == Type::flow_mapping_end ? "',' or '}' is expected here" : "',' or ']' is expected here");
    }
    take();
    return !at(end);
  }

  bool ends_flow_part(Type end) { return at(Type::value) || at(Type::flow_entry) || at(end); }

  /// What stands behind a key's '?' or ':'.
  void flow_part(std::size_t absent, Type end, bool key) {
    if (key ? ends_flow_part(end) : at(Type::flow_entry) || at(end)) return empty(absent);
    node(Place::flow, key);
  }

  void flow_pair(Type end) {
    const YamlToken key = take();
    flow_part(key.end, end, true);
    if (at(Type::value)) {
      flow_part(take().end, end, false);
    } else {
      empty(key.offset);
    }
  }

  void flow_sequence(const Properties& properties) {
    open_.push_back(peek().offset);
    open(properties, take().offset, Node::Kind::sequence);
    for (bool first = true; next_in_flow(Type::flow_sequence_end, first); first = false) {
      if (!at(Type::key)) {
        node(Place::flow, false);
        continue;
      }
      tape_.open(peek().offset, Node::Kind::mapping);
      flow_pair(Type::flow_sequence_end);
      tape_.close();
    }
    take();
    open_.pop_back();
    tape_.close();
  }

  void flow_mapping(const Properties& properties) {
    open_.push_back(peek().offset);
    open(properties, take().offset, Node::Kind::mapping);
    for (bool first = true; next_in_flow(Type::flow_mapping_end, first); first = false) {
      if (at(Type::key)) {
        flow_pair(Type::flow_mapping_end);
        continue;
      }
      const std::size_t key = peek().offset;
      node(Place::flow, true);
      empty(key);
    }
    take();
    open_.pop_back();
    tape_.close();
  }

  const Source& source_;
  Tape& tape_;
  YamlScanner tokens_;
  std::map<std::string, std::string, std::less<>> handles_;
  std::map<std::string, Range, std::less<>> anchors_;
  std::vector<std::size_t> open_;  // brackets and braces
};

// PyYAML's reader refuses these before it looks for any syntax.
std::size_t unprintable_size(std::string_view rest) {
  if (rest.front() == '\x7F') return 1;
  if (rest.starts_with("\xC2") && rest.size() > 1) return rest[1] < '\xA0' && rest[1] != '\x85' ? 2 : 0;
  return rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF") ? 3 : 0;
}

void check_printable(const Source& source) {
  const std::string_view text = source.text();
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool plain = text[at] != '\x7F' && text[at] != '\xC2' && text[at] != '\xEF';
    if (plain || unprintable_size(text.substr(at)) == 0) continue;
    source.refuse(at, "read/binary", "PyYAML takes no such character, which cannot be printed",
                  "write it as an escape");
  }
}

}  // namespace

void parse_yaml(const Source& source, Tape& tape) {
  check_printable(source);
  YamlParser(source, tape).document();
}

}  // namespace oomplan::read
