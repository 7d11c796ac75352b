// JSON by nlohmann's SAX parser, which keeps no tree and does not recurse.
#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "syntax.hpp"

namespace oomplan::read {
namespace {

constexpr std::string_view number_characters = "0123456789+-.eE";

// "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while parsing value - X; last read:
// Y"
std::string_view essence(std::string_view what) {
  if (const std::size_t dash = what.find(" - "); dash != std::string_view::npos) what.remove_prefix(dash + 3);
  if (what.find("number overflow") != std::string_view::npos) return "the number is too large";
  return what.substr(0, what.find("; last read"));
}

struct Oddity {
  std::string_view begins;
  std::string_view message;
};

// What people write into JSON because JavaScript, Python or JSON5 allow it.
constexpr Oddity oddities[] = {
    {"NaN", "NaN is not JSON, which has only finite numbers"},
    {"nan", "nan is not JSON, which has only finite numbers"},
    {"Infinity", "Infinity is not JSON, which has only finite numbers"},
    {"-Infinity", "-Infinity is not JSON, which has only finite numbers"},
    {"True", "True is Python; JSON writes true"},
    {"False", "False is Python; JSON writes false"},
    {"None", "None is Python; JSON writes null"},
    {"'", "JSON strings stand in double quotes"},
    {"//", "JSON has no comments"},
    {"/*", "JSON has no comments"},
    {"#", "JSON has no comments"},
};

// What is odd about the text at `offset`, where the last good token ended at `before`; empty where nothing is.
std::string_view oddity_at(std::string_view text, std::size_t offset, std::size_t before) {
  const std::string_view rest = text.substr(offset);
  const bool closes = rest.starts_with(']') || rest.starts_with('}');
  if (closes && text.substr(before, offset - before).find(',') != std::string_view::npos) {
    return "a comma stands before the closing bracket";
  }
  for (const Oddity& oddity : oddities) {
    if (rest.starts_with(oddity.begins)) return oddity.message;
  }
  return {};
}

class Handler : public nlohmann::json_sax<nlohmann::json> {
 public:
  Handler(const Source& source, Tape& tape) : source_(source), tape_(tape) {}

  bool null() override { return scalar(Node::Kind::null, word(4), ""); }
  bool boolean(bool value) override {
    const std::string_view text = word(value ? 4 : 5);
    return scalar(Node::Kind::boolean, text, std::string(text));
  }
  bool number_integer(number_integer_t /*value*/) override { return number(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return number(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return number(); }
  bool string(string_t& value) override { return scalar(Node::Kind::string, quoted(), value); }
  bool key(string_t& value) override { return string(value); }
  bool binary(binary_t& /*value*/) override { return false; }

  bool start_object(std::size_t /*size*/) override { return open(Node::Kind::mapping); }
  bool start_array(std::size_t /*size*/) override { return open(Node::Kind::sequence); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& error) override {
    refuse(position, essence(error.what()));
  }

 private:
  // The library gives no positions of tokens, so the handler walks along: a token begins after what may stand between.
  std::size_t begin_token() const {
    return std::min(source_.text().find_first_not_of(" \t\r\n,:", end_), source_.text().size());
  }

  std::string_view word(std::size_t length) {
    const std::size_t begin = begin_token();
    end_ = std::min(begin + length, source_.text().size());
    return source_.text().substr(begin, end_ - begin);
  }

  std::string_view quoted() {
    const std::string_view text = source_.text();
    const std::size_t begin = begin_token();
    std::size_t at = begin + 1;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    return word(at + 1 - begin);
  }

  bool number() {
    const std::size_t begin = begin_token();
    const std::size_t end = source_.text().find_first_not_of(number_characters, begin);
    const std::string_view text = word(std::min(end, source_.text().size()) - begin);
    const bool real = text.find_first_of(".eE") != std::string_view::npos;
    return scalar(real ? Node::Kind::real : Node::Kind::integer, text, std::string(text));
  }

  bool scalar(Node::Kind kind, std::string_view token, std::string value) {
    tape_.scalar(static_cast<std::size_t>(token.data() - source_.text().data()), kind, std::move(value));
    return true;
  }

  bool open(Node::Kind kind) {
    const std::string_view bracket = word(1);
    tape_.open(static_cast<std::size_t>(bracket.data() - source_.text().data()), kind);
    return true;
  }

  bool close() {
    word(1);
    tape_.close();
    return true;
  }

  // Of what the library complains about, having read `position` bytes: the token, but within a string the character.
  std::size_t blamed(std::size_t position, std::string_view what) const {
    const bool character =
        what.starts_with("unexpected '") || what.starts_with("invalid string") || what.starts_with("invalid number");
    const std::size_t last = position > 0 ? position - 1 : 0;
    return character ? last : std::min(begin_token(), last);
  }

  [[noreturn]] void refuse(std::size_t position, std::string_view what) const {
    const std::string_view text = source_.text();
    if (position > text.size()) source_.refuse(text.size(), "read/syntax", "the file ends before the JSON does");
    const std::string_view oddity = oddity_at(text, begin_token(), end_);
    if (!oddity.empty()) source_.refuse(begin_token(), "read/syntax", std::string(oddity));
    source_.refuse(blamed(position, what), "read/syntax", std::string(what));
  }

  const Source& source_;
  Tape& tape_;
  std::size_t end_ = 0;  // of the last token
};

}  // namespace

void parse_json(const Source& source, Tape& tape) {
  Handler handler(source, tape);
  try {
    nlohmann::json::sax_parse(source.text().begin(), source.text().end(), &handler);
  } catch (const std::exception& error) {
    source.refuse(0, "read/syntax", std::string("the JSON parser gave up: ") + error.what());
  }
}

}  // namespace oomplan::read
