// What a page asks the program: a command line in, the exit code and both streams out.
#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/cli/cli.hpp"

namespace {

oomplan::Reply reply;

}  // namespace

extern "C" {

// Emscripten's files have no extended attributes, nor a library that says so.
ssize_t flistxattr(int, char*, size_t) { return -1; }
ssize_t fgetxattr(int, const char*, void*, size_t) { return -1; }
int fsetxattr(int, const char*, const void*, size_t, int) { return -1; }
int fremovexattr(int, const char*) { return -1; }

/// Answers `oomplan WORDS…`, each of which ends with a NUL in the `size` bytes at `words`. Returns the exit code.
int ask(const char* words, std::size_t size) {
  std::vector<std::string> all;
  for (std::string_view rest(words, size); !rest.empty(); rest.remove_prefix(all.back().size() + 1))
    all.emplace_back(rest.substr(0, rest.find('\0')));
  reply = {};  // the last answer's memory first
  reply = oomplan::reply_to(all);
  return reply.code;
}

/// Of the last answer, what it wrote to standard output (1) or standard error (2).
const char* text(int stream) { return stream == 1 ? reply.out.data() : reply.err.data(); }
std::size_t size(int stream) { return stream == 1 ? reply.out.size() : reply.err.size(); }
}
