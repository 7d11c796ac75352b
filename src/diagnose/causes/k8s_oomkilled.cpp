#include "../cause.hpp"

namespace oomplan::diagnose {

Judgement causes::k8s_oomkilled(const Case& c) {
  if (c.root == nullptr || c.root->says != Says::kubernetes_killed) return {};
  Judgement out{.cause = Cause::k8s_oomkilled, .weight = 85, .confidence = Confidence::proved};
  out.reason = c.root->family == "k8s_evict" ? "the kubelet evicted the pod because the node ran low"
                                             : "Kubernetes records OOMKilled for the container";
  if (c.root->family == "k8s_word") {
    out.confidence = Confidence::likely;
    out.reason = "OOMKilled is Kubernetes' word for it; its own record is not here";
  }
  if (!c.text_of("limit").empty()) out.arithmetic.push_back("the container's limit is " + c.text_of("limit"));
  if (!c.text_of("used").empty())
    out.arithmetic.push_back("it used " + c.text_of("used") + ", requested " + c.text_of("request"));
  return out;
}

}  // namespace oomplan::diagnose
