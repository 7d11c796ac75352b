// The options of reading, which every command takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oomplan/arguments/arguments.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/measure/measure.hpp"

namespace oomplan::data {

struct Reading {
  std::vector<std::string> paths{};
  std::string budget{"256MiB"};
  std::string format{};
  std::string on_error{"stop"};
  int threads = 0;  ///< 0 for one a core.
  bool json = false;
};

void add_reading(const ArgumentParser& app, Reading& reading);

/// What rows are to a tokenizer.
struct Tokenizing {
  bool tokens = false;
  double bytes_per_token = 0;  ///< 0 where it is not known.
};
void add_tokenizing(const ArgumentParser& app, Tokenizing& tokenizing);

/// A part of the dataset instead of all of it.
struct Sampling {
  std::int64_t draws = 0;  ///< 0 for all of it.
  std::uint64_t seed = 1;
};
void add_sampling(const ArgumentParser& app, Sampling& sampling);

/// Skipped rows are told on standard error as they come, progress there too where it is a terminal.
/// Errors: cli/bad-size, cli/usage.
Result<measure::ReadOptions> options_of(const Reading& reading);

}  // namespace oomplan::data
