// Whether a file is a text that explains failures to whoever reads it, and neither a log nor the report of a run.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "line.hpp"
#include "wording.hpp"

namespace oomplan::diagnose {

/// What kind of text a file is, by the words that such texts have: `article`, in which no failure is anybody's; `talk`,
/// in which one may be; `other`, which a log is, and whatever somebody writes of a run of his own.
enum class Writing : std::uint8_t { other, talk, article };

/// The kinds of the files among lines, which outlive it as the lists do; each is found once.
class Articles {
 public:
  Articles(const Wordings& wordings, const std::vector<Line>& lines) : wordings_(wordings), lines_(lines) {}

  Writing of(int file);

 private:
  const Wordings& wordings_;
  const std::vector<Line>& lines_;
  std::map<int, Writing> known_{};
};

}  // namespace oomplan::diagnose
