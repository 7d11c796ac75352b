#include "options.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "oomplan/estimate/fit_check.hpp"
#include "oomplan/ingest/version_range.hpp"
#include "oomplan/plan/trainer.hpp"
#include "oomplan/read/requirements.hpp"

namespace oomplan::cli {
namespace {

std::string wrong_pin(const std::string& text) {
  const bool one = text.find_first_of(",; \t") == std::string::npos && pins_of_requirements(text, {}).size() == 1;
  return one ? "" : "expected NAME==VERSION, as in transformers==5.14.1";
}

void add(const std::vector<Pin>& pins, bool asked, IngestOptions& options) {
  for (const Pin& pin : pins) options.versions.push_back({pin.package, pin.version, pin.where, asked});
}

Diagnostic of_range(const PinRange& pin, std::string_view code, std::string message) {
  return {Severity::warning,
          std::string(code),
          pin.package + pin.range + ": " + std::move(message),
          pin.where,
          "--framework " + pin.package + "==… says which version runs",
          {}};
}

// The newest known version, where a range leaves that, is taken anyway.
void add_ranges(const std::vector<PinRange>& ranges, IngestOptions& options) {
  for (const PinRange& pin : ranges) {
    const auto version = version_of_range(pin.package, pin.range);
    const bool named = std::ranges::count(options.versions, pin.package, &NamedVersion::package) > 0;
    if (!version || named) continue;
    if (pin.marked) {
      options.unread.push_back(of_range(pin, "ingest/unused-version",
                                        "environment markers are not evaluated, so that this names no version"));
      continue;
    }
    options.versions.push_back({pin.package, version->version, pin.where, false});
    if (version->several)
      options.unread.push_back(
          of_range(pin, "ingest/assumed-version", "read as " + version->version + ", the newest known that it leaves"));
  }
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// huggingface_hub/constants.py: each variable over the next, "~" at the front as the shell has it.
std::string hub_cache() {
  const std::string home = variable("HOME");
  const auto expanded = [&home](std::string path) {
    if (path == "~" || path.starts_with("~/")) path.replace(0, 1, home);
    return path;
  };
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"})
    if (const std::string path = variable(name); !path.empty()) return expanded(path);
  if (const std::string path = variable("HF_HOME"); !path.empty()) return expanded(path) + "/hub";
  if (const std::string path = variable("XDG_CACHE_HOME"); !path.empty()) return expanded(path) + "/huggingface/hub";
  return home.empty() ? "" : home + "/.cache/huggingface/hub";
}

}  // namespace

Option add_trainer_option(const ArgumentParser& app, std::string& trainer) {
  std::vector<std::string> names;
  for (const TrainerName& one : trainer_names) names.emplace_back(one.name);
  return app.option("--trainer", trainer, "The trainer that reads the config: sft, dpo, kto, … or trainer")
      .among(names)
      .type_name("NAME");
}

Option add_launch_option(const ArgumentParser& app, std::vector<std::string>& files) {
  return app
      .option("--launch", files, "What starts the run: accelerate's launcher config, DeepSpeed's JSON (repeatable)")
      .repeatable()
      .type_name("FILE");
}

Option add_set_option(const ArgumentParser& app, std::vector<std::string>& overrides) {
  return app.option("--set", overrides, "Change one thing in the config first (repeatable)")
      .repeatable()
      .type_name("KEY=VALUE");
}

std::string dialect_help() {
  const auto names = dialects();
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + std::string(names[i]);
  }
  return out + "; else recognised from the content";
}

void add_models_option(const ArgumentParser& app, std::string& directory) {
  app.option("--models", directory, "A directory of your own GPUs, presets and architectures").type_name("DIR");
}

Result<Catalog> catalog_in(const std::string& directory) {
  return directory.empty() ? Result<Catalog>(Catalog{}) : read_models(directory);
}

Result<Catalog> catalog_here(const std::string& directory) {
  Result<Catalog> out = catalog_in(directory);
  if (out) out->hub_cache = hub_cache();
  return out;
}

void add_version_options(const ArgumentParser& app, VersionsAsked& asked) {
  app.option("--framework", asked.frameworks, "Take the defaults of this version, else the newest (repeatable)")
      .repeatable()
      .checked(wrong_pin)
      .type_name("NAME==VERSION");
  app.option(
         "--requirements", asked.requirements,
         "Take the versions that a requirements.txt, uv.lock or poetry.lock pins, or that a virtual environment has "
         "(repeatable)")
      .repeatable()
      .type_name("FILE|FOLDER");
}

void name_versions(const VersionsAsked& asked, IngestOptions& options) {
  for (const std::string& text : asked.frameworks) {
    std::vector<Pin> pins = pins_of_requirements(text, {});
    for (Pin& pin : pins) pin.where = {"--framework " + text, 0, 0};
    add(pins, true, options);
  }
  for (const std::string& path : asked.requirements) {
    const auto pins = read_pins(path);
    if (pins) {
      add(*pins, false, options);
      add_ranges(read_ranges(path), options);
    } else {
      options.unread.insert(options.unread.end(), pins.errors().begin(), pins.errors().end());
    }
  }
}

void name_versions_beside(const std::string& config, IngestOptions& options, const MayRead& may_read) {
  constexpr std::array<std::string_view, 5> files{"uv.lock", "poetry.lock", "pylock.toml", "requirements.txt",
                                                  "pyproject.toml"};
  const auto folder = std::filesystem::path(config).parent_path();
  for (const std::string_view file : files) {
    const std::filesystem::path path = folder / file;
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error) || (may_read && !may_read(path.string()))) continue;
    const auto pins = read_pins(path.string());
    if (pins) {
      add(*pins, false, options);
      add_ranges(read_ranges(path.string()), options);
    } else {
      for (Diagnostic unread : pins.errors()) {  // Nobody asked for this file.
        unread.severity = Severity::warning;
        options.unread.push_back(std::move(unread));
      }
    }
  }
}

Diagnostic bad_headroom(const std::string& text) {
  return {.code = "cli/bad-size",
          .message = "--headroom takes a percentage, not '" + text + "'",
          .hint = std::string(headroom_hint)};
}

}  // namespace oomplan::cli
