// The calls of a script by which Unsloth trains, as keys.
#pragma once

#include "../../dialect.hpp"

namespace oomplan::ingestion::unsloth {

/// A call of a trainer, and what its run does.
struct Trainer {
  std::string_view name{};
  std::string_view config{};   ///< The class of its `args`.
  std::string_view feature{};  ///< What is not played of it; empty: it is.
};

/// Null for another name.
const Trainer* find_trainer(std::string_view name);

extern const ScriptForm form;

}  // namespace oomplan::ingestion::unsloth
