// What a run needs under another version of its framework.
#pragma once

#include <string>

#include "oomplan/core/bytes.hpp"

namespace oomplan {

/// A version whose defaults move the peak. Sizes are those of one question: what is needed of a card, where one was
/// asked about, else the tensors' peak.
struct OtherVersion {
  std::string package{};  ///< "trl"
  std::string taken{};    ///< The version whose defaults are in the answer.
  std::string other{};
  Bytes needed{};         ///< With the other.
  bool at_least = false;  ///< The tensors alone are too much for the card, so `needed` is a bound from below.
  bool fits = false;      ///< On that card, with the headroom that is wanted.
  bool on_card = false;   ///< Whether a card was asked about.
};

}  // namespace oomplan
