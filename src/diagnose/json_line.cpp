#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "escapes.hpp"
#include "unwrap.hpp"

namespace oomplan::diagnose {
namespace {

constexpr auto keys = std::to_array<std::string_view>({"log", "message", "MESSAGE", "msg", "text", "textPayload"});

struct Text {
  std::string text{};
  std::size_t end = 0;  ///< Behind its quote.
  bool lines = false;   ///< It holds line ends.
};

// The string that begins at `at`, behind its quote; an end that is missing is the line's.
Text string_at(std::string_view text, std::size_t at) {
  Text out;
  for (; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\' || at + 1 >= text.size()) {
      out.text += text[at];
      continue;
    }
    const Escape escape = escape_at(text.substr(at));
    out.text += escape.size == 0 ? std::string(1, text[at + 1]) : escape.text;
    const std::size_t last = at + std::max<std::size_t>(escape.size, 2) - 1;
    out.lines = out.lines || (text[at + 1] == 'n' && last + 2 < text.size() && text[last + 1] != '"');
    at = last;
  }
  out.end = std::min(at + 1, text.size());
  return out;
}

// journald writes a message with control characters as a list of its bytes.
std::string bytes_at(std::string_view text, std::size_t at) {
  std::string out;
  unsigned value = 0;
  for (; at < text.size() && text[at] != ']'; ++at) {
    const bool digit = text[at] >= '0' && text[at] <= '9';
    if (digit) value = (value * 10 + static_cast<unsigned>(text[at] - '0')) & 0xFFFU;
    if (!digit && text[at] != ',' && text[at] != ' ') return {};
    const bool last = digit && at + 1 < text.size() && (text[at + 1] == ',' || text[at + 1] == ']');
    if (!last) continue;
    out += static_cast<char>(value);
    value = 0;
  }
  return out;
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  return at;
}

// A member on a line of its own, as indented JSON has it.
bool begins_with_message(std::string_view line) {
  return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) {
    return line.starts_with('"') && line.substr(1).starts_with(key) &&
           line.substr(1 + key.size()).starts_with("\": \"");
  });
}

bool is_among(std::string_view key, const auto& names) {
  return std::find(names.begin(), names.end(), key) != names.end();
}

// What stands beside the text in an example that a model is trained with.
bool is_of_example(std::string_view key) {
  constexpr auto beside = std::to_array<std::string_view>({"text", "meta", "id", "source", "label", "url", "lang"});
  return is_among(key, beside);
}

bool is_message(std::string_view key) { return is_among(key, keys); }

// The words of "error.stack_trace", "exitCode", "exc_info".
std::vector<std::string> words_in_key(std::string_view key) {
  std::vector<std::string> out(1);
  for (const char c : key) {
    const auto sign = static_cast<unsigned char>(c);
    const bool begins = std::isupper(sign) != 0 && !out.back().empty() && std::islower(out.back().back()) != 0;
    if (std::isalnum(sign) == 0 || begins) out.emplace_back();
    if (std::isalnum(sign) != 0) out.back() += static_cast<char>(std::tolower(sign));
  }
  return out;
}

// Whether a member tells of a failure, whatever its logger calls its messages.
bool is_of_failure(std::string_view key) {
  constexpr auto telling =
      std::to_array<std::string_view>({"err",    "error",   "errors",   "errmsg",  "exc",   "exception",  "reason",
                                       "detail", "details", "cause",    "failure", "stack", "stacktrace", "traceback",
                                       "stderr", "exit",    "exitcode", "signal",  "oom",   "killed"});
  const std::vector<std::string> words = words_in_key(key);
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return is_among(word, telling); });
}

// Of what a person asks and a model answers.
bool is_asked(std::string_view key) {
  constexpr auto names = std::to_array<std::string_view>({"instruction", "input", "prompt", "question"});
  return is_among(key, names);
}
bool is_answered(std::string_view key) {
  constexpr auto names =
      std::to_array<std::string_view>({"output", "response", "completion", "answer", "chosen", "rejected"});
  return is_among(key, names);
}

// Whether the member is the code that a process ended with.
bool is_exit_code(std::string_view key) {
  const std::vector<std::string> words = words_in_key(key);
  if (words.size() == 1) return words[0] == "exitcode" || words[0] == "returncode";
  return words.size() == 2 && (words[0] == "exit" || words[0] == "return") &&
         (words[1] == "code" || words[1] == "status");
}

// The members of an object, of those within it too; what is torn or no JSON at all gives what can be read.
class Members {
 public:
  explicit Members(std::string_view line) : line_(line) {}

