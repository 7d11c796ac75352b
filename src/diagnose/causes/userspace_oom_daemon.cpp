#include "../cause.hpp"

namespace oomplan::diagnose {

Judgement causes::userspace_oom_daemon(const Case& c) {
  if (c.root == nullptr || c.root->says != Says::daemon_killed) return {};
  Judgement out{.cause = Cause::userspace_oom_daemon, .weight = 85, .confidence = Confidence::proved};
  out.reason = "a program that watches memory (" + c.root->family + ") says that it killed";
  const std::string used = c.text_of("used");
  const std::string limit = c.text_of("limit").empty() ? c.text_of("total") : c.text_of("limit");
  if (!used.empty() && !limit.empty()) out.arithmetic.push_back("used " + used + " of " + limit);
  if (c.text_of("kind") == "virtual") out.against.push_back("the limit is on virtual memory, which is not RAM");
  if (c.root->find("intent") != nullptr) {
    out.confidence = Confidence::likely;
    out.reason = "a program that watches memory (" + c.root->family + ") says that it was about to";
    if (c.text_of("signal") != "SIGKILL") out.against.push_back("no line says that anything died of it");
  }
  return out;
}

}  // namespace oomplan::diagnose
