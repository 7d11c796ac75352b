#include "../cause.hpp"

namespace oomplan::diagnose {

Judgement causes::not_oom(const Case& c) {
  Judgement out{.cause = Cause::not_oom, .weight = 1, .confidence = Confidence::likely};
  if (c.root == nullptr) {
    out.reason = "nothing in the log reports a failure";
    out.confidence = Confidence::possible;
  } else if (c.survived) {
    out.weight = 99;
    out.reason = "an out-of-memory was caught, and the run went on";
  } else if (c.find("absurd") != nullptr && c.any(Says::other_failure)) {
    out.weight = 99;
    out.reason = "the size asked for is garbage that an earlier failure left behind";
  } else if (c.root->says == Says::other_failure || c.root->says == Says::launcher) {
    out.weight = 10;
    out.confidence = Confidence::proved;
    out.reason = "what failed is something else: " + c.root->text.substr(0, 160);
  } else {
    out.reason = "the words for memory in the log are no failure";
  }
  return out;
}

}  // namespace oomplan::diagnose
