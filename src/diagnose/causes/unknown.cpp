#include <fmt/format.h>

#include "../cause.hpp"

namespace oomplan::diagnose {
namespace {

std::string why(const Case& c) {
  if (c.root == nullptr) return "no line of the log names a failure; a process that is killed writes nothing of it";
  if (c.root->says == Says::consequence) return "what the log shows follows from the death of another process";
  return "only an exit code is told, and a failed allocation ends a program with the same";
}

}  // namespace

Judgement causes::unknown(const Case& c) {
  if (!names_no_failure(c)) return {};
  return {.cause = Cause::unknown, .weight = 10, .confidence = Confidence::possible, .reason = why(c)};
}

}  // namespace oomplan::diagnose
