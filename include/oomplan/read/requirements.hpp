// The versions that a requirements or lock file pins, and those that an environment has.
#pragma once

#include <string>
#include <vector>

#include "oomplan/core/result.hpp"

namespace oomplan {

/// A package and the one version that it has.
struct Pin {
  std::string package{};  ///< In lower case, with '-' for '_' and '.', as PyPI compares names.
  std::string version{};  ///< As written.
  Location where{};
  friend bool operator==(const Pin&, const Pin&) = default;
};

/// A package and what its version may be.
struct PinRange {
  std::string package{};  ///< As in Pin.
  std::string range{};    ///< "~=0.19.1", ">=0.19,<0.20": terms of PEP 440, without space.
  bool marked = false;    ///< Only where an environment marker holds, which nobody evaluates.
  Location where{};
  friend bool operator==(const PinRange&, const PinRange&) = default;
};

/// "trl~=0.19.1", with extras, a marker or a comment around it; nothing where a line pins one version.
std::vector<PinRange> ranges_of_requirements(const std::string& text, const std::string& file);

/// Those of a requirements.txt, of the lists of a setup.py, or of what [project] of a pyproject.toml and its groups
/// depend on; none of another file, or of one that cannot be read, of which read_pins says why.
std::vector<PinRange> read_ranges(const std::string& path);

/// "trl==1.16.0", with extras, a marker, hashes or a comment around it; nothing where a line pins none.
/// A range (`>=`) pins none.
std::vector<Pin> pins_of_requirements(const std::string& text, const std::string& file);

/// The pins of a requirements.txt, or, by the name's end, of a uv.lock, poetry.lock or pylock.toml, whose [[package]]
/// or [[packages]] have a name and a version; and of a pyproject.toml, what [project] and its groups depend on. Of a
/// folder, an environment of Python or its site-packages, what is installed there, by the names of the *.dist-info
/// folders (PyPA: Recording installed projects). Errors: those of read_document; read/no-packages.
Result<std::vector<Pin>> read_pins(const std::string& path);

}  // namespace oomplan
