// Short logs of every rule, and what is said of them, in tests/data/diagnose. A line that changes in src/diagnose or in
// rules/ shows here: OOMPLAN_UPDATE=1 writes the files anew, and the diff is to be read.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "project.hpp"
#include "rules.hpp"
#include "summary.hpp"
#include "support.hpp"

namespace oomplan::diagnose {
namespace {

const Rules& rules() { return book().rules(); }

std::string path_of(const std::string& file) { return project_folder() + "/tests/data/diagnose/" + file; }

std::string read(const std::string& file) {
  std::ifstream in(path_of(file), std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> out;
  std::stringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

/// Holds what is said now against the file, line by line.
void expect_same(const std::string& now, const std::string& file) {
  if (std::getenv("OOMPLAN_UPDATE") != nullptr) {
    std::ofstream(path_of(file), std::ios::binary) << now;
    return;
  }
  const std::vector<std::string> wanted = lines_in(read(file));
  const std::vector<std::string> said = lines_in(now);
  for (std::size_t i = 0; i < std::min(wanted.size(), said.size()); ++i)
    ASSERT_EQ(said[i], wanted[i]) << file << ":" << i + 1;
  EXPECT_EQ(said.size(), wanted.size()) << file;
}

// Every sentence of rules/messages, alone in a log.
TEST(Corpus, OfEverySentence) {
  std::string now;
  for (const Sentence& sentence : rules().sentences)
    for (const Example& example : sentence.examples)
      now += sentence.id + " | " + in_one_line(diagnosed(example.text + "\n")) + "\n";
  expect_same(now, "messages.txt");
}

/// A log and what is said of it: "=== name", "--- log", "--- says".
struct Entry {
  std::string head{};  ///< All up to the log.
  std::string log{};
};

std::vector<Entry> entries_in(const std::string& text) {
  std::vector<Entry> out;
  enum { head, log, says } part = says;
  for (const std::string& line : lines_in(text)) {
    if (line.starts_with("=== ")) {
      out.push_back({});
      part = head;
    } else if (part == head && line == "--- log") {
      part = log;
      continue;
    } else if (part == log && line == "--- says") {
      part = says;
    }
    if (part == head) out.back().head += line + "\n";
    if (part == log) out.back().log += line + "\n";
  }
  return out;
}

/// "@oom 2 80 1 78 76 1" is PyTorch's message with these GiB: asked, total, free, process, allocated, unallocated.
std::string with_messages(const std::string& text) {
  std::string out;
  for (const std::string& line : lines_in(text)) {
    const std::size_t at = line.find("@oom ");
    std::stringstream in(at == std::string::npos ? std::string() : line.substr(at + 5));
    std::array<double, 6> n{};
    for (double& one : n) in >> one;
    out += at == std::string::npos ? line + "\n" : line.substr(0, at) + oom(n[0], n[1], n[2], n[3], n[4], n[5]);
  }
  return out;
}

TEST(Corpus, OfWholeLogs) {
  std::string now;
  for (const Entry& entry : entries_in(read("logs.txt")))
    now += entry.head + "--- log\n" + entry.log + "--- says\n" + in_full(diagnosed(with_messages(entry.log))) + "\n";
  expect_same(now, "logs.txt");
}

// What the processes themselves knew: in which moment they were, and whether others were to blame.
TEST(Corpus, OfFailuresThatWereProvokedOnAGpu) {
  int logs = 0;
  std::string name;
  std::string moment;
  std::string why;
  std::string log;
  const auto judge = [&] {
    if (log.empty()) return;
    const Diagnosis d = diagnosed(std::exchange(log, {}));
    EXPECT_EQ(d.moment.phase, moment) << name;
    const bool full = d.verdict.cause == Cause::vram_exhausted || d.verdict.cause == Cause::vram_fragmentation;
    EXPECT_EQ(full, why == "full") << name;
    EXPECT_EQ(d.verdict.cause == Cause::vram_other_process, why == "other_process") << name;
    ++logs;
  };
  for (const std::string& line : lines_in(read("h100.txt"))) {
    if (line.starts_with("# ")) continue;
    if (!line.starts_with("=== ")) {
      log += line + "\n";
      continue;
    }
    judge();
    std::stringstream(line.substr(4)) >> name >> moment >> why;
  }
  judge();
  EXPECT_EQ(logs, 23);
}

// Which of two failures the other follows from, whichever is printed first. A row of "pairs.txt" names the first line,
// a column the second one.
TEST(Corpus, OfTwoFailures) {
  std::vector<std::pair<std::string, std::string>> failures;
  std::string head;
  for (const std::string& line : lines_in(read("pairs.txt"))) {
    if (line == "---") break;
    head += line + "\n";
    if (const std::size_t at = line.find(" | "); at != std::string::npos && !line.starts_with('#'))
      failures.emplace_back(line.substr(0, at), line.substr(at + 3));
  }
  std::string now = head + "---\n";
  for (const auto& [name, line] : failures) {
    now += name + ":";
    for (const auto& [other, below] : failures) {
      const Diagnosis d = diagnosed(line + "\n" + below + "\n");
      now += d.root ? " " + std::to_string(d.root->where.line) + (d.verdict.cause == Cause::not_oom ? "n" : "") : " -";
    }
    now += "\n";
  }
  expect_same(now, "pairs.txt");
}

std::string traceback(const std::string& frames) {
  return "Traceback (most recent call last):\n  File \"run.py\", line 9, in <module>\n    go()\n" + frames +
         "RuntimeError: CUDA error: out of memory\n";
}

std::string frame(const std::string& path, const std::string& function, const std::string& code) {
  return "  File \"" + path + "\", line 5, in " + function + "\n    " + code + "\n";
}

std::string phase_of_frame(const std::string& path, const std::string& function, const std::string& code) {
  return diagnosed(traceback(frame(path, function, code))).moment.phase;
}

/// A name that a rule with a star stands for.
std::string function_named(std::string rule) {
  std::replace(rule.begin(), rule.end(), '*', 'x');
  return rule;
}

// Every file, function and piece of code of rules/moments in a traceback.
TEST(Corpus, OfEveryMoment) {
  std::string now;
  for (const MomentText& moment : rules().moments) {
    for (const std::string& file : moment.files)
      now += moment.phase + " file " + file + ": " + phase_of_frame("a/" + file + "x.py", "f", "g()") + "\n";
    for (const std::string& function : moment.functions)
      now += moment.phase + " function " + function + ": " + phase_of_frame("m.py", function_named(function), "g()") +
             "\n";
    for (const std::string& code : moment.code)
      now += moment.phase + " code " + code + ": " + phase_of_frame("m.py", "f", "x = " + code + " 1") + "\n";
  }
  expect_same(now, "moments.txt");
}

// A frame of one moment within a frame of another.
TEST(Corpus, OfMomentsWithinMoments) {
  constexpr std::array<std::array<std::string_view, 3>, 9> frames{{
      {"torch/optim/adamw.py", "step", "adamw(params)"},
      {"torch/autograd/graph.py", "_engine_run_backward", "return run()"},
      {"run.py", "save_checkpoint", "torch.save(state)"},
      {"run.py", "evaluate", "out = model(x)"},
      {"torch/utils/data/dataloader.py", "__next__", "data = self._next_data()"},
      {"torch/nn/functional.py", "cross_entropy", "return nll(x)"},
      {"m.py", "f", "w = attn_weights.softmax(-1)"},
      {"m.py", "from_pretrained", "x()"},
      {"m.py", "forward", "y = self.conv(x)"},
  }};
  std::string now;
  for (const auto& outer : frames) {
    for (const auto& inner : frames) {
      const auto text = [](const auto& f) { return frame(std::string(f[0]), std::string(f[1]), std::string(f[2])); };
      now += std::string(outer[1]) + " > " + std::string(inner[1]) + ": " +
             diagnosed(traceback(text(outer) + text(inner))).moment.phase + "\n";
    }
  }
  expect_same(now, "moments_within.txt");
}

// Every launcher by each of its signs, with the name that it is to be asked for, where the log ends without a word.
TEST(Corpus, OfEveryLauncher) {
  std::string now;
  const auto ask = [&](const std::string& log) {
    for (const std::string& question : diagnosed(log).to_prove) now += "  " + question + "\n";
  };
  for (const LauncherText& launcher : rules().launchers) {
    for (const std::string& sign : launcher.signs) {
      now += launcher.name + " by " + sign + "\n";
      ask(sign + " x\nstep 3 loss 1.0\n");
    }
    for (const std::string& name : launcher.names) {
      now += launcher.name + " named after " + name + "\n";
      ask(launcher.signs.front() + " x\n" + name + "job-7.a and more\nstep 3 loss 1.0\n");
    }
  }
  expect_same(now, "launchers.txt");
}

/// Of labelled.txt: a log, and the causes that a good answer may have.
struct Labelled {
  std::string name{};
  std::vector<std::string> causes{};
  std::string log{};
};

std::vector<Labelled> labelled() {
  std::vector<Labelled> out;
  for (const std::string& line : lines_in(read("labelled.txt"))) {
    const std::size_t bar = line.find(" | ");
    if (!line.starts_with("=== ") || bar == std::string::npos) {
      if (!out.empty()) out.back().log += line + "\n";
      continue;
    }
    out.push_back({.name = line.substr(4, bar - 4)});
    std::istringstream causes(line.substr(bar + 3));
    for (std::string cause; causes >> cause;) out.back().causes.push_back(cause);
  }
  return out;
}

// Short logs of many systems, a third of them no out-of-memory, labelled before they were diagnosed.
TEST(Corpus, LabelledLogsHaveACauseOfTheirs) {
  const std::vector<Labelled> all = labelled();
  EXPECT_GT(all.size(), 300U);
  for (const Labelled& one : all) {
    const Diagnosis d = diagnosed(one.log);
    const std::string cause(name_of(d.verdict.cause));
    EXPECT_NE(std::find(one.causes.begin(), one.causes.end(), cause), one.causes.end())
        << one.name << " is " << cause << " " << name_of(d.verdict.confidence);
  }
}

// What is no report of a failure, and what failed otherwise, in the words of the sentences.
TEST(Corpus, LinesThatReportNoShortageHaveNone) {
  int lines = 0;
  for (const std::string& line : lines_in(read("negatives.txt"))) {
    if (line.starts_with("# Each line ")) continue;
    const Diagnosis d = diagnosed(line + "\n");
    EXPECT_FALSE(d.out_of_memory) << line << "\nis " << name_of(d.verdict.cause);
    EXPECT_NE(d.verdict.cause, Cause::disk_full) << line;
    EXPECT_NE(d.verdict.cause, Cause::sigkill_unknown) << line;
    ++lines;
  }
  EXPECT_GT(lines, 80);
}

}  // namespace
}  // namespace oomplan::diagnose
