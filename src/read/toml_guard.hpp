// A look over TOML before toml++ sees it.
#pragma once

#include "oomplan/document.hpp"
#include "source.hpp"

namespace oomplan::read {

/// Refuses text with more key parts and array items than the budget has nodes, or keys and brackets that nest deeper
/// than it allows. toml++ has no events and no limit on dotted keys: `a.a.a. ... = 1` makes a tree whose destructor
/// overflows the stack. Says nothing about whether the text is TOML.
void guard_toml(const Source& source, const ReadBudget& budget);

}  // namespace oomplan::read
