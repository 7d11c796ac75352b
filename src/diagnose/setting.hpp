// What a log shows of a run's settings, however they are written there.
#pragma once

#include <string>
#include <string_view>

namespace oomplan::diagnose {

/// A line that is looked through for many settings; it must outlive this.
class SettingsLine {
 public:
  explicit SettingsLine(std::string_view line);

  /// Whether the line sets "name value|value": "name=value", "--name value", "'name': value", "name .... value", in any
  /// letters, "-" and "_" alike. The value "on" is true, yes, 1, and an option without a value.
  bool sets(std::string_view setting) const { return tells(setting, true); }
  /// Whether it sets the name to another value.
  bool sets_otherwise(std::string_view setting) const { return tells(setting, false); }

 private:
  bool tells(std::string_view setting, bool as_said) const;

  std::string_view line_;
  std::string plain_;  // in small letters, with "_" for "-"
};

}  // namespace oomplan::diagnose
