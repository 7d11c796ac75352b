#include "yaml_scanner.hpp"

#include <algorithm>
#include <utility>

namespace oomplan::read {
namespace {

// A key without '?' stands on one line and has no more characters than this.
constexpr std::size_t longest_key = 1024;

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

const YamlToken& YamlScanner::peek() {
  while (needs_more()) fetch();
  return tokens_.front();
}

YamlToken YamlScanner::take() {
  YamlToken out = peek();
  if (out.type == Type::end) return out;
  tokens_.pop_front();
  ++taken_;
  return out;
}

// The front token may yet get a key token before it.
bool YamlScanner::needs_more() {
  if (done_) return false;
  if (tokens_.empty()) return true;
  drop_stale_keys();
  return !keys_.empty() && keys_.front().token == taken_;
}

void YamlScanner::refuse(std::size_t offset, std::string message, std::string hint) const {
  source_.refuse(offset, "read/syntax", std::move(message), std::move(hint));
}

// ---- Which token comes ---------------------------------------------------------------------------------------------

void YamlScanner::fetch() {
  skip_to_token();
  drop_stale_keys();
  if (!in_flow()) unwind_to(static_cast<int>(text_.column()));
  const char c = text_.peek();
  if (fetch_document() || fetch_flow(c) || fetch_structure(c) || fetch_property(c) || fetch_scalar(c)) return;
  if (c == '\t') refuse(text_.offset(), "a tab cannot stand here", "PyYAML takes no tabs between values: write spaces");
  refuse(text_.offset(), "a value cannot begin with this character: put it in quotes");
}

void YamlScanner::skip_to_token() {
  while (true) {
    text_.skip(' ');
    if (text_.peek() == '#') text_.skip_line();
    if (text_.take_break().empty()) return;
    if (!in_flow()) key_allowed_ = true;
  }
}

void YamlScanner::add(Type type, std::size_t length) {
  const std::size_t begin = text_.offset();
  text_.forward(length);
  tokens_.push_back({type, begin, text_.offset(), {}, {}, false});
}

void YamlScanner::insert(std::size_t number, Type type, std::size_t offset) {
  tokens_.insert(tokens_.begin() + static_cast<std::ptrdiff_t>(number - taken_), {type, offset, offset, {}, {}, false});
}

void YamlScanner::reset_block() {
  unwind_to(-1);
  remove_key();
  key_allowed_ = false;
}

bool YamlScanner::fetch_document() {
  if (text_.at_end()) {
    reset_block();
    add(Type::end, 0);
    done_ = true;
  } else if (text_.peek() == '%' && text_.column() == 0) {
    fetch_directive();
  } else if (text_.is_marker("---") || text_.is_marker("...")) {
    reset_block();
    add(text_.peek() == '-' ? Type::document_start : Type::document_end, 3);
  } else {
    return false;
  }
  return true;
}

bool YamlScanner::fetch_flow(char c) {
  if (c == '[' || c == '{') {
    save_key();
    ++flow_level_;
    key_allowed_ = true;
    add(c == '[' ? Type::flow_sequence : Type::flow_mapping, 1);
  } else if (c == ']' || c == '}') {
    remove_key();
    if (flow_level_ == 0) refuse(text_.offset(), std::string("nothing is open that '") + c + "' could close");
    --flow_level_;
    key_allowed_ = false;
    add(c == ']' ? Type::flow_sequence_end : Type::flow_mapping_end, 1);
  } else if (c == ',') {
    key_allowed_ = true;
    remove_key();
    add(Type::flow_entry, 1);
  } else {
    return false;
  }
  return true;
}

bool YamlScanner::fetch_structure(char c) {
  if (c == '-' && text_.is_blank(1)) {
    fetch_block_entry();
  } else if (c == '?' && (in_flow() || text_.is_blank(1))) {
    fetch_key();
  } else if (c == ':' && (in_flow() || text_.is_blank(1))) {
    fetch_value();
  } else {
    return false;
  }
  return true;
}

bool YamlScanner::fetch_property(char c) {
  if (c != '*' && c != '&' && c != '!') return false;
  save_key();
  key_allowed_ = false;
  tokens_.push_back(c == '!' ? scan_tag() : scan_name(c == '*' ? Type::alias : Type::anchor));
  return true;
}

bool YamlScanner::fetch_scalar(char c) {
  if ((c == '|' || c == '>') && !in_flow()) {
    key_allowed_ = true;
    remove_key();
    tokens_.push_back(scan_block());
    return true;
  }
  const bool quoted = c == '\'' || c == '"';
  const bool begins = text_.is_word() || (!text_.is("-?:,[]{}#&*!|>'\"%@`") && !text_.is_blank());
  const bool dashed = !text_.is_blank(1) && (c == '-' || (!in_flow() && (c == '?' || c == ':')));
  if (!quoted && !begins && !dashed) return false;
  save_key();
  key_allowed_ = false;
  tokens_.push_back(quoted ? scan_quoted() : scan_plain());
  return true;
}

// ---- Keys without '?' ----------------------------------------------------------------------------------------------

void YamlScanner::drop_stale_keys() {
  while (!keys_.empty()) {
    const SimpleKey& key = keys_.front();
    const std::size_t bytes = text_.offset() - key.offset;
    const bool near = bytes <= longest_key || characters(text_.text().substr(key.offset, bytes)) <= longest_key;
    if (key.line == text_.line() && near) return;
    if (key.required) refuse_missing_colon(key);
    keys_.pop_front();
  }
}

void YamlScanner::save_key() {
  if (!key_allowed_) return;
  remove_key();
  const bool required = !in_flow() && indent_ == static_cast<int>(text_.column());
  keys_.push_back({flow_level_, taken_ + tokens_.size(), required, text_.offset(), text_.line(), text_.column()});
}

void YamlScanner::remove_key() {
  if (!has_key()) return;
  if (keys_.back().required) refuse_missing_colon(keys_.back());
  keys_.pop_back();
}

YamlScanner::SimpleKey YamlScanner::take_key() {
  const SimpleKey out = keys_.back();
  keys_.pop_back();
  return out;
}

void YamlScanner::refuse_missing_colon(const SimpleKey& key) const {
  refuse(key.offset, "':' is missing after this key, or the line lacks its indent");
}

// ---- Indents -------------------------------------------------------------------------------------------------------

bool YamlScanner::indent_to(std::size_t column) {
  if (indent_ >= static_cast<int>(column)) return false;
  indents_.push_back(indent_);
  indent_ = static_cast<int>(column);
  return true;
}

void YamlScanner::unwind_to(int column) {
  if (in_flow()) return;
  while (indent_ > column) {
    indent_ = indents_.back();
    indents_.pop_back();
    add(Type::block_end, 0);
  }
}

// ---- Entries, keys, values -----------------------------------------------------------------------------------------

void YamlScanner::fetch_block_entry() {
  if (!in_flow()) {
    if (!key_allowed_) refuse(text_.offset(), "no '-' can stand here: a list's entries begin on lines of their own");
    if (indent_to(text_.column())) add(Type::block_sequence, 0);
  }
  key_allowed_ = true;
  remove_key();
  add(Type::block_entry, 1);
}

void YamlScanner::fetch_key() {
  if (!in_flow()) {
    if (!key_allowed_) refuse(text_.offset(), "no '?' can stand here");
    if (indent_to(text_.column())) add(Type::block_mapping, 0);
  }
  key_allowed_ = !in_flow();
  remove_key();
  add(Type::key, 1);
}

void YamlScanner::fetch_value() {
  if (has_key()) {
    const SimpleKey key = take_key();
    insert(key.token, Type::key, key.offset);
    if (!in_flow() && indent_to(key.column)) insert(key.token, Type::block_mapping, key.offset);
    key_allowed_ = false;
  } else {
    if (!in_flow() && !key_allowed_) {
      refuse(text_.offset(),
             "no ':' can stand here: is one missing above, is the indent right, does text with ': ' lack quotes?");
    }
    if (!in_flow() && indent_to(text_.column())) add(Type::block_mapping, 0);
    key_allowed_ = !in_flow();
  }
  add(Type::value, 1);
}

}  // namespace oomplan::read
