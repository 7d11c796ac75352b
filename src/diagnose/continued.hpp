// Lines of the log joined with those that the same speaker goes on with, for sentences that were broken.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "line.hpp"

namespace oomplan::diagnose {

constexpr std::size_t most_joined_bytes = 4096;

/// The line on which line `index` may go on, of those after `from`: the next without a prefix of its own, or of the
/// same speaker; bars between them are passed over.
std::optional<std::size_t> next_of_speaker(const std::vector<Line>& lines, std::size_t index, std::size_t from);

/// A line with those that the same speaker goes on with, joined once for all sentences.
class Ahead {
 public:
  explicit Ahead(const std::vector<Line>& lines) : lines_(lines) {}

  /// Line `index` and the `joined` next; nothing where there are fewer. Holds until another line is asked for.
  std::optional<std::string_view> text(std::size_t index, std::size_t joined);

 private:
  const std::vector<Line>& lines_;
  std::size_t index_ = std::string::npos;
  std::size_t last_ = 0;
  std::string joined_{};
  std::vector<std::size_t> ends_{};
};

/// A line with those before it that it may go on from, and behind them what goes on from itself.
class Behind {
 public:
  explicit Behind(const std::vector<Line>& lines) : lines_(lines) {}

  /// Line `index` and the `back` lines before it; nothing where there are fewer.
  std::optional<std::string_view> text(std::size_t index, std::size_t back);
  bool goes_on() const { return end_ < joined_.size(); }
  /// `text` is what text() gave last.
  std::string_view with_next(std::string_view text) const {
    return std::string_view(joined_).substr(end_ - text.size());
  }

 private:
  void join(std::size_t index);

  const std::vector<Line>& lines_;
  std::size_t index_ = std::string::npos;
  std::string joined_{};
  std::size_t end_ = 0;                // of the line itself
  std::vector<std::size_t> begins_{};  // of the text with so many lines before it
};

}  // namespace oomplan::diagnose
