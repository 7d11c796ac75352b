// YAML by yaml-cpp's events. Its tree is not used: it would expand aliases and nest without a budget.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <istream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oomplan/text.hpp"
#include "syntax.hpp"
#include "yaml_meter.hpp"
#include "yaml_place.hpp"
#include "yaml_scalar.hpp"
#include "yaml_words.hpp"

namespace oomplan::read {
namespace {

constexpr std::string_view standard_tag = "tag:yaml.org,2002:";

class Handler : public YAML::EventHandler {
 public:
  Handler(const Source& source, Tape& tape, YamlMeter& meter) : source_(source), tape_(tape), meter_(meter) {}

  /// Of the last event.
  std::size_t position() const { return position_; }

  [[noreturn]] void refuse_length() const {
    source_.refuse(position_, "read/too-many-nodes",
                   "from here on come more than " + with_separators(tape_.budget().nodes) + " keys and values");
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 1) return;
    const std::size_t offset = offset_of(mark);
    if (source_.text().substr(offset).starts_with("---")) {
      source_.refuse(offset, "read/many-documents", "a second document begins here", "a config is one document");
    }
    source_.refuse(offset, "read/syntax", "this follows the end of the document");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check_absent(offset_of(mark));
    event(mark, true);
    null(mark, anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    event(mark);
    const Node::Kind kind = kind_of(mark, tag, value);
    if (kind == Node::Kind::null) return null(mark, anchor);
    const std::size_t begin = tape_.size();
    if (tag != "?" && quote_stays_open(source_.text(), value_at(mark))) {
      source_.refuse(value_at(mark), "read/syntax", "this quote is never closed");
    }
    if (tag == "?" && value == "<<") {
      tape_.merge_key(value_at(mark));
    } else {
      tape_.scalar(value.empty() && tag != "!" ? offset_of(mark) : value_at(mark), kind, value);
    }
    anchors_[anchor] = {begin, tape_.size()};
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    open(mark, tag, Node::Kind::sequence, {.anchor = anchor, .block = style == YAML::EmitterStyle::Block});
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    open(mark, tag, Node::Kind::mapping,
         {.anchor = anchor, .mapping = true, .block = style == YAML::EmitterStyle::Block});
  }
  void OnMapEnd() override { close(); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    event(mark);
    const Range range = anchors_[anchor];
    if (range.end == 0) source_.refuse(offset_of(mark), "read/syntax", "this alias stands for a value it is part of");
    tape_.repeat(range.begin, range.end, offset_of(mark));
  }

 private:
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;  // 0 while the value is not complete
  };

  struct Open {
    YAML::anchor_t anchor = 0;
    bool mapping = false;
    bool block = false;           // not within brackets
    std::size_t key = no_offset;  // whose value comes next
    YAML::Mark key_mark{};
  };

  static constexpr std::size_t no_offset = std::string_view::npos;

  // Every key and value, or its beginning, is an event. Only a list may stand `level` with the key it belongs to.
  void event(const YAML::Mark& mark, bool level = false) {
    meter_.event();
    position_ = offset_of(mark);
    if (meter_.exceeded()) refuse_length();
    if (open_.empty() || !open_.back().mapping) return;
    Open& mapping = open_.back();
    if (mapping.key != no_offset && mapping.block && !level) check_indent(mark, mapping);
    mapping.key = mapping.key == no_offset ? position_ : no_offset;
    mapping.key_mark = mark;
  }

  // yaml-cpp takes a line that lacks its ':' for the value of the key above.
  void check_indent(const YAML::Mark& mark, const Open& mapping) const {
    const bool below = mark.line > mapping.key_mark.line && mark.column <= mapping.key_mark.column;
    if (!below || !begins_line(source_.text(), position_) || is_explicit_key(source_.text(), mapping.key)) return;
    source_.refuse(position_, "read/syntax", "this line must be indented, or its ':' is missing");
  }

  // What yaml-cpp lets pass: a key that is not there, and one without its ':', which is a line whose ':' was forgotten.
  void check_absent(std::size_t offset) const {
    if (open_.empty() || !open_.back().mapping) return;
    const Open& mapping = open_.back();
    const bool no_key = mapping.key == no_offset && source_.text().substr(offset).starts_with(':');
    if (no_key) source_.refuse(offset, "read/syntax", "the key before this ':' is missing");
    if (mapping.key == no_offset || !mapping.block || is_marked_key(source_.text(), mapping.key)) return;
    source_.refuse(mapping.key, "read/syntax", "':' is missing after this key");
  }

