#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/text.hpp"

namespace oomplan {
namespace {

constexpr std::size_t longest_name = 64;  // a longer word is no misspelt key, and the distance costs its square

std::string folded(std::string_view word) {
  std::string out(word);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return out;
}

// How many letters to insert, delete or replace. One row of the table is enough.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.empty() || word.size() > longest_name) return std::nullopt;
  const std::string wanted = folded(word);
  std::optional<std::string> best;
  std::size_t limit = wanted.size() / 3 + 1;  // what the next candidate must stay under
  for (const std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > longest_name) continue;
    const std::size_t differing = distance(wanted, folded(candidate));
    if (differing >= limit || differing >= std::max(wanted.size(), candidate.size())) continue;
    limit = differing;
    best = std::string(candidate);
  }
  return best;
}

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace oomplan
