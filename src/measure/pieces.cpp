#include <algorithm>
#include <array>

#include "token_counts.hpp"

namespace oomplan::measure {
namespace {

// A character beyond ASCII continues any run: so a boundary is only where two classes that are known meet.
enum class Class { space, letter, digit, mark, any };

struct Character {
  Class kind = Class::any;
  std::size_t bytes = 1;
};

constexpr std::array<Class, 128> ascii_classes() {
  std::array<Class, 128> out{};
  for (std::size_t c = 0; c < out.size(); ++c) {
    out[c] = Class::mark;
    if (c == ' ' || (c >= '\t' && c <= '\r')) out[c] = Class::space;
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') out[c] = Class::letter;
    if (c >= '0' && c <= '9') out[c] = Class::digit;
  }
  return out;
}

/// Unicode's White_Space beyond ASCII, as UTF-8.
bool wide_space(std::string_view character) {
  constexpr auto spaces =
      std::to_array<std::string_view>({"\u0085", "\u00a0", "\u1680", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"});
  const bool em_space = character >= "\u2000" && character <= "\u200a";
  return em_space || std::ranges::find(spaces, character) != spaces.end();
}

Character first_of(std::string_view text) {
  static constexpr auto classes = ascii_classes();
  const auto c = static_cast<unsigned char>(text.front());
  if (c < 0x80) return {classes[c], 1};
  const std::size_t bytes = std::min<std::size_t>(c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4, text.size());
  return {wide_space(text.substr(0, bytes)) ? Class::space : Class::any, bytes};
}

/// The bytes of 's, 't, 're and their like at the beginning; 0 where there is none.
std::size_t contraction(std::string_view text) {
  constexpr auto all = std::to_array<std::string_view>({"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"});
  const auto found = std::ranges::find_if(all, [&](std::string_view one) { return text.starts_with(one); });
  return found == all.end() ? 0 : found->size();
}

/// The bytes of the run of one class at the beginning.
std::size_t run(std::string_view text) {
  Class kind = Class::any;
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Character next = first_of(text.substr(bytes));
    if (next.kind == Class::space) break;
    if (kind == Class::any) kind = next.kind;
    if (next.kind != Class::any && next.kind != kind) break;
    bytes += next.bytes;
  }
  return bytes;
}

/// White space before a word leaves its last character: a plain space goes to the word.
std::size_t spaces(std::string_view text, std::int64_t& pieces) {
  std::size_t bytes = 0;
  Character last;
  while (bytes < text.size()) {
    const Character next = first_of(text.substr(bytes));
    if (next.kind != Class::space) break;
    last = next;
    bytes += next.bytes;
  }
  const bool before_word = bytes < text.size();
  if (!before_word || bytes > last.bytes) ++pieces;
  if (before_word && text[bytes - 1] != ' ') ++pieces;
  return bytes;
}

}  // namespace

std::int64_t pieces_in(std::string_view text) {
  std::int64_t pieces = 0;
  bool after_space = false;  // which is the next piece's own, so that it is no contraction
  while (!text.empty()) {
    if (first_of(text).kind == Class::space) {
      const std::size_t bytes = spaces(text, pieces);
      after_space = text[bytes - 1] == ' ';
      text.remove_prefix(bytes);
      continue;
    }
    const std::size_t short_form = after_space ? 0 : contraction(text);
    text.remove_prefix(short_form > 0 ? short_form : run(text));
    after_space = false;
    ++pieces;
  }
  return pieces;
}

}  // namespace oomplan::measure
