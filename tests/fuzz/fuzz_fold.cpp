// Any bytes as one line in front of the matcher: no line is made or lost by making characters plain, pieces stand in
// the order in which they were folded, and what is plain stays so.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "line.hpp"
#include "require.hpp"
#include "unwrap.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace oomplan::diagnose;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string once = plain(text);
  require(plain(once) == once, "plain text stays as it is");
  require(std::count(once.begin(), once.end(), '\n') == std::count(text.begin(), text.end(), '\n'), "no line is made");
  const std::vector<Piece> pieces = unfolded(text);
  require(!pieces.empty(), "a line is at least one piece");
  require(
      std::is_sorted(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; }),
      "pieces are in order");
  for (const Piece& piece : pieces) require(piece.begin <= text.size(), "a piece is of the line");
  std::vector<Line> lines;
  std::int64_t number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    add_lines(text.substr(at, end - at), 0, number, lines);
    at = end + 1;
  }
  const std::size_t before = lines.size();
  unwrap(lines);
  require(lines.size() <= before, "joining makes no line");
  for (const Line& line : lines) require(line.number >= 1 && line.number <= number, "a line is of the text");
  return 0;
}
