#include <algorithm>

#include "../cause.hpp"

namespace oomplan::diagnose {

Judgement causes::host_alloc_failed(const Case& c) {
  if (c.root == nullptr || c.root->says != Says::host_alloc_failed || c.survived) return {};
  Judgement out{.cause = Cause::host_alloc_failed, .weight = 80, .confidence = Confidence::proved};
  out.reason = "an allocation in host memory was refused; nobody was killed";
  if (c.find("general") != nullptr) {
    const bool killed = c.number("exit_code") == 137 || c.root->text.find("illed") != std::string::npos;
    if (killed) out.reason = "the log says that host memory ran out";
    out.confidence = Confidence::possible;
    out.against.push_back("the words are general, and the runtime that printed them is not known");
  }
  if (c.find("weak") != nullptr) {
    out.confidence = Confidence::likely;
    const std::string but = c.root->text_of("but");
    out.against.push_back(but.empty() ? "libraries of a GPU raise the same exception" : but);
  }
  if (const auto asked = c.number("requested")) {
    out.arithmetic.push_back("asked " + shown(*asked));
    if (*asked > std::int64_t{1} << 42) {
      out.confidence = std::min(out.confidence, Confidence::likely);
      out.against.push_back("no host has that much: the size itself is wrong");
    }
  }
  if (const auto space = c.number("address_space"))
    out.arithmetic.push_back("the address space of a process is limited to " + shown(*space) + " (ulimit -v)");
  return out;
}

}  // namespace oomplan::diagnose
