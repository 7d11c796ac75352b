// What stands around a message never changes the diagnosis: prefixes, other ranks' lines, line ends, colours, lines
// before.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "oomplan/diagnose/diagnose.hpp"

namespace oomplan {
namespace {

const Rulebook& book() {
  static const Rulebook rules = *Rulebook::load();
  return rules;
}

class Logs {
 public:
  explicit Logs(unsigned seed) : random_(seed) {}

  std::string next() {
    switch (number(0, 5)) {
      case 0:
        return traceback() + gpu();
      case 1:
        return gpu();
      case 2:
        return "RuntimeError: [enforce fail at alloc_cpu.cpp:116] err == 0. DefaultCPUAllocator: can't allocate "
               "memory: you tried "
               "to allocate " +
               std::to_string(number(1, 1 << 30)) + " bytes. Error code 12 (Cannot allocate memory)\n";
      case 3:
        return "Out of memory: Killed process " + std::to_string(number(2, 9999)) +
               " (python) total-vm:9kB, anon-rss:" + std::to_string(number(100'000, 1 << 30)) +
               "kB, file-rss:0kB, shmem-rss:0kB\n";
      case 4:
        return "RuntimeError: DataLoader worker (pid " + std::to_string(number(2, 9999)) +
               ") is killed by signal: Killed. \n";
      default:
        return "slurmstepd: error: Detected 1 oom_kill event in StepId=77.0. Some of the step tasks have been OOM "
               "Killed.\n";
    }
  }

  int number(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }

 private:
  std::string gib(int hundredths) {
    std::string cents = std::to_string(hundredths % 100);
    return std::to_string(hundredths / 100) + "." + (cents.size() < 2 ? "0" : "") + cents + " GiB";
  }

  std::string gpu() {
    const int total = number(800, 8000);
    const int own = number(100, total);
    const int unallocated = number(0, own / 2);
    return "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " + gib(number(1, 2 * total)) +
           ". GPU 0 has a total capacity of " + gib(total) + " of which " + gib(number(0, total - own + 1)) +
           " is free. Including non-PyTorch memory, this process has " + gib(own) +
           " memory in use. Of the allocated memory " + gib(own - unallocated) + " is allocated by PyTorch, and " +
           gib(unallocated) + " is reserved by PyTorch but unallocated.\n";
  }

  std::string traceback() {
    const char* frames[] = {"torch/optim/adamw.py\", line 3, in step", "m.py\", line 3, in forward",
                            "t.py\", line 3, in evaluate"};
    return std::string("Traceback (most recent call last):\n  File \"") + frames[number(0, 2)] + "\n    x = f(y)\n";
  }

  std::mt19937 random_;
};

std::string each_line(const std::string& text, const std::function<std::string(const std::string&)>& change) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) out += change(line);
  return out;
}

struct Change {
  const char* name;
  std::function<std::string(const std::string&)> apply;
};

std::vector<Change> changes() {
  const auto before = [](std::string prefix) {
    return [prefix](const std::string& text) {
      return each_line(text, [&](const std::string& line) { return prefix + line + "\n"; });
    };
  };
  return {
      {"rank", before("[rank3]: ")},
      {"mpirun", before("[1,2]<stderr>:")},
      {"time", before("2024-07-02T10:11:12.0001234Z ")},
      {"host", before("node1: ")},
      {"ray", before("(train pid=9) ")},
      {"all", before("2024-07-02 10:11:12,001 node1: [rank2]: ")},
      {"colour",
       [](const std::string& t) {
         return each_line(t, [](const std::string& l) { return "\x1b[31m" + l + "\x1b[0m\n"; });
       }},
      {"crlf", [](const std::string& t) { return each_line(t, [](const std::string& l) { return l + "\r\n"; }); }},
      {"bars",
       [](const std::string& t) {
         return each_line(t, [](const std::string& l) { return " 1%|#|\r 2%|#|\r" + l + "\n"; });
       }},
      {"others",
       [](const std::string& t) {
         return each_line(t, [](const std::string& l) { return "[rank0]: " + l + "\n[rank1]: all is well\n"; });
       }},
      {"long before",
       [](const std::string& t) {
         std::string out;
         for (int i = 0; i < 5'000; ++i) out += "INFO setup line of the job\n";
         return out + t;
       }},
      {"long after",
       [](const std::string& t) {
         std::string out = t;
         for (int i = 0; i < 5'000; ++i) out += "INFO clean-up line of the job\n";
         return "INFO begin\n" + out;
       }},
  };
}

TEST(DiagnoseLaws, WhatStandsAroundAMessageDoesNotChangeTheDiagnosis) {
  Logs logs(7);
  for (int i = 0; i < 60; ++i) {
    const std::string text = logs.next();
    const Diagnosis plain = diagnose_text(book(), text, "log");
    ASSERT_TRUE(plain.root) << text;
    for (const Change& change : changes()) {
      const Diagnosis changed = diagnose_text(book(), change.apply(text), "log");
      EXPECT_EQ(name_of(changed.verdict.cause), name_of(plain.verdict.cause)) << change.name << ": " << text;
      EXPECT_EQ(changed.moment.phase, plain.moment.phase) << change.name << ": " << text;
      EXPECT_EQ(changed.facts, plain.facts) << change.name << ": " << text;
    }
  }
}

}  // namespace
}  // namespace oomplan
