// A model that sees: a vision tower and a language model, each by a file of its own, and what joins them.
#pragma once

#include "config_values.hpp"
#include "fields.hpp"
#include "oomplan/catalog/architecture.hpp"
#include "oomplan/catalog/catalog.hpp"

namespace oomplan::catalog {

struct Whole {
  const Document& config;
  Fields& fields;        ///< Of the architecture file.
  ConfigValues& values;  ///< What it declares.
  const Catalog& catalog;
};

/// Fills `out` with the language model that `language` names, the tower that `tower` names between its embedding and
/// its other steps, and the ops of `features` and `merge`. Keys of the parts are known there as "$language.hidden_size"
/// and
/// "$tower.hidden_size".
void read_parts(const Whole& whole, Architecture& out);

}  // namespace oomplan::catalog
