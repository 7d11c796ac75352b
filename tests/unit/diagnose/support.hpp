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

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// "micro-batch adamw-8bit"
inline std::string ids(const std::vector<Fix>& fixes) {
  std::string out;
  for (const Fix& fix : fixes) out += (out.empty() ? "" : " ") + fix.id;
  return out;
}

/// The ids of what a log's diagnosis advises.
inline std::string to_do(const std::string& log) { return ids(diagnosed(log).to_do); }

/// What is said of one of them; empty where it is not advised.
inline std::string text_of(const std::string& log, const std::string& id) {
  for (const Fix& fix : diagnosed(log).to_do)
    if (fix.id == id) return fix.text;
  return {};
}

}  // namespace oomplan::diagnose
