#include <algorithm>
#include <utility>

#include "escapes.hpp"
#include "unwrap.hpp"

namespace oomplan::diagnose {
namespace {

constexpr int most_layers = 4;
constexpr std::size_t longest_piece = std::size_t{8} << 10;
constexpr std::size_t most_pieces = 20'000;

bool digit(char c) { return c >= '0' && c <= '9'; }

// One layer after another: JSON in JSON, a repr in HTML.
Mapped decoded(std::string_view line) {
  Mapped out = mapped(line);
  for (int layer = 0; layer < most_layers; ++layer) {
    const bool entities = has_entities(out.text);
    if (entities) out = without_entities(out);
    const bool escapes = is_escaped(out.text);
    if (escapes) out = unescaped(out);
    if (!entities && !escapes) break;
  }
  return out;
}

// What begins a line of its own wherever it stands, so that a traceback on one line is read frame by frame.
bool begins_line(std::string_view text) {
  if (text.starts_with("Traceback (most recent call last)")) return true;
  if (!text.starts_with("File \"")) return false;
  const std::size_t close = text.substr(0, 512).find('"', 6);
  constexpr std::string_view line = "\", line ";
  return close != std::string_view::npos && text.substr(close).starts_with(line) && close + line.size() < text.size() &&
         digit(text[close + line.size()]);
}

// Where a progress bar ends that has text glued behind it; `end` where there is none.
std::size_t end_of_bar(std::string_view text, std::size_t begin, std::size_t end) {
  const std::size_t bar = text.substr(0, end).find("%|", begin);
  const std::size_t open = bar == std::string_view::npos ? bar : text.substr(0, end).find(" [", bar);
  const std::size_t close = open == std::string_view::npos ? open : text.substr(0, end).find(']', open);
  if (close == std::string_view::npos || close > bar + 400) return end;
  const std::string_view rate = text.substr(open, close - open);
  const bool timed = rate.find("it/s") != std::string_view::npos || rate.find("s/it") != std::string_view::npos ||
                     rate.find("B/s") != std::string_view::npos;
  const bool more = text.substr(close + 1, end - close - 1).find_first_not_of(' ') != std::string_view::npos;
  return timed && more ? close + 1 : end;
}

std::size_t end_of_piece(std::string_view text, std::size_t begin) {
  std::size_t end = std::min(text.find('\n', begin), text.size());
  const std::size_t first = text.find_first_not_of(' ', begin);
  for (std::size_t at = text.find_first_of("FT", begin); at < end; at = text.find_first_of("FT", at + 1))
    if (at > first && begins_line(text.substr(at, 560))) end = at;
  end = end_of_bar(text, begin, end);
  if (end - begin <= longest_piece) return end;
  const std::size_t blank = text.rfind(' ', begin + longest_piece);
  return blank == std::string_view::npos || blank <= begin ? begin + longest_piece : blank;
}

}  // namespace

std::vector<Piece> unfolded(std::string_view line) {
  const bool folded = line.find_first_of("\\&<#\n") != std::string_view::npos || line.size() > longest_piece ||
                      line.find("File \"") != line.rfind("File \"") ||
                      line.find("Traceback (") != std::string_view::npos || line.find("%|") != std::string_view::npos;
  if (!folded) return {{std::string(line), 0}};
  const Mapped all = decoded(line);
  std::vector<Piece> out;
  for (std::size_t at = 0; at < all.text.size() && out.size() < most_pieces;) {
    const std::size_t end = end_of_piece(all.text, at);
    std::string piece = all.text.substr(at, end - at);
    while (piece.ends_with('\r') || piece.ends_with(' ')) piece.pop_back();
    if (!piece.empty()) out.push_back({std::move(piece), all.from[at]});
    at = end < all.text.size() && all.text[end] == '\n' ? end + 1 : std::max(end, at + 1);
  }
  if (out.empty()) out.push_back({});
  return out;
}

}  // namespace oomplan::diagnose