  std::size_t offset_of(const YAML::Mark& mark) const {
    return std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), source_.text().size());
  }

  std::size_t value_at(const YAML::Mark& mark) const { return value_offset(source_.text(), offset_of(mark)); }

  void null(const YAML::Mark& mark, YAML::anchor_t anchor) {
    const std::size_t begin = tape_.size();
    const std::size_t offset = null_offset(source_.text(), offset_of(mark));
    tape_.scalar(offset, Node::Kind::null, std::string(null_word(source_.text(), offset)));
    anchors_[anchor] = {begin, tape_.size()};
  }

  Node::Kind kind_of(const YAML::Mark& mark, const std::string& tag, const std::string& value) const {
    static const std::map<std::string_view, Node::Kind> kinds{
        {"str", Node::Kind::string},      {"int", Node::Kind::integer}, {"float", Node::Kind::real},
        {"bool", Node::Kind::boolean},    {"null", Node::Kind::null},   {"binary", Node::Kind::string},
        {"timestamp", Node::Kind::string}};
    if (tag == "?") return resolve(value);
    if (tag == "!") return Node::Kind::string;
    const auto known = kinds.find(standard_name(tag));
    if (known == kinds.end()) refuse_tag(mark, tag);
    if (!fits(known->second, value)) {
      source_.refuse(value_at(mark), "read/syntax", "this is no !!" + std::string(known->first));
    }
    return known->second;
  }

  // A tag is the author's word only; the kind of a node must be true.
  static bool fits(Node::Kind kind, const std::string& value) {
    const Node node{.kind = kind, .text = value};
    if (kind == Node::Kind::boolean) return node.as_boolean().has_value();
    if (kind == Node::Kind::integer) return resolve(value) == kind || node.as_integer();
    if (kind == Node::Kind::real) return resolve(value) == kind || node.as_number();
    return true;
  }

  static std::string_view standard_name(std::string_view tag) {
    return tag.starts_with(standard_tag) ? tag.substr(standard_tag.size()) : std::string_view{};
  }

  [[noreturn]] void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    const std::string_view name = standard_name(tag);
    source_.refuse(offset_of(mark), "read/syntax",
                   "the tag '" + (name.empty() ? tag : "!!" + std::string(name)) + "' has no meaning here",
                   "write the value without a tag");
  }

  void open(const YAML::Mark& mark, const std::string& tag, Node::Kind kind, Open opened) {
    event(mark, opened.block && !opened.mapping);
    const bool fits = standard_name(tag) == (opened.mapping ? "map" : "seq");
    if (tag != "?" && tag != "!" && !fits) refuse_tag(mark, tag);
    anchors_[opened.anchor] = {tape_.size(), 0};
    open_.push_back(opened);
    tape_.open(value_at(mark), kind);
  }

  void close() {
    tape_.close();
    anchors_[open_.back().anchor].end = tape_.size();
    open_.pop_back();
  }

  const Source& source_;
  Tape& tape_;
  YamlMeter& meter_;
  std::size_t position_ = 0;
  int documents_ = 0;
  std::map<YAML::anchor_t, Range> anchors_;
  std::vector<Open> open_;
};

constexpr std::size_t tokens_a_node = 4;        // a value of JSON in YAML: two quotes, a colon, a comma
constexpr std::size_t fewest_tokens = 1 << 16;  // the meter counts by stretches, and dashes and quotes that are text

void parse(const Source& source, YamlMeter& meter, Handler& handler) {
  std::istream stream(&meter);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(handler)) {
    }
  } catch (const YAML::Exception& error) {
    if (meter.exceeded()) handler.refuse_length();
    source.refuse(static_cast<std::size_t>(std::max(error.mark.pos, 0)), "read/syntax",
                  std::string(in_plain_words(error.msg)));
  } catch (const std::exception& error) {
    source.refuse(handler.position(), "read/syntax", std::string("the YAML parser gave up: ") + error.what());
  }
}

}  // namespace

void parse_yaml(const Source& source, Tape& tape) {
  const auto nodes = static_cast<std::size_t>(std::max(tape.budget().nodes, 0));
  YamlMeter meter(source.text(), std::max(nodes * tokens_a_node, fewest_tokens));
  Handler handler(source, tape, meter);
  parse(source, meter, handler);
  if (meter.exceeded()) handler.refuse_length();
  if (tape.size() == 0) source.refuse(0, "read/empty", "the file holds nothing but comments");
}

}  // namespace oomplan::read
