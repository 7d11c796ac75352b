#include <algorithm>
#include <array>
#include <cstdint>

#include "unwrap.hpp"

namespace oomplan::diagnose {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
  std::string_view plain;
};
// Unicode 15: the blanks of category Zs, and what is printed as nothing, a quote or a dash.
constexpr auto ranges = std::to_array<Range>({{0x09, 0x09, " "},
                                              {0xA0, 0xA0, " "},
                                              {0xAD, 0xAD, ""},
                                              {0x1680, 0x1680, " "},
                                              {0x2000, 0x200A, " "},
                                              {0x200B, 0x200F, ""},
                                              {0x2010, 0x2013, "-"},
                                              {0x2018, 0x201B, "'"},
                                              {0x201C, 0x201F, "\""},
                                              {0x202A, 0x202E, ""},
                                              {0x202F, 0x202F, " "},
                                              {0x205F, 0x205F, " "},
                                              {0x2060, 0x2060, ""},
                                              {0x2212, 0x2212, "-"},
                                              {0x3000, 0x3000, " "},
                                              {0xFEFF, 0xFEFF, ""}});

std::uint32_t byte(char c) { return static_cast<unsigned char>(c); }

// The two- and three-byte characters, in which all of the above are; 0 for anything else.
std::uint32_t code_at(std::string_view text, std::size_t at, std::size_t& size) {
  const std::uint32_t lead = byte(text[at]);
  const auto follows = [&](std::size_t i) { return at + i < text.size() && (byte(text[at + i]) & 0xC0U) == 0x80; };
  size = 1;
  if (lead < 0x80) return lead;
  if ((lead & 0xE0U) == 0xC0 && follows(1)) {
    size = 2;
    return (lead & 0x1FU) << 6U | (byte(text[at + 1]) & 0x3FU);
  }
  if ((lead & 0xF0U) == 0xE0 && follows(1) && follows(2)) {
    size = 3;
    return (lead & 0x0FU) << 12U | (byte(text[at + 1]) & 0x3FU) << 6U | (byte(text[at + 2]) & 0x3FU);
  }
  return 0;
}

// A character was torn there, and would be completed by what follows if that came next to it.
bool ends_torn(std::string_view text) {
  if (text.empty() || byte(text.back()) < 0x80) return false;
  if (byte(text.back()) >= 0xC0) return true;
  return text.size() > 1 && (byte(text[text.size() - 2]) & 0xF0U) == 0xE0;
}

const Range* range_of(std::uint32_t code) {
  const auto* const found =
      std::upper_bound(ranges.begin(), ranges.end(), code, [](std::uint32_t c, const Range& r) { return c < r.first; });
  if (found == ranges.begin()) return nullptr;
  return code <= (found - 1)->last ? found - 1 : nullptr;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return byte(c) < 0x80 && c != '\t'; });
}

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t out = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) ++out;
  return out;
}

}  // namespace

std::string plain(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0, size = 1; at < text.size(); at += size) {
    const Range* range = range_of(code_at(text, at, size));
    const bool stays = range == nullptr || (range->plain.empty() && ends_torn(out));
    out += stays ? text.substr(at, size) : range->plain;
  }
  return out;
}

namespace {

constexpr std::string_view bold = "**";

bool begins_bold(std::string_view text, std::size_t open) {
  return (open == 0 || text[open - 1] == ' ') && open + 2 < text.size() && text[open + 2] != ' ' &&
         text[open + 2] != '*';
}

// Where the bold text that begins at `open` ends: behind a sign or letter, before a blank. "**options" has no end.
std::size_t end_of_bold(std::string_view text, std::size_t open) {
  constexpr std::string_view behind = " .,:;)";
  for (std::size_t at = text.find(bold, open + 2); at != std::string_view::npos; at = text.find(bold, at + 2)) {
    const bool ends = at + 2 == text.size() || behind.find(text[at + 2]) != std::string_view::npos;
    if (ends && text[at - 1] != ' ' && at > open + 2) return at;
  }
  return std::string_view::npos;
}

// "**RuntimeError: CUDA out of memory.** Tried to allocate": a page sets its first words in bold.
std::string without_bold(std::string text) {
  for (std::size_t open = text.find(bold); open != std::string::npos; open = text.find(bold, open + 1)) {
    if (!begins_bold(text, open)) continue;
    const std::size_t close = end_of_bold(text, open);
    if (close == std::string::npos) break;  // Nor has any that begins later.
    text.erase(close, 2);
    text.erase(open, 2);
  }
  return text;
}

}  // namespace

std::string without_markdown(std::string text) {
  constexpr std::size_t longest_bold = 4096;  // of a line of a page: each pair of signs is looked for by itself
  if (text.size() <= longest_bold && text.find(bold) != std::string::npos) text = without_bold(std::move(text));
  if (text.find('\\') == std::string::npos || text.find(":\\") != std::string::npos) return text;
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool sign =
        at + 1 < text.size() && std::string_view("_*[]#`~<>").find(text[at + 1]) != std::string_view::npos;
    const bool doubled = at > 0 && text[at - 1] == '\\';
    if (text[at] != '\\' || !sign || doubled) out += text[at];
  }
  return out;
}

bool has_foreign_blanks(std::string_view text) {
  constexpr std::size_t looked_at = 2048;
  text = text.substr(0, looked_at);
  const std::size_t foreign =
      count_of(text, "\t") + count_of(text, "\xC2\xA0") + count_of(text, "&nbsp;") + count_of(text, "\xE2\x80\xAF");
  return foreign > 0 && foreign * 2 > count_of(text, " ");
}

}  // namespace oomplan::diagnose
