// One function a syntax: the source onto the tape. Each throws Refused, and nothing else, on bad input.
#pragma once

#include "source.hpp"
#include "tape.hpp"

namespace oomplan::read {

void parse_yaml(const Source& source, Tape& tape);
void parse_json(const Source& source, Tape& tape);
void parse_toml(const Source& source, Tape& tape);

/// Refuses text that no config syntax allows: empty, not UTF-8, with control characters.
void check_text(const Source& source);

}  // namespace oomplan::read
