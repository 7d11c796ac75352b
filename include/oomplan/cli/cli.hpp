// The program: arguments in, text and an exit code out.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace oomplan {

/// Runs `oomplan ARGV…`, writes to standard output and standard error, and returns the exit code (docs/manual.md).
/// `find_arrow`, where given, is called before oomplan-data starts, so that it finds its libraries; it returns what is
/// missing (cli/no-data-program), or "".
int run(int argc, char** argv, const std::function<std::string()>& find_arrow = {});

/// What a command line comes to.
struct Reply {
  int code = 0;  ///< The exit code.
  std::string out{};
  std::string err{};
};

/// What `oomplan WORDS…` would print, inside a process that is another program's: nothing is written to its streams, it
/// is not forked, and its terminal is not asked. Text is without colour, 100 columns wide, and UTF-8. `input` stands
/// for standard input ("-"). May be called by several threads at a time. Commands that become or start another program
/// (run, stream, dedupe, measure) are refused with cli/usage.
Reply reply_to(const std::vector<std::string>& words, std::string_view input = {});

}  // namespace oomplan
