#include <fmt/format.h>

#include "../cause.hpp"

namespace oomplan::diagnose {
namespace {

std::string why(const Case& c) {
  if (c.root == nullptr) return "no line of the log names a failure; a process that is killed writes nothing of it";
  if (is_of_memory_in_unknown_words(c))
    return "the error speaks of memory in words that are not known: " + c.root->text.substr(0, 160);
  if (c.root->says == Says::consequence) return "what the log shows follows from the death of another process";
  return "only an exit code is told, and a failed allocation ends a program with the same";
}

}  // namespace

Judgement causes::unknown(const Case& c) {
  if (!names_no_failure(c)) return {};
  return {.cause = Cause::unknown, .weight = 10, .confidence = Confidence::possible, .reason = why(c)};
}

}  // namespace oomplan::diagnose