  void read() {
    for (std::size_t at = line_.find_first_of("\"{}[]"); at < line_.size(); at = line_.find_first_of("\"{}[]", at)) {
      at = line_[at] == '"' ? read_string(at) : read_bracket(at);
    }
  }

  /// There is a message, and what stands beside it makes it none of an example that a model is trained with.
  bool is_log() const { return has_message_ && !(begins_object() && is_example_); }
  /// It is an example of a dialogue, whatever that is about.
  bool is_dialogue() const { return begins_object() && asked_ > 0 && answered_ > 0 && names_ == asked_ + answered_; }
  std::vector<std::string> texts() && {
    // A reason alone may be a rule's or a policy's.
    if (ended_ || (is_error() && !codes_.empty())) texts_.push_back(std::move(codes_));
    return std::move(texts_);
  }

 private:
  bool begins_object() const { return line_.starts_with('{'); }
  bool is_within_failure() const { return !failing_.empty() && failing_.back(); }
  /// By the first letter of its level, where that comes first.
  bool is_error() const { return std::string_view("efca").find(level_) != std::string_view::npos; }
  bool is_harmless() const { return std::string_view("widt").find(level_) != std::string_view::npos; }

  std::size_t read_bracket(std::size_t at) {
    if (line_[at] == '{' || line_[at] == '[') {
      failing_.push_back(is_of_failure(key_) || is_within_failure());
    } else if (!failing_.empty()) {
      failing_.pop_back();
    }
    key_.clear();
    return at + 1;
  }

  std::size_t read_string(std::size_t at) {
    Text text = string_at(line_, at + 1);
    const std::size_t end = skip_blanks(line_, text.end);
    if (key_.empty() && end < line_.size() && line_[end] == ':') return read_name(std::move(text.text), end + 1);
    const bool message = is_message(key_);
    const bool failing = is_of_failure(key_) || is_within_failure();
    has_message_ = has_message_ || message;
    const bool sentence = text.text.find(' ') != std::string::npos;
    if (failing && !message && !sentence) add_code(line_.substr(at, text.end - at));
    const bool tells_level = key_ == "level" || key_ == "severity" || key_ == "levelname";
    if (tells_level && !text.text.empty())
      level_ = static_cast<char>(std::tolower(static_cast<unsigned char>(text.text.front())));
    const bool told = message || text.lines || (failing && sentence && !is_harmless());
    if (told && texts_.size() < most_texts) texts_.push_back(std::move(text.text));
    key_.clear();
    return end;
  }

  std::size_t read_name(std::string name, std::size_t at) {
    ++names_;
    if (is_asked(name)) ++asked_;
    if (is_answered(name)) ++answered_;
    is_example_ = is_example_ && is_of_example(name);
    at = skip_blanks(line_, at);
    key_ = std::move(name);
    const char value = at < line_.size() ? line_[at] : ' ';
    if (value == '"' || value == '{' || (value == '[' && key_ != "MESSAGE")) return at;
    if (value == '[') {
      texts_.push_back(bytes_at(line_, at + 1));
      has_message_ = has_message_ || !texts_.back().empty();
    }
    const std::size_t end = std::min(line_.find_first_of(",}]", at), line_.size());
    if (value != '[' && is_of_failure(key_)) add_code(line_.substr(at, end - at));
    key_.clear();
    return end;
  }

  /// A word or a number, as it is written; a code by the name that Kubernetes has for it: "exitCode":137.
  void add_code(std::string_view value) {
    if (codes_.size() > longest_codes) return;
    const bool code = is_exit_code(key_) && value.find_first_not_of("-0123456789") == std::string_view::npos;
    ended_ = ended_ || code;
    codes_ += (codes_.empty() ? "\"" : ",\"") + (code ? "exitCode" : key_) + "\":" + std::string(value);
  }

  static constexpr std::size_t most_texts = 64;
  static constexpr std::size_t longest_codes = 4096;
  std::string_view line_;
  std::string key_{};
  std::vector<bool> failing_{};  // of each bracket that is open: whether it is of a failure
  std::vector<std::string> texts_{};
  std::string codes_{};
  int names_ = 0;
  int asked_ = 0;
  int answered_ = 0;
  char level_ = ' ';
  bool ended_ = false;  // a code is told
  bool has_message_ = false;
  bool is_example_ = true;
};

}  // namespace

std::vector<std::string> messages_of_json(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (!line.starts_with('{') && (begin == std::string_view::npos || !begins_with_message(line.substr(begin))))
    return {};
  Members members(line);
  members.read();
  if (members.is_dialogue()) return {""};
  return members.is_log() ? std::move(members).texts() : std::vector<std::string>();
}

}  // namespace oomplan::diagnose
