// One line that holds many: what a logger, a shipper or a page folded into it is taken apart again, and each piece
// knows where in the line it began.
//
//   JSON, Python's repr, logfmt   \n  \t  \"  \u00a0  \x1b
//   rsyslog                       #012  #011
//   HTML                          <br>  &nbsp;  &quot;  &#39;
//   blanks for line ends          each frame of a traceback begins a piece
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace oomplan::diagnose {

struct Piece {
  std::string text{};
  std::size_t begin = 0;  ///< Of the line's bytes.
};

/// The pieces of `line`, in order; one, with the same text, where nothing is folded. A backslash of a Windows path is
/// none of an escape.
std::vector<Piece> unfolded(std::string_view line);

}  // namespace oomplan::diagnose
