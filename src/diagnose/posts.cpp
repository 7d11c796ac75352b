#include "posts.hpp"

#include <algorithm>
#include <string_view>

#include "prose.hpp"
#include "words.hpp"

namespace oomplan::diagnose {
namespace {

using namespace std::string_view_literals;

bool has_digit(std::string_view text) { return text.find_first_of("0123456789") != std::string_view::npos; }

bool is_of_a_log(const Line& line) {
  return !line.time.empty() || line.prefixed || line.rank || has_bar(line.body) || begins_with_level(line.body) ||
         lowered(line.body.substr(0, 7)) == "warning";
}

// "bob", "Eve J. Miller": of one to three words, none of which a number begins.
bool is_name(std::string_view text) {
  constexpr int most_words = 3;
  int words = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (text[at] == '@') ++at;
    if (at >= end || (!is_letter(text[at]) && static_cast<unsigned char>(text[at]) < 0x80)) return false;
    if (++words > most_words || text.substr(at, end - at).find_first_of(":=/()[]{}<>\"'") != text.npos) return false;
    at = end + 1;
  }
  return words > 0;
}

// "Eve wrote:", "On Friday, Jan 5, 2024 at 10:12 Eve <eve@…> wrote:"
bool ends_in_speech(std::string_view text) {
  for (const std::string_view verb : {" wrote:"sv, " said:"sv}) {
    if (!text.ends_with(verb)) continue;
    return text.starts_with("On ") || is_name(text.substr(0, text.size() - verb.size()));
  }
  return false;
}

// "bob commented on Jan 5", "alice · comment · 2024-03-01", "answered Mar 3, 2015 at 10:12", "Eve wrote:"
bool begins_post(const Wordings& wordings, const Line& line) {
  constexpr std::size_t longest = 120;
  const std::string_view text = line.quoted();
  if (text.size() > longest || text.empty() || is_of_a_log(line)) return false;
  if (ends_in_speech(text)) return true;
  if (!has_digit(text)) return false;
  if (text.find(" commented ") != text.npos && text.ends_with(" ago")) return true;
  const bool named = text.starts_with("answered ") || text.starts_with("asked ");
  return (named && text.find(" at ") != text.npos) || list_of(wordings, Wording::begins_a_post).are_in(text);
}

// "I lowered the batch, and now it works:"
bool is_speech(const Line& line) {
  constexpr int enough = 3;
  if (is_of_a_log(line)) return false;
  const Words words = words_of(line.body);
  return words.first_person && words.function >= enough;
}

}  // namespace

Posts::Posts(const Wordings& wordings, const std::vector<Line>& lines) {
  int post = 0;
  int speech = 0;
  bool said = false;  // anything in this file, but titles
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool new_file = i > 0 && lines[i].file != lines[i - 1].file;
    const bool begins = begins_post(wordings, lines[i]);
    if (new_file || (begins && said)) ++post;  // a thread's title is its first post's
    said = (said && !new_file) || begins || (!lines[i].titled && !lines[i].body.empty());
    if (is_speech(lines[i])) ++speech;
    post_.push_back(post);
    speech_.push_back(speech);
  }
}

bool Posts::are_together(const Evidence& a, const Evidence& b) const {
  if (!a.line || !b.line || a.where.file != b.where.file) return true;
  return post_.at(*a.line) == post_.at(*b.line) && speech_.at(*a.line) == speech_.at(*b.line);
}

bool Posts::is_of_a_later(const Evidence& later, const Evidence& e) const {
  return later.line && e.line && later.where.file == e.where.file && post_.at(*later.line) > post_.at(*e.line);
}

}  // namespace oomplan::diagnose
