#include "versions_option.hpp"

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

}  // namespace

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
    } else {
      options.unread.insert(options.unread.end(), pins.errors().begin(), pins.errors().end());
    }
  }
}

}  // namespace oomplan::cli
