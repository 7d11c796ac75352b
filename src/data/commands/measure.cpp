#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "../command.hpp"
#include "../reading.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::data {
namespace {

using Json = nlohmann::ordered_json;
using measure::Watched;

constexpr std::string_view schema = "oomplan/profile/1";

struct Options {
  Reading reading{};
  Sampling sampling{};
  Tokenizing tokenizing{};
  std::string exec{};
  std::int64_t batch_size = 0;
};

Json or_null(const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(); }

Json json_of(const Watched& watched) {
  const measure::TreeMemory& memory = watched.memory;
  return {{"exit", watched.exit},
          {"seconds", watched.seconds},
          {"cpu_seconds", watched.cpu_seconds},
          {"memory",
           {{"peak_rss", memory.peak_rss},
            {"looks", memory.looks},
            {"pss", memory.pss},
            {"anonymous", memory.anonymous},
            {"shared", memory.shared},
            {"dev_shm", memory.dev_shm},
            {"own_cgroup", memory.own_cgroup},
            {"cgroup_peak", or_null(memory.cgroup_peak)},
            {"page_cache", or_null(memory.page_cache)},
            {"processes", memory.processes}}}};
}

std::string size_text(const std::optional<std::int64_t>& bytes) { return bytes ? to_text(Bytes(*bytes)) : "not known"; }

std::string text_of(const Watched& watched) {
  const measure::TreeMemory& memory = watched.memory;
  std::string out = fmt::format("{:.2f} s, {:.2f} s of CPU, at most {}\n", watched.seconds, watched.cpu_seconds,
                                counted(memory.processes, "process"));
  const auto row = [&](std::string_view name, const std::string& value, std::string_view note) {
    out += fmt::format("  {:<16} {:>12}  {}\n", name, value, note);
  };
  row("peak RSS", to_text(Bytes(memory.peak_rss)), "of the process that had most (VmHWM)");
  const auto seen = [&](std::int64_t bytes) { return memory.looks > 0 ? to_text(Bytes(bytes)) : "not seen"; };
  row("all together", seen(memory.pss), "what they share counted once (PSS)");
  row("  anonymous", seen(memory.anonymous), "");
  row("  shared", seen(memory.shared), "touched");
  row("/dev/shm", to_text(Bytes(memory.dev_shm)), "more than before, touched or not");
  row("cgroup peak", size_text(memory.cgroup_peak),
      memory.own_cgroup ? "exact, of these processes alone, page cache included"
                        : "with all else in the cgroup, since it began: none of its own may be made here");
  row("page cache", size_text(memory.page_cache), "of the cgroup, at the end");
  return out;
}

Outcome failed(const Options& options, const Diagnostics& errors) {
  return outcome_of(schema, Json::object(), "", options.reading.json, errors);
}

/// The user's own loader, whose output goes to standard error.
Outcome run_exec(const Options& options) {
  const Result<Watched> watched = measure::watch({"/bin/sh", "-c", options.exec}, false);
  if (!watched) return failed(options, watched.errors());
  Json body{{"command", printable(options.exec)}};
  body.update(json_of(*watched));
  Diagnostics diagnostics;
  if (watched->exit != 0) {
    diagnostics.push_back(
        {.code = "measure/failed", .message = "the command ended with exit code " + std::to_string(watched->exit)});
  }
  return outcome_of(schema, body, text_of(*watched), options.reading.json, diagnostics);
}

std::vector<std::string> reader(const Options& options) {
  const Reading& reading = options.reading;
  std::vector<std::string> words{"/proc/self/exe", "stream",       "--json",     "--sizes",
                                 "--budget",       reading.budget, "--on-error", reading.on_error};
  if (reading.threads > 0) words.insert(words.end(), {"--threads", std::to_string(reading.threads)});
  if (!reading.format.empty()) words.insert(words.end(), {"--format", reading.format});
  if (options.sampling.draws > 0) {
    words.insert(words.end(),
                 {"--sample", std::to_string(options.sampling.draws), "--seed", std::to_string(options.sampling.seed)});
  }
  if (options.tokenizing.tokens) words.emplace_back("--tokens");
  if (options.tokenizing.bytes_per_token > 0)
    words.insert(words.end(), {"--bytes-per-token", fmt::format("{}", options.tokenizing.bytes_per_token)});
  words.emplace_back("--");
  words.insert(words.end(), reading.paths.begin(), reading.paths.end());
  return words;
}

/// What the reader said, and what it took; batches as large as asked for.
void add_reading(Json& body, const Json& read, std::int64_t batch_size) {
  const Json& totals = read["read"];
  const double seconds = std::max(read["cost"]["seconds"].get<double>(), 1e-9);
  const auto rows = totals["rows"].get<double>();
  const auto decoded = totals["decoded_bytes"].get<double>();
  body["read"] = totals;
  body["row_bytes"] = read["row_bytes"];
  for (const char* key : {"tokens", "sample"}) {
    if (read.contains(key)) body[key] = read[key];
  }
  body["rows_per_second"] = rows / seconds;
  body["decoded_mb_per_second"] = decoded / 1e6 / seconds;
  body["compression"] = decoded / std::max(totals["file_bytes"].get<double>(), 1.0);
  if (batch_size <= 0) return;
  body["batch_bytes"] =
      static_cast<std::int64_t>(static_cast<double>(batch_size) * read["row_bytes"]["mean"].get<double>());
  body["longest_batch_bytes"] = saturating_mul(batch_size, read["row_bytes"]["longest"].get<std::int64_t>());
}

std::string reading_text(const Json& body) {
  const Json& sizes = body["row_bytes"];
  const auto sampled = body.contains("sample") ? std::optional(sampled_of(body["sample"])) : std::nullopt;
  std::string out =
      fmt::format("{}, {:.0f} a second, {:.0f} MB/s decoded, {:.2f} times the bytes on the disk\n",
                  counted(body["read"]["rows"].get<std::int64_t>(), "row"), body["rows_per_second"].get<double>(),
                  body["decoded_mb_per_second"].get<double>(), body["compression"].get<double>());
  out += lengths_text(measure::RowSizes{sizes["mean"], sizes["p50"], sizes["p99"], sizes["longest"]}, sampled);
  if (body.contains("tokens")) out += tokens_text(body["tokens"]);
  if (body.contains("batch_bytes")) {
    out += fmt::format("  a batch: {} on average, {} of the longest rows\n", to_text(Bytes(body["batch_bytes"])),
                       to_text(Bytes(body["longest_batch_bytes"])));
  }
  return out;
}

Outcome run_reader(const Options& options) {
  if (const auto checked = options_of(options.reading); !checked) return failed(options, checked.errors());
  const Result<Watched> watched = measure::watch(reader(options), true);
  if (!watched) return failed(options, watched.errors());
  const Json read = Json::parse(watched->out, nullptr, false);
  if (!read.is_object() || read["verdict"] != "answered") {
    Diagnostics errors;
    for (const Json& one : read.is_object() ? read["diagnostics"] : Json::array()) errors.push_back(diagnostic_of(one));
    if (errors.empty()) {
      errors.push_back(
          {.code = "measure/failed", .message = "the reader ended with exit code " + std::to_string(watched->exit)});
    }
    return failed(options, errors);
  }
  std::string paths;
  for (const std::string& path : options.reading.paths) paths += (paths.empty() ? "" : " ") + path;
  Json body{{"command", printable(paths)}};
  body.update(json_of(*watched));
  add_reading(body, read, options.batch_size);
  return outcome_of(schema, body, reading_text(body) + text_of(*watched), options.reading.json, {});
}

Outcome run_measure(const Options& options) {
  if (options.exec.empty() != options.reading.paths.empty()) {
    return options.exec.empty() ? run_reader(options) : run_exec(options);
  }
  return failed(options, {{.code = "cli/usage", .message = "measure takes either PATH or --exec"}});
}

}  // namespace

Command commands::measure(const ArgumentParser& program) {
  const ArgumentParser app =
      program.command("measure", "Measure what reading a dataset, or a loader of your own, takes")
          .in("Data")
          .examples({"oomplan measure data/*.parquet --json > profile.json",
                     "oomplan measure --exec 'python loader.py' --json"});
  auto options = std::make_shared<Options>();
  add_reading(app, options->reading);
  add_sampling(app, options->sampling);
  add_tokenizing(app, options->tokenizing);
  app.find("--tokens").excludes(app.find("--sample"));
  app.find("PATH").required(false);
  app.option("--exec", options->exec, "Measure this command with all its children instead").type_name("COMMAND");
  app.option("--batch-size", options->batch_size, "Also say what a batch of so many rows takes")
      .type_name("ROWS")
      .positive();
  return {app, [options] { return run_measure(*options); }};
}

}  // namespace oomplan::data
