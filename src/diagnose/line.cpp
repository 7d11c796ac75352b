#include "line.hpp"

#include <algorithm>
#include <utility>

#include "unwrap.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::size_t most_pieces = 24;  // of one progress bar

// Where the escape sequence that begins at `at` ends.
std::size_t escape_end(std::string_view raw, std::size_t at) {
  if (at + 1 >= raw.size()) return raw.size();
  if (raw[at + 1] == '[') {
    std::size_t end = at + 2;
    while (end < raw.size() && static_cast<unsigned char>(raw[end]) >= 0x20 &&
           static_cast<unsigned char>(raw[end]) < 0x40)
      ++end;
    return std::min(end + 1, raw.size());
  }
  if (raw[at + 1] == ']') {  // up to BEL or ESC backslash
    const std::size_t end = raw.find_first_of("\a\x1b", at + 2);
    return end == std::string_view::npos ? raw.size() : std::min(raw.size(), end + (raw[end] == '\a' ? 1 : 2));
  }
  return at + 2;
}

bool alone(std::string_view raw, std::size_t at) {
  return at > 0 && at + 1 < raw.size() && raw[at - 1] == ' ' && raw[at + 1] == ' ';
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

// What the rules look at, and the same as it was written.
void set_text(std::string text, Line& line) {
  line.body = without_markdown(plain(text));
  line.shown = line.body == text ? std::string() : std::move(text);
  strip_prefixes(line);
}

void add_unfolded(std::string_view text, const Line& of, std::vector<Line>& out) {
  std::vector<Piece> pieces = unfolded(text);
  const bool whole = pieces.size() == 1 && pieces.front().begin == 0 && pieces.front().text == text;
  for (Piece& piece : pieces) {
    Line line = of;
    if (!whole) line.column = static_cast<int>(std::min<std::size_t>(piece.begin, 1U << 30U)) + 1;
    if (!whole) line.width = 0;
    if (!whole) set_text(cleaned(piece.text), line);
    out.push_back(std::move(line));
  }
}

void add_piece(std::string_view raw, int file, std::int64_t number, std::vector<Line>& out) {
  Line line{.file = file, .number = number};
  std::string text = cleaned(raw);
  line.width = characters(text);
  set_text(std::move(text), line);
  const std::vector<std::string> messages = messages_of_json(line.body);
  if (messages.empty()) return add_unfolded(std::string(line.body), line, out);
  for (const std::string& message : messages) {
    Line part = line;
    part.width = 0;
    for (std::string_view rest = message; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      set_text(cleaned(rest.substr(0, end)), part);
      add_unfolded(std::string(part.body), part, out);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
}

}  // namespace

bool same_speaker(const Line& a, const Line& b) { return a.file == b.file && a.rank == b.rank && a.source == b.source; }

std::string cleaned(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size();) {
    const char c = raw[at];
    if (c == '\x1b') {
      at = escape_end(raw, at);
      continue;
    }
    const bool dropped = (c == '\0' || c == '\b' || c == '\a' || c == '\r') && !(c != '\r' && alone(raw, at));
    if (!dropped) out += c;
    ++at;
  }
  return out;
}

void add_lines(std::string_view raw, int file, std::int64_t number, std::vector<Line>& out) {
  while (raw.ends_with('\r')) raw.remove_suffix(1);
  if (raw.find('\r') == std::string_view::npos) return add_piece(raw, file, number, out);
  std::vector<std::string_view> pieces;
  while (!raw.empty()) {
    const std::size_t end = std::min(raw.find('\r'), raw.size());
    if (end > 0) pieces.push_back(raw.substr(0, end));
    raw.remove_prefix(std::min(end + 1, raw.size()));
  }
  const std::size_t skipped = pieces.size() > most_pieces ? pieces.size() - most_pieces : 0;
  const std::size_t before = out.size();
  for (std::size_t i = skipped; i < pieces.size(); ++i) add_piece(pieces[i], file, number, out);
  for (std::size_t i = before; i < out.size(); ++i) out[i].width = 0;
}

}  // namespace oomplan::diagnose
