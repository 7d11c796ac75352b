#include "direction.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace oomplan::house {
namespace {

using Names = std::set<std::string_view>;

// Public headers stand in the folder of the stage that defines what they declare. Those of core, and these of others,
// are values: everyone's.
const Names values{
    "plan/plan.hpp",           "plan/choices.hpp",      "plan/mesh.hpp",          "plan/phase.hpp",
    "plan/texts.hpp",          "plan/gpu_count.hpp",    "plan/trainer.hpp",       "plan/loader_plan.hpp",
    "plan/loader_profile.hpp", "catalog/machine.hpp",   "catalog/runtime.hpp",    "catalog/architecture.hpp",
    "catalog/older_code.hpp",  "catalog/optimizer.hpp", "estimate/events.hpp",    "estimate/footprint.hpp",
    "estimate/verdict.hpp",    "plan/rollout.hpp",      "diagnose/evidence.hpp",  "diagnose/memory_account.hpp",
    "advise/advice.hpp",       "survey/sweep.hpp",      "survey/gate.hpp",        "survey/other_version.hpp",
    "survey/room.hpp",         "survey/lengths.hpp",    "survey/worlds.hpp",      "survey/layout.hpp",
    "survey/mesh_layout.hpp",  "report/outlook.hpp",    "compare/comparison.hpp", "calibrate/calibration.hpp"};

// The stages whose headers a stage may include, beside its own and the values.
const std::map<std::string_view, Names> stages{
    {"core", {}},
    {"read", {}},
    {"plan", {"read"}},
    {"ingest", {"read", "plan"}},
    {"catalog", {"read"}},
    {"estimate", {"catalog", "read"}},  // of read, a recorded snapshot
    {"measure", {"read"}},
    {"diagnose", {"read"}},
    {"compare", {"read", "estimate", "diagnose"}},
    {"calibrate", {"read"}},
    {"advise", {"read", "plan", "ingest", "catalog", "estimate", "diagnose"}},
    {"watch", {}},
    {"survey", {"read", "plan", "ingest", "catalog", "estimate"}},
    {"report", {"plan", "estimate"}},  // its values: Fit
    {"arguments", {}},
    {"data", {"arguments", "measure"}},
    {"native", {"measure"}},  // of python/
    {"answers", {"cli", "report"}},
    {"cli",
     {"arguments", "read", "plan", "ingest", "catalog", "estimate", "measure", "diagnose", "compare", "calibrate",
      "advise", "survey", "watch", "report"}},
};

// Libraries by how their headers begin, and what touches the world: everything but these stages is pure.
const std::map<std::string_view, Names> foreign{
    {"fmt/", {"core", "estimate", "diagnose", "compare", "watch", "report", "cli", "data"}},
    {"nlohmann/", {"read", "report", "data"}},
    {"CLI/", {"arguments"}},
    {"Eigen/", {"estimate"}},
    {"arrow/", {"measure"}},
    {"nanobind/", {"native", "answers"}},
    {"datetime.h", {"native"}},  // Python's
    {"parquet/", {"measure"}},
    {"simdjson.h", {"measure"}},
    {"zstd.h", {"read", "measure"}},
    {"zstd_errors.h", {"read"}},
    {"bzlib.h", {"read"}},
    {"lzma.h", {"read"}},
    {"zlib.h", {"read", "measure"}},
    {"xxhash.h", {"measure"}},
    {"re2/", {"diagnose"}},
    {"fcntl.h", {"watch", "read", "measure", "cli", "data"}},
    {"unistd.h", {"watch", "read", "measure", "cli", "data"}},
    {"dirent.h", {"watch", "read", "measure", "cli"}},
    {"signal.h", {"watch", "measure", "cli", "data"}},
    {"spawn.h", {"cli"}},
    {"crt_externs.h", {"cli"}},  // macOS's environ
    {"sys/", {"watch", "read", "measure", "cli"}},
    {"filesystem", {"read", "catalog", "diagnose", "measure", "cli"}},
    {"fstream", {"read", "measure", "cli"}},
    {"iostream", {"cli"}},
    {"cstdio", {"watch", "read", "measure", "cli", ".", "data"}},
    {"chrono", {"watch", "measure", "cli", "data", "diagnose"}},  // diagnose: calendars only
    {"ctime", {"watch", "measure", "cli"}},
    {"thread", {"watch", "measure", "estimate", "cli"}},
    {"malloc.h", {"measure", "data"}},
    {"random", {"measure"}},
    {"dlfcn.h", {"watch"}},
    {"poll.h", {"watch"}},
    {"termios.h", {"watch"}},
};

// In these folders each file is one of a kind, and knows none of the others.
const Names registries{"ingest/dialects", "estimate/ops",    "report/views",
                       "cli/commands",    "measure/sources", "diagnose/causes"};

struct Include {
  std::string_view name;
  bool quoted = false;
};

std::vector<Include> includes_of(std::string_view text) {
  std::vector<Include> out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t open = line.find_first_of("<\"");
    if (line.find_first_not_of(" \t") != line.find('#') || line.find("include") == std::string_view::npos) continue;
    if (open == std::string_view::npos) continue;
    const std::size_t close = line.find(line[open] == '<' ? '>' : '"', open + 1);
    out.push_back({line.substr(open + 1, close - open - 1), line[open] == '"'});
  }
  return out;
}

