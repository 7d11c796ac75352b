#include "../cause.hpp"

namespace oomplan::diagnose {
namespace {

// A timeout of collectives and an unnamed exception do not say what the other ranks died of, nor one worker's time
// limit what the service did.
bool speaks_for_itself_alone(const Case& c) {
  return c.root->family == "nccl_watchdog" || c.root->family == "postgres" || c.find("general") != nullptr ||
         c.root->find("ends") != nullptr || c.find("unusable") != nullptr || c.root->says == Says::launcher;
}

// A full GPU is one of several reasons of it.
bool is_internal_error(const Case& c) {
  return c.root->says == Says::gpu_library_failed &&
         c.root->text_of("status").find("INTERNAL_ERROR") != std::string::npos;
}

}  // namespace

Judgement causes::not_oom(const Case& c) {
  Judgement out{.cause = Cause::not_oom, .weight = 1, .confidence = Confidence::likely};
  if (c.root == nullptr) {
    out.weight = finished_well(c) ? 20 : 1;
    out.reason = finished_well(c) ? "the log says that the run finished" : "nothing in the log reports a failure";
    if (!finished_well(c)) out.confidence = Confidence::possible;
  } else if (c.survived) {
    out.weight = 99;
    out.reason = "an out-of-memory was caught, and the run went on";
  } else if (c.find("absurd") != nullptr && names_other_failure(c)) {
    out.weight = 99;
    out.reason = "the size asked for is garbage that an earlier failure left behind";
  } else if (asks_overflowed(c)) {
    out.weight = 99;
    out.reason =
        "the size asked for is negative, or 8 EiB and more: a count overflowed in the program, and no memory was short";
  } else if (is_only_soft(c)) {
    out.weight = 86;
    out.confidence = Confidence::possible;
    out.reason =
        "Slurm writes that the limit was met \"at some point\" of jobs that went well too, and nothing here died";
  } else if (is_internal_error(c)) {
    out.weight = 61;
    out.confidence = Confidence::possible;
    out.reason = "the library reports an internal error and says nothing of memory";
  } else if (c.root->says == Says::other_failure || c.root->says == Says::gpu_library_failed ||
             c.root->says == Says::launcher) {
    const bool undecided = c.root->says == Says::launcher && names_no_failure(c);
    out.weight = undecided || is_of_memory_in_unknown_words(c) ? 1 : 10;
    out.confidence = speaks_for_itself_alone(c) ? Confidence::likely : Confidence::proved;
    if (c.find("last_word") != nullptr) out.confidence = Confidence::possible;
    out.reason = (ended_with_0(c) ? "the run ended with exit code 0, after " : "what failed is something else: ") +
                 c.root->text.substr(0, 160);
    if (ended_with_0(c)) out.confidence = Confidence::likely;
  } else {
    out.reason = "the words for memory in the log are no failure";
    if (finished_well(c)) out.reason += ", and it says that the run finished";
    if (!finished_well(c)) out.confidence = Confidence::possible;
  }
  return out;
}

}  // namespace oomplan::diagnose
