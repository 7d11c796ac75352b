// A unified diff of two texts that are alike in most lines.
#include <algorithm>
#include <string_view>
#include <vector>

#include "oomplan/advise/advise.hpp"

namespace oomplan {
namespace {

constexpr std::size_t context = 3;
constexpr std::string_view no_end = "\n\\ No newline at end of file\n";

using Lines = std::vector<std::string_view>;

/// `a` from `from` for `dropped` lines becomes `added` of `b`, the first of them at `at`.
struct Edit {
  std::size_t from = 0;
  std::size_t dropped = 0;
  std::size_t at = 0;
  std::size_t added = 0;
};

/// How far off the next line is that both have; edits are small, so the nearest is near.
Edit next_edit(const Lines& a, const Lines& b, std::size_t i, std::size_t j) {
  const std::size_t most = (a.size() - i) + (b.size() - j);
  for (std::size_t sum = 1; sum <= most; ++sum) {
    for (std::size_t dropped = 0; dropped <= sum; ++dropped) {
      const std::size_t added = sum - dropped;
      if (i + dropped > a.size() || j + added > b.size()) continue;
      const bool ends = i + dropped == a.size() && j + added == b.size();
      const bool meet = i + dropped < a.size() && j + added < b.size() && a[i + dropped] == b[j + added];
      if (ends || meet) return {i, dropped, j, added};
    }
  }
  return {i, a.size() - i, j, b.size() - j};
}

std::vector<Edit> edits_of(const Lines& a, const Lines& b) {
  std::vector<Edit> out;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      ++i;
      ++j;
      continue;
    }
    out.push_back(next_edit(a, b, i, j));
    i += out.back().dropped;
    j += out.back().added;
  }
  return out;
}

void add(std::string& out, char sign, std::string_view line) {
  out += sign;
  out += line;
  if (!line.ends_with('\n')) out += no_end;
}

std::string range(std::size_t from, std::size_t count) {
  return std::to_string(count == 0 ? from : from + 1) + (count == 1 ? "" : "," + std::to_string(count));
}

/// The edits from `first` up to `last`, whose contexts touch.
std::string hunk(const Lines& a, const Lines& b, const std::vector<Edit>& edits, std::size_t first, std::size_t last) {
  const std::size_t before = std::min(context, edits[first].from);
  const std::size_t stop = std::min(a.size(), edits[last].from + edits[last].dropped + context);
  std::size_t at = edits[first].from - before;
  const std::size_t from = at;
  const std::size_t to = edits[first].at - before;
  std::string body;
  std::size_t added = 0;
  std::size_t dropped = 0;
  for (std::size_t e = first; e <= last; ++e) {
    for (; at < edits[e].from; ++at) add(body, ' ', a[at]);
    for (std::size_t i = 0; i < edits[e].dropped; ++i) add(body, '-', a[at++]);
    for (std::size_t i = 0; i < edits[e].added; ++i) add(body, '+', b[edits[e].at + i]);
    added += edits[e].added;
    dropped += edits[e].dropped;
  }
  for (; at < stop; ++at) add(body, ' ', a[at]);
  const std::size_t lines = stop - from;
  return "@@ -" + range(from, lines) + " +" + range(to, lines - dropped + added) + " @@\n" + body;
}

}  // namespace

std::vector<std::string_view> text_lines(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

std::vector<LineEdit> line_edits(const std::string& before, const std::string& after) {
  const Lines b = text_lines(after);
  std::vector<LineEdit> out;
  for (const Edit& edit : edits_of(text_lines(before), b)) {
    LineEdit& next = out.emplace_back(LineEdit{edit.from, edit.dropped, {}});
    for (std::size_t i = 0; i < edit.added; ++i) next.added += b[edit.at + i];
  }
  return out;
}

std::string unified_diff(const std::string& file, const std::string& before, const std::string& after) {
  const Lines a = text_lines(before);
  const Lines b = text_lines(after);
  const std::vector<Edit> edits = edits_of(a, b);
  if (edits.empty()) return {};
  std::string out = "--- " + file + "\n+++ " + file + "\n";
  for (std::size_t first = 0; first < edits.size();) {
    std::size_t last = first;
    while (last + 1 < edits.size() && edits[last + 1].from <= edits[last].from + edits[last].dropped + 2 * context)
      ++last;
    out += hunk(a, b, edits, first, last);
    first = last + 1;
  }
  return out;
}

}  // namespace oomplan