std::string_view stage_of(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? "." : path.substr(0, slash);  // main.cpp is in no stage
}

std::string folder_of(std::string_view path) { return std::filesystem::path(path).parent_path().string(); }

bool is_value(std::string_view header) { return stage_of(header) == "core" || values.contains(header); }

// Why `stage` may not include the public header; empty where it may.
std::string public_objection(std::string_view stage, std::string_view header) {
  const std::string_view owner = stage_of(header);
  if (is_value(header)) return "";
  if (owner == "." || !stages.contains(owner)) return "include/oomplan has a folder for each stage";
  const bool may =
      owner == stage || (stage == "." ? owner == "cli" || owner == "data" : stages.at(stage).contains(owner));
  return may ? "" : "it is of stage " + std::string(owner);
}

std::string foreign_objection(std::string_view stage, std::string_view header) {
  for (const auto& [begins, users] : foreign) {
    const bool folder = begins.ends_with('/');
    if (folder ? !header.starts_with(begins) : header != begins) continue;
    return users.contains(stage) ? "" : "only other stages use that";
  }
  return header.find_first_of("./") == std::string_view::npos ? "" : "this library is no stage's";
}

// What a quoted include means: beside the file, or from the stage's folder.
std::string resolved(std::string_view path, std::string_view name, const std::vector<std::string>& files) {
  const std::string beside = (std::filesystem::path(folder_of(path)) / name).lexically_normal().string();
  const std::string below = (std::filesystem::path(stage_of(path)) / name).lexically_normal().string();
  return std::find(files.begin(), files.end(), beside) != files.end() ? beside : below;
}

bool generated(std::string_view name) { return name.starts_with("registry/"); }

std::string own_objection(std::string_view path, std::string_view name, const std::vector<std::string>& files) {
  const std::string target = resolved(path, name, files);
  if (stage_of(target) != stage_of(path)) return "it is in another stage's folder";
  if (std::find(files.begin(), files.end(), target) == files.end()) return "there is no such file";
  const bool itself = std::filesystem::path(target).stem() == std::filesystem::path(path).stem();
  const bool sideways = folder_of(target) == folder_of(path) && registries.contains(folder_of(path)) && !itself;
  return sideways ? "it is its neighbour" : "";
}

std::string objection(std::string_view path, const Include& include, const std::vector<std::string>& files) {
  constexpr std::string_view ours = "oomplan/";
  const std::string_view stage = stage_of(path);
  if (!include.quoted) return foreign_objection(stage, include.name);
  if (include.name.starts_with(ours)) return public_objection(stage, include.name.substr(ours.size()));
  return generated(include.name) ? "" : own_objection(path, include.name, files);
}

std::string sentence(std::string_view path, const Include& include, std::string_view why) {
  return std::string(path) + " may not include " + std::string(include.name) + ": " + std::string(why);
}

}  // namespace

std::vector<std::string> violations(std::string_view path, std::string_view text,
                                    const std::vector<std::string>& files) {
  const std::string_view stage = stage_of(path);
  if (stage != "." && !stages.contains(stage)) return {"src/" + std::string(stage) + " is no stage of the design"};
  std::vector<std::string> out;
  for (const Include& include : includes_of(text)) {
    const std::string why = objection(path, include, files);
    if (!why.empty()) out.push_back(sentence(path, include, why));
  }
  return out;
}

// A value knows only values; what a stage offers may speak of what the stage may know. No library is public.
std::vector<std::string> header_violations(std::string_view path, std::string_view text) {
  const std::string_view folder = stage_of(path);
  if (!stages.contains(folder)) {
    return {std::string(path) + " is in no folder of a stage"};
  }
  const std::string_view stage = is_value(path) ? "core" : folder;
  std::vector<std::string> out;
  for (const Include& include : includes_of(text)) {
    const bool library = !include.quoted && include.name.find_first_of("./") != std::string_view::npos;
    const std::string why = library ? "no library is public" : objection(std::string(stage) + "/x.hpp", include, {});
    if (!why.empty()) out.push_back(sentence(path, include, why));
  }
  return out;
}

}  // namespace oomplan::house
