#include "../cause.hpp"

namespace oomplan::diagnose {

Judgement causes::disk_full(const Case& c) {
  if (c.root == nullptr || c.root->says != Says::disk_full) return {};
  Judgement out{.cause = Cause::disk_full, .weight = 80, .confidence = Confidence::proved};
  out.reason = "a write to disk failed for want of space or quota";
  if (c.root->find("general") != nullptr) {
    out.confidence = Confidence::possible;
    out.reason = "the log says that a disk or a quota is full";
    out.against.push_back("the words are general, and the program that printed them is not known");
  }
  if (c.root->text_of("resource") == "emptyDir") {
    out.confidence = Confidence::likely;
    out.against.push_back("a volume of medium Memory, such as one for /dev/shm, is told in the same words");
  }
  if (c.root->family == "torch_write_fd") {
    out.confidence = Confidence::possible;
    out.against.push_back("an input/output error comes from a failing disk or network file system as well");
  }
  if (c.root->family == "torch_writer") {
    out.confidence = Confidence::likely;
    out.reason = "PyTorch's writer failed; it never prints why, and a full disk or quota is the usual reason";
    out.against.push_back("a folder that is missing, or a failing network file system, reads the same");
  }
  return out;
}

}  // namespace oomplan::diagnose
