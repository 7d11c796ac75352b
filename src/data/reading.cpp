#include "reading.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "heap.hpp"
#include "oomplan/core/text.hpp"
#include "progress.hpp"

namespace oomplan::data {
namespace {

std::string names_of_formats() {
  std::string out;
  for (const std::string_view name : measure::format_names()) out += (out.empty() ? "" : ", ") + std::string(name);
  return out;
}

}  // namespace

void add_reading(const ArgumentParser& app, Reading& reading) {
  app.option("PATH", reading.paths, "Files, directories, globs; - reads standard input").required();
  app.option("--budget", reading.budget, "The most memory for the whole process (256MiB)").type_name("SIZE");
  app.option("--format", reading.format, "Read every file as this, whatever it looks like").type_name("NAME");
  app.option("--on-error", reading.on_error, "stop (where it is left out) or skip, at a row that cannot be read");
  app.option("--threads", reading.threads, "At most so many (one a core); the budget is shared by them")
      .between(1, 1024)
      .type_name("N");
  app.flag("--json", reading.json, "Print one JSON object");
}

void add_tokenizing(const ArgumentParser& app, Tokenizing& tokenizing) {
  const Option tokens = app.flag("--tokens", tokenizing.tokens,
                                 "Also say how long the rows' text and lists of tokens are, column by column");
  app.option("--bytes-per-token", tokenizing.bytes_per_token, "Of your tokenizer on such text")
      .type_name("NUMBER")
      .between(0.1, 1000.0)
      .needs(tokens);
}

// Below sixteen draws the interval is not what it says (sample_test).
void add_sampling(const ArgumentParser& app, Sampling& sampling) {
  const Option sample =
      app.option("--sample", sampling.draws, "Read only so many blocks, drawn at random, and say what all of it has")
          .type_name("BLOCKS")
          .between(16, 10'000);
  app.option("--seed", sampling.seed, "Draw others (1)").type_name("NUMBER").needs(sample);
}

Result<measure::ReadOptions> options_of(const Reading& reading) {
  Diagnostics errors;
  const auto budget = parse_bytes(reading.budget);
  if (!budget)
    errors.push_back({.code = "cli/bad-size", .message = "--budget takes a size, not '" + reading.budget + "'"});
  const auto formats = measure::format_names();
  if (!reading.format.empty() && std::ranges::find(formats, reading.format) == formats.end()) {
    errors.push_back({.code = "cli/usage",
                      .message = "there is no format '" + reading.format + "'",
                      .hint = "one of " + names_of_formats()});
  }
  if (reading.on_error != "stop" && reading.on_error != "skip") {
    errors.push_back({.code = "cli/usage", .message = "--on-error takes stop or skip, not '" + reading.on_error + "'"});
  }
  if (!errors.empty()) return errors;
  keep_heap_within(*budget);
  measure::ReadOptions options{
      .budget = *budget, .format = reading.format, .threads = reading.threads, .skip_bad = reading.on_error == "skip"};
  options.on_skip = [](Diagnostic error) {
    error.severity = Severity::warning;
    std::fputs(to_text(error).c_str(), stderr);
  };
  if (isatty(STDERR_FILENO)) {
    auto progress = std::make_shared<Progress>();
    options.on_progress = [progress](std::int64_t rows, std::int64_t decoded) { progress->show(rows, decoded); };
    options.on_share = [progress](double share) { progress->reached(share); };
  }
  return options;
}

}  // namespace oomplan::data
