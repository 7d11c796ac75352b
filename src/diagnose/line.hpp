// A line of a log, made readable: no colours, no progress bar's overwritten states, no container's wrapping, characters
// as the rules write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oomplan::diagnose {

struct Line {
  std::string body{};                  ///< Without prefix, in plain characters; '\n' where pieces were joined.
  std::string shown{};                 ///< The same as the log has it; empty where there is no difference.
  std::optional<std::int64_t> rank{};  ///< From a prefix such as "[rank0]:".
  std::string source{};                ///< Node, container, worker.
  std::string time{};
  int file = 0;
  std::int64_t number = 0;
  int column = 0;         ///< Where it began in a line that held many; from 1, 0 for a line of its own.
  std::size_t width = 0;  ///< Characters of the line in the log; 0 for a piece of one.
  bool prefixed = false;  ///< There was a prefix.
  bool cited = false;     ///< Behind the sign of a mail's quotation, "> ".
  bool titled = false;    ///< Behind "# ", a comment's sign or a title's.
  bool header = false;    ///< The first kept after a gap in which lines were passed over.

  const std::string& quoted() const { return shown.empty() ? body : shown; }
};

/// A bar of tqdm's, or a line that one was drawn into: it goes to stderr, between the lines of whatever else is
/// printed.
inline bool has_bar(std::string_view body) { return body.find("%|") != std::string_view::npos; }

/// Whether both may be pieces of one message: the same file and the same prefix.
bool same_speaker(const Line& a, const Line& b);

/// `raw`, without escape sequences, NUL bytes and backspaces. A NUL or another control character alone between two
/// spaces stays: PyTorch 2.3 printed the number of the GPU so.
std::string cleaned(std::string_view raw);

/// Takes the prefixes off `line.body` (timestamps, hosts, ranks, containers, quoting) and puts what they say in `line`.
void strip_prefixes(Line& line);

/// The readable lines of one raw line without its end: pieces between carriage returns, the lines inside a JSON object
/// of Docker or Kubernetes, and whatever else was folded into it.
void add_lines(std::string_view raw, int file, std::int64_t number, std::vector<Line>& out);

}  // namespace oomplan::diagnose
