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
#include "yaml_scalar.hpp"

namespace oomplan::read {
namespace {

constexpr std::string_view standard_tag = "tag:yaml.org,2002:";

class Handler : public YAML::EventHandler {
 public:
  Handler(const Source& source, Tape& tape, YamlMeter& meter) : source_(source), tape_(tape), meter_(meter) {}

  /// Of the last event.
  std::size_t position() const { return position_; }

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
    event(mark);
    null(mark, anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    event(mark);
    const Node::Kind kind = kind_of(mark, tag, value);
    if (kind == Node::Kind::null) return null(mark, anchor);
    const std::size_t begin = tape_.size();
    if (tag == "?" && value == "<<") {
      tape_.merge_key(value_offset(mark));
    } else {
      tape_.scalar(value.empty() ? offset_of(mark) : value_offset(mark), kind, value);
    }
    anchors_[anchor] = {begin, tape_.size()};
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Node::Kind::sequence, "seq");
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Node::Kind::mapping, "map");
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

  void event(const YAML::Mark& mark) {
    meter_.event();
    position_ = offset_of(mark);
  }

  std::size_t offset_of(const YAML::Mark& mark) const {
    return std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), source_.text().size());
  }

  // yaml-cpp marks a value at its anchor or tag; a patch must hit the value itself.
  std::size_t value_offset(const YAML::Mark& mark) const {
    const std::string_view text = source_.text();
    std::size_t at = offset_of(mark);
    while (at < text.size() && (text[at] == '&' || text[at] == '!')) {
      at = std::min(text.find_first_of(" \t\r\n,[]{}", at), text.size());
      at = skip_space(at);
    }
    return at < text.size() ? at : offset_of(mark);
  }

  std::size_t skip_space(std::size_t at) const {
    const std::string_view text = source_.text();
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    while (at < text.size() && text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
      at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    }
    return at;
  }

  // The mark of an absent value is the next token's; its place is behind the ':' or '-' before.
  std::size_t null_offset(const YAML::Mark& mark) const {
    const std::string_view text = source_.text();
    const std::size_t at = offset_of(mark);
    if (at < text.size() && (text[at] == '&' || text[at] == '!' || text[at] == '~')) return value_offset(mark);
    const std::size_t before = at == 0 ? std::string_view::npos : text.find_last_not_of(" \t\r\n", at - 1);
    const bool absent = before != std::string_view::npos && std::string_view(":-?,").find(text[before]) < 4;
    return absent && !is_null_word(at) ? before + 1 : at;
  }

  bool is_null_word(std::size_t at) const {
    const std::string_view word = source_.text().substr(at, 4);
    return word == "null" || word == "Null" || word == "NULL";
  }

  void null(const YAML::Mark& mark, YAML::anchor_t anchor) {
    const std::size_t begin = tape_.size();
    tape_.scalar(null_offset(mark), Node::Kind::null, "");
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
    return known->second;
  }

  static std::string_view standard_name(std::string_view tag) {
    return tag.starts_with(standard_tag) ? tag.substr(standard_tag.size()) : std::string_view{};
  }

  [[noreturn]] void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    const std::string_view name = standard_name(tag);
    source_.refuse(offset_of(mark), "read/syntax",
                   "the tag '" + (name.empty() ? tag : "!!" + std::string(name)) + "' has no meaning here",
                   "frameworks read configs with safe_load, which refuses it too");
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Node::Kind kind,
            std::string_view name) {
    event(mark);
    if (tag != "?" && tag != "!" && standard_name(tag) != name) refuse_tag(mark, tag);
    open_.push_back(anchor);
    anchors_[anchor] = {tape_.size(), 0};
    tape_.open(value_offset(mark), kind);
  }

  void close() {
    tape_.close();
    anchors_[open_.back()].end = tape_.size();
    open_.pop_back();
  }

  const Source& source_;
  Tape& tape_;
  YamlMeter& meter_;
  std::size_t position_ = 0;
  int documents_ = 0;
  std::map<YAML::anchor_t, Range> anchors_;
  std::vector<YAML::anchor_t> open_;
};

}  // namespace

namespace {

constexpr std::size_t tokens_a_node = 4;        // a value of JSON in YAML: two quotes, a colon, a comma
constexpr std::size_t fewest_tokens = 1 << 16;  // the meter counts by stretches, and dashes and quotes that are text

void parse(const Source& source, std::istream& stream, Handler& handler) {
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(handler)) {
    }
  } catch (const YAML::Exception& error) {
    source.refuse(static_cast<std::size_t>(std::max(error.mark.pos, 0)), "read/syntax", error.msg);
  } catch (const std::exception& error) {
    source.refuse(handler.position(), "read/syntax", std::string("the YAML parser gave up: ") + error.what());
  }
}

}  // namespace

void parse_yaml(const Source& source, Tape& tape) {
  const auto nodes = static_cast<std::size_t>(std::max(tape.budget().nodes, 0));
  YamlMeter meter(source.text(), std::max(nodes * tokens_a_node, fewest_tokens));
  std::istream stream(&meter);
  Handler handler(source, tape, meter);
  try {
    parse(source, stream, handler);
  } catch (const Refused&) {
    if (!meter.exceeded()) throw;
  }
  if (meter.exceeded()) {
    source.refuse(handler.position(), "read/too-many-nodes",
                  "from here on come more than " + with_separators(tape.budget().nodes) + " keys and values");
  }
  if (tape.size() == 0) source.refuse(0, "read/empty", "the file holds nothing but comments");
}

}  // namespace oomplan::read
