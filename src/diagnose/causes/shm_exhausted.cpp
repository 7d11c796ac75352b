#include <fmt/format.h>

#include <algorithm>

#include "../cause.hpp"

namespace oomplan::diagnose {

namespace {

// ENOSPC in /dev/shm, or without a path beside a worker that died of SIGBUS.
Judgement from_no_space(const Case& c) {
  const bool named = c.root->text.find("/dev/shm") != std::string::npos ||
                     c.root->text.find("shared memory segment") != std::string::npos;
  if (named && c.root->family == "errno")
    return {.cause = Cause::shm_exhausted,
            .weight = 85,
            .confidence = Confidence::likely,
            .reason = "a write found no space, and /dev/shm is named beside it"};
  const bool bus = std::any_of(c.evidence->begin(), c.evidence->end(), [](const Evidence& e) {
    return e.says == Says::shm_full || e.says == Says::bus_error || signal_of(e) == "SIGBUS";
  });
  if (!bus || c.root->family != "errno" || c.root->text.find("device: '") != std::string::npos) return {};
  return {.cause = Cause::shm_exhausted,
          .weight = 85,
          .confidence = Confidence::likely,
          .reason = "a write found no space, and a worker that writes to /dev/shm died of a bus error"};
}

}  // namespace

Judgement causes::shm_exhausted(const Case& c) {
  if (c.root == nullptr) return {};
  const bool bus = c.root->says == Says::bus_error || signal_of(*c.root) == "SIGBUS";
  if (c.root->says == Says::disk_full) return from_no_space(c);
  if (c.root->says != Says::shm_full && !bus) return {};
  Judgement out{.cause = Cause::shm_exhausted, .weight = 80, .confidence = Confidence::proved};
  out.reason = "writing to /dev/shm found no space";
  if (c.find("errno") == nullptr && c.find("path") == nullptr) out.confidence = Confidence::likely;
  if (bus || c.root->family == "dataloader_signal") out.reason = "a bus error where shared memory is in use";
  if (bus && c.root->says != Says::shm_full) out.confidence = Confidence::possible;
  if (c.root->family == "k8s_evict") {
    out.reason = "the kubelet evicted the pod: a volume named as one for shared memory was over its limit";
    out.against.push_back("the name alone says that the volume was in memory");
    return out;
  }
  if (out.confidence != Confidence::proved)
    out.against.push_back("a file cut short under a memory map gives a bus error too");
  const std::string total = c.text_of("shm_total");
  if (!total.empty()) out.arithmetic.push_back(fmt::format("/dev/shm holds {} of {}", c.text_of("shm_used"), total));
  const auto holds = c.number("shm_total");
  const auto used = c.number("shm_used");
  if (bus && holds && used && *used < *holds / 2) out.against.push_back("/dev/shm was never more than half full");
  return out;
}

}  // namespace oomplan::diagnose
