#include "conf_tokens.hpp"

#include <utility>

namespace oomplan::allocator {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_mark(char c) { return c == ',' || c == ':' || c == '[' || c == ']'; }

std::vector<ConfWord> words_of(std::string_view text) {
  std::vector<ConfWord> out;
  bool open = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_blank(text[i])) continue;
    const bool goes_on = open && !is_mark(text[i]);
    if (!goes_on) out.push_back({{}, static_cast<int>(i) + 1});
    out.back().text += text[i];
    open = !is_mark(text[i]);
  }
  out.push_back({{}, static_cast<int>(text.size()) + 1});  // the end
  return out;
}

/// Thrown within this file only: after a malformed place nothing else can be told apart.
struct Malformed {
  ConfWord at{};
  std::string expected{};
};

class Grammar {
 public:
  explicit Grammar(std::vector<ConfWord> words) : words_(std::move(words)) {}

  void read(std::vector<ConfSetting>& out) {
    while (!peek().text.empty()) {
      out.push_back(setting());
      if (!peek().text.empty()) expect(",");
    }
  }

 private:
  const ConfWord& peek() const { return words_[at_]; }
  ConfWord take() { return words_[at_ + 1 < words_.size() ? at_++ : at_]; }

  void expect(const std::string& mark) {
    const ConfWord found = take();
    if (found.text != mark) throw Malformed{found, "'" + mark + "'"};
  }

  ConfWord word(const std::string& what) {
    ConfWord found = take();
    if (found.text.empty() || is_mark(found.text.front())) throw Malformed{found, what};
    return found;
  }

  ConfSetting setting() {
    ConfSetting out{.key = word("a key")};
    expect(":");
    out.value = peek();
    out.is_list = out.value.text == "[";
    if (out.is_list) {
      list(out.list);
    } else {
      out.value = word("a value");
    }
    return out;
  }

  void list(std::vector<ConfPair>& out) {
    expect("[");
    while (peek().text != "]") {
      ConfPair pair{.from = word("a size in MB, or '>'")};
      expect(":");
      pair.value = word("a value");
      out.push_back(std::move(pair));
      if (peek().text != "]") expect(",");
    }
    expect("]");
  }

  std::vector<ConfWord> words_;
  std::size_t at_ = 0;
};

}  // namespace

Diagnostic conf_error(std::string_view text, const std::string& name, const ConfWord& word, std::string code,
                      std::string message, std::string hint) {
  return {.code = std::move(code),
          .message = std::move(message),
          .where = {name, 1, word.column},
          .hint = std::move(hint),
          .excerpt = std::string(text)};
}

std::vector<ConfSetting> conf_settings(std::string_view text, const std::string& name, Diagnostics& errors) {
  std::vector<ConfSetting> out;
  try {
    Grammar(words_of(text)).read(out);
  } catch (const Malformed& malformed) {
    const std::string found = malformed.at.text.empty() ? "the end" : "'" + malformed.at.text + "'";
    errors.push_back(conf_error(text, name, malformed.at, "estimate/bad-alloc-conf",
                                "expected " + malformed.expected + ", found " + found,
                                "the form is key:value,key:value"));
  }
  return out;
}

}  // namespace oomplan::allocator
