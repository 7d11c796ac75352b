// Who of several people wrote a line, in a thread that was copied as a whole.
#pragma once

#include <cstddef>
#include <vector>

#include "line.hpp"
#include "oomplan/diagnose/evidence.hpp"
#include "wording.hpp"

namespace oomplan::diagnose {

/// The posts of a thread, each of which begins with its writer's name: "bob commented on Jan 5", "alice · comment ·
/// 2024-03-01", "On Friday Eve wrote:". What stands in one is another run than what stands in the next.
class Posts {
 public:
  Posts(const Wordings& wordings, const std::vector<Line>& lines);

  /// Whether both stand in one post, and nobody says "I" between them.
  bool are_together(const Evidence& a, const Evidence& b) const;

  /// Whether `later` stands in a post behind that of `e`, in the same file.
  bool is_of_a_later(const Evidence& later, const Evidence& e) const;

 private:
  std::vector<int> post_{};    ///< By line.
  std::vector<int> speech_{};  ///< How often somebody had spoken before it.
};

}  // namespace oomplan::diagnose
