// What loggers, terminals and tools put around and into the lines of a log is taken off again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "line.hpp"

namespace oomplan::diagnose {

// One line of JSON as Docker, Kubernetes, journald and structured loggers write them.

/// What `line` says where it is an object with a message ("log", "message", "msg", "MESSAGE", "text" …): that, and
/// beside it every text that has lines of its own, such as a traceback, and what members say whose names tell of a
/// failure ("err", "exception.value"); escapes resolved. Of those the words and numbers come last, in one text as they
/// are written: "exitCode":137,"reason":"OOMKilled". An example of a dialogue says nothing, which is one empty text.
/// Empty otherwise.
std::vector<std::string> messages_of_json(std::string_view line);

// One line that holds many: what a logger, a shipper or a page folded into it is taken apart again, and each piece
// knows where in the line it began.
//
//   JSON, Python's repr, logfmt   \n  \t  \"  \u00a0  \x1b
//   rsyslog                       #012  #011
//   HTML                          <br>  &nbsp;  &quot;  &#39;
//   blanks for line ends          each frame of a traceback begins a piece

struct Piece {
  std::string text{};
  std::size_t begin = 0;  ///< Of the line's bytes.
};

/// The pieces of `line`, in order; one, with the same text, where nothing is folded. A backslash of a Windows path is
/// none of an escape.
std::vector<Piece> unfolded(std::string_view line);

// Characters as the rules write them: what terminals, browsers, chats and editors put in the place of a blank, a quote
// or a dash becomes that again. Nothing else changes, and no line is made or lost.

/// `text` with tabs and Unicode's spaces as blanks, its quotes and dashes as ASCII's, and without zero-width
/// characters.
std::string plain(std::string_view text);

/// `text` without the backslashes that Markdown puts before its own signs, where no path is in it, and without the
/// signs around bold words.
std::string without_markdown(std::string text);

/// Whether most blanks of the text are of another kind, so that not even the words of a rule are found in it. Looks at
/// the first bytes only.
bool has_foreign_blanks(std::string_view text);

// What a tool put before every line of a file: numbers (cat -n, nl, grep -n), a file's name (grep -H), a sign (diff).
// It is known by the whole file only: "12: " before one line may be a rank.

/// How many bytes of each line of one file are such a margin.
std::vector<std::size_t> margins_of(const std::vector<std::string_view>& lines);

// Lines that a terminal or an editor broke at a column are put together again.

/// Where no line of a file is longer than one column and several end exactly there, what ends there goes on in the next
/// line, unless that begins with a prefix or a frame of its own. A line so joined keeps the number of its first piece
/// and has a '\n' where it was broken.
void unwrap(std::vector<Line>& lines);

}  // namespace oomplan::diagnose
