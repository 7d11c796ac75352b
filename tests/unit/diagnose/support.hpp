// Logs written for the tests, and what comes of them.
#pragma once

#include <string>

#include "oomplan/diagnose/diagnose.hpp"

namespace oomplan::diagnose {

inline const Rulebook& book() {
  static const Rulebook rules = *Rulebook::load();
  return rules;
}

inline Diagnosis diagnosed(const std::string& text) { return diagnose_text(book(), text, "log"); }

/// A message of PyTorch 2.4 in GiB.
inline std::string oom(double asked, double total, double free, double process, double allocated, double unallocated) {
  const auto gib = [](double x) {
    std::string text = std::to_string(x);
    return text.substr(0, text.find('.') + 3) + " GiB";
  };
  return "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " + gib(asked) +
         ". GPU 0 has a total capacity of " + gib(total) + " of which " + gib(free) +
         " is free. Including non-PyTorch memory, this process has " + gib(process) +
         " memory in use. Of the allocated memory " + gib(allocated) + " is allocated by PyTorch, and " +
         gib(unallocated) + " is reserved by PyTorch but unallocated.\n";
}

}  // namespace oomplan::diagnose
