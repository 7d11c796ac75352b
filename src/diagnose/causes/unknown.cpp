#include <fmt/format.h>

#include <algorithm>

#include "../cause.hpp"
#include "../line.hpp"

namespace oomplan::diagnose {
namespace {

std::string why(const Case& c) {
  if (c.outlived != nullptr)
    return fmt::format("the run went on behind the error of line {}, and no line names a later failure",
                       c.outlived->where.line);
  if (c.root == nullptr) return "no line of the log names a failure; a process that is killed writes nothing of it";
  if (is_of_memory_in_unknown_words(c))
    return "the error speaks of memory in words that are not known: " + c.root->text.substr(0, 160);
  if (c.root->says == Says::consequence) return "what the log shows follows from the death of another process";
  return "only an exit code is told, and a failed allocation ends a program with the same";
}

// Not a line of the job's own.
bool tells_nothing_else(const Case& c) {
  return std::ranges::all_of(*c.lines, [&](const Line& line) {
    const auto at = static_cast<std::size_t>(&line - c.lines->data());
    return line.body.empty() || std::ranges::any_of(*c.evidence, [&](const Evidence& e) { return e.line == at; });
  });
}

}  // namespace

Judgement causes::unknown(const Case& c) {
  if (is_only_soft(c) && tells_nothing_else(c))
    return {.cause = Cause::unknown,
            .weight = 87,
            .confidence = Confidence::possible,
            .reason =
                "Slurm writes that the limit was met \"at some point\" of jobs that were killed and of jobs that "
                "went well, and the log has no other line"};
  if (!names_no_failure(c)) return {};
  return {.cause = Cause::unknown, .weight = 10, .confidence = Confidence::possible, .reason = why(c)};
}

}  // namespace oomplan::diagnose
