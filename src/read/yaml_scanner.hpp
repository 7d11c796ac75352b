// YAML cut into tokens as PyYAML 6.0.3 cuts it (yaml/scanner.py), which all frameworks read their configs with: what it
// refuses is refused here, and nothing else.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "source.hpp"
#include "yaml_text.hpp"
#include "yaml_token.hpp"

namespace oomplan::read {

class YamlScanner {
 public:
  explicit YamlScanner(const Source& source) : source_(source), text_(source.text()) {}

  /// The next token; the last is `end`, again and again. Throws Refused.
  const YamlToken& peek();
  YamlToken take();

 private:
  using Type = YamlToken::Type;

  /// What may turn out to be a key, once its ':' comes.
  struct SimpleKey {
    std::size_t level = 0;  ///< How many flow collections it stands in.
    std::size_t token = 0;  ///< Its number, counted from the first of the text.
    bool required = false;
    std::size_t offset = 0;
    std::size_t line = 0;
    std::size_t column = 0;
  };

  bool in_flow() const { return flow_level_ > 0; }
  bool needs_more();
  void fetch();
  bool fetch_document();
  bool fetch_flow(char c);
  bool fetch_structure(char c);
  bool fetch_property(char c);
  bool fetch_scalar(char c);

  void skip_to_token();
  void add(Type type, std::size_t length);
  void insert(std::size_t number, Type type, std::size_t offset);

  void drop_stale_keys();
  void save_key();
  void remove_key();
  SimpleKey take_key();
  bool has_key() const { return !keys_.empty() && keys_.back().level == flow_level_; }
  [[noreturn]] void refuse_missing_colon(const SimpleKey& key) const;

  bool indent_to(std::size_t column);
  void unwind_to(int column);
  void reset_block();

  void fetch_block_entry();
  void fetch_key();
  void fetch_value();

  void fetch_directive();
  void scan_version(std::size_t begin);
  void scan_tag_directive(std::size_t begin);
  void skip_rest_of_line(std::string_view what);

  YamlToken scan_name(Type type);
  YamlToken scan_tag();
  std::string scan_tag_handle();
  std::string scan_tag_suffix();

  YamlToken scan_plain();
  std::string scan_plain_space();
  std::size_t plain_length() const;

  YamlToken scan_quoted();
  void scan_quoted_text(bool twice, std::size_t begin, std::string& out);
  void scan_quoted_space(std::size_t begin, std::string& out);
  void scan_quoted_breaks(std::string& out);
  void scan_escape(std::size_t begin, std::string& out);
  void scan_code_point(std::size_t at, std::size_t digits, std::string& out);

  struct BlockHeader {
    char chomping = ' ';  ///< '-', '+', or neither
    int increment = 0;    ///< 0: as the first line has it
  };
  YamlToken scan_block();
  BlockHeader scan_block_header();
  std::string scan_block_breaks(std::size_t indent);
  std::size_t scan_block_indent(std::string& breaks);

  [[noreturn]] void refuse(std::size_t offset, std::string message, std::string hint = {}) const;

  const Source& source_;
  YamlText text_;
  std::deque<YamlToken> tokens_;
  std::size_t taken_ = 0;
  bool done_ = false;
  std::size_t flow_level_ = 0;
  int indent_ = -1;
  std::vector<int> indents_;
  bool key_allowed_ = true;
  std::deque<SimpleKey> keys_;  ///< By level, the outermost first.
};

}  // namespace oomplan::read
