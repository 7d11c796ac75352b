// One function a syntax: the source onto the tape, or of a script to the root. Each throws Refused, and nothing else,
// on bad input.
#pragma once

#include <string>
#include <vector>

#include "source.hpp"
#include "tape.hpp"

namespace oomplan::read {

void parse_yaml(const Source& source, Tape& tape);
void parse_json(const Source& source, Tape& tape);
void parse_toml(const Source& source, Tape& tape);

/// A script's calls and assignments, as Document says.
Node parse_python(const Source& source, const ReadBudget& budget);

/// The code cells of a notebook, whose JSON `source` is, as one script.
struct NotebookCode {
  std::string text{};
  std::vector<DocumentPart> parts{};
};
NotebookCode notebook_code(const Source& source, ReadBudget budget);

/// Refuses text that no config syntax allows: empty, not UTF-8, with control characters.
void check_text(const Source& source);

}  // namespace oomplan::read
