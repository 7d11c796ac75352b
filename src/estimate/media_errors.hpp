// What a rule of a processor says of a picture or a sound that it cannot tell the size of.
#pragma once

#include <string>

#include "facts.hpp"

namespace oomplan::estimator {

/// estimate/unmodelled, where the plan says of the media.
inline Diagnostic undecided_media(const std::string& model, const std::string& message, const Images& media) {
  Diagnostic d;
  d.code = "estimate/unmodelled";
  d.message = model + ": " + message;
  d.where = media.at;
  return d;
}

}  // namespace oomplan::estimator
