#include <fmt/format.h>

#include "../cause.hpp"

namespace oomplan::diagnose {

Judgement causes::slurm_oom(const Case& c) {
  if (c.root == nullptr || c.root->says != Says::slurm_killed) return {};
  Judgement out{.cause = Cause::slurm_oom, .weight = 85, .confidence = Confidence::proved};
  out.reason = "Slurm records that the job's memory limit was met";
  if (c.root->find("soft") != nullptr) {
    out.confidence = Confidence::possible;
    out.against.push_back(
        "\"at some point\" is written of jobs that went well too: the page cache counts against the limit");
  }
  const auto used = c.number("used");
  const auto limit = c.number("limit");
  if (used && limit) out.arithmetic.push_back(fmt::format("used {} of {}", shown(*used), shown(*limit)));
  if (const auto rss = c.number("max_rss"))
    out.arithmetic.push_back("MaxRSS " + shown(*rss) + ", sampled, so the peak was more");
  return out;
}

}  // namespace oomplan::diagnose
