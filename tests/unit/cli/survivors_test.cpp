#include "survivors.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <vector>

namespace oomplan::cli {
namespace {

[[noreturn]] void die_of(int signal) {
  std::signal(signal, SIG_DFL);  // sanitizers have handlers of their own
  std::raise(signal);
  ::_exit(1);
}

struct Answers {
  std::vector<int> done{};
  std::vector<int> lost{};
};

// What the process that goes on knows, of tasks that end theirs by these signals; 0 for none.
Answers answers_of(const std::vector<int>& signals) {
  Answers out{std::vector<int>(signals.size()), std::vector<int>(signals.size())};
  for_each_surviving(
      signals.size(),
      [&](std::size_t i) {
        if (signals[i] != 0) die_of(signals[i]);
        out.done[i] = 1;
      },
      [&](std::size_t i, int signal) { out.lost[i] = signal; });
  return out;
}

[[noreturn]] void exit_with(bool good) { ::_exit(good ? 42 : 1); }

TEST(Survivors, ATaskThatEndsItsProcessEndsNoOther) {
  const auto run = [] {
    const std::vector<int> signals{0, SIGSEGV, 0, SIGFPE, SIGABRT, 0, 0, SIGSEGV};
    const Answers answers = answers_of(signals);
    exit_with(answers.lost == signals && answers.done == std::vector{1, 0, 1, 0, 0, 1, 1, 0});
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(42), "");
}

TEST(Survivors, EndAsTheChildEnds) {
  EXPECT_EXIT((answers_of({0, 0}), ::_exit(7)), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(exit_with(answers_of({}).done.empty()), testing::ExitedWithCode(42), "");
  EXPECT_EXIT(answers_of({SIGTERM, 0}), testing::KilledBySignal(SIGTERM), "") << "somebody's wish, no bug";
  EXPECT_EXIT((answers_of({0}), die_of(SIGABRT)), testing::KilledBySignal(SIGABRT), "") << "in no task";
}

TEST(Survivors, AnExceptionIsThrownOn) {
  const auto run = [] {
    try {
      for_each_surviving(
          3, [](std::size_t) { throw std::runtime_error("no"); }, [](std::size_t, int) {});
    } catch (const std::runtime_error&) {
      exit_with(true);
    }
    exit_with(false);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(42), "");
}

}  // namespace
}  // namespace oomplan::cli
