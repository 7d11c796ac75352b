// Event lists whose true reserved memory is known, and replays held against them. Shared by reserved_accuracy and the
// tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/estimate/allocator.hpp"

namespace oomplan::replayed {

/// What a replay comes to. Bytes, and counts.
struct Result {
  std::int64_t peak_allocated = 0;
  std::int64_t peak_reserved = 0;
  std::int64_t end_allocated = 0;
  std::int64_t end_reserved = 0;
  std::int64_t device_allocs = 0;
  std::int64_t device_frees = 0;
  std::int64_t retries = 0;
  struct Failure {
    std::int64_t event = 0;  ///< The line of the first one that failed, from 0.
    OutOfMemory out_of_memory{};
  };
  std::optional<Failure> failure{};
};

struct Case {
  std::string id{};
  std::string events{};  ///< The list's path.
  std::string conf{};
  Card card{};
  Result truth{};
};

/// The cases of a truth file, and a replay of one up to its first failure. Both throw std::exception where a file or
/// the settings cannot be read.
std::vector<Case> read_truth(const std::string& path);
Result play(const Case& c);

struct Difference {
  std::string what{};
  std::string played{};
  std::string truth{};
};

struct Outcome {
  std::vector<Difference> wrong{};
  double worst = 0;  ///< The largest error among the bytes, in %.
  bool exact() const { return wrong.empty(); }
};

Outcome compare(const Case& c, const Result& played);

}  // namespace oomplan::replayed
