// What a log shows of a run's settings, however they are written there.
#pragma once

#include <string>
#include <string_view>

namespace oomplan::diagnose {

/// Whether a part of a configuration of that name is of another phase than training: "inference", "EvalConfig".
bool is_of_another_phase(std::string_view section);

/// A line that is looked through for many settings; it must outlive this.
class SettingsLine {
 public:
  /// `elsewhere`: the line stands in such a part.
  explicit SettingsLine(std::string_view line, bool elsewhere = false);

  /// Whether the line sets "name value|value": "name=value", "--name value", "'name': value", "name .... value", in any
  /// letters, "-" and "_" alike. The value "on" is true, yes, 1, and an option without a value. A path's name sets
  /// nothing, and "inference: {name: value}" nothing of training.
  bool sets(std::string_view setting) const { return tells(setting, true); }
  /// Whether it sets the name to another value.
  bool sets_otherwise(std::string_view setting) const { return tells(setting, false); }

 private:
  bool tells(std::string_view setting, bool as_said) const;

  std::string_view line_;
  bool elsewhere_ = false;
  std::string plain_;  // in small letters, with "_" for "-"
};

}  // namespace oomplan::diagnose
