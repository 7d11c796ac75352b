// The text of a log, block by block, in bounded memory whatever the size of the file or of a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "oomplan/core/result.hpp"

namespace oomplan {

/// How many '\n' are in `text`.
std::int64_t count_newlines(std::string_view text);

/// Reads a file, "-" for standard input, or a pipe; gzip and zstd, several members too, are recognised by content, and
/// UTF-16 with a byte order mark (what PowerShell writes) becomes UTF-8, of W&B's own file of a run (run-ID.wandb)
/// it is what the run printed, and of TensorBoard's event files a line for each step. Errors:
/// read/missing, read/not-a-file, read/unreadable   as for a config
/// read/damaged    compressed data that is cut short or broken; all text before it was handed out
class LogText {
 public:
  /// The most bytes of a block, and so of a line in one piece.
  static constexpr std::size_t most = std::size_t{256} << 10;

  /// All of it; or what a tracker's own file has beside the terminal's copy, W&B's how the run ended, TensorBoard's
  /// its steps, and nothing of any other file.
  enum class Part { all, of_tracker };

  static Result<LogText> open(const std::string& path, Part part = Part::all);
  /// A log already in memory, which must outlive this; not unpacked.
  static LogText from_memory(std::string_view bytes);
  LogText(LogText&&) noexcept;
  LogText& operator=(LogText&&) noexcept;
  ~LogText();

  /// Whether what is in it begins as a pickle does; before anything is read.
  bool is_pickle();
  /// The bytes as they are, for what is no text: up to `room` (> 0) of them, 0 at the end. Not together with next().
  Result<std::size_t> read_bytes(char* out, std::size_t room);

  /// The next run of whole lines as they stand in the log, ends included; nothing at the end. Only the last may lack
  /// its end, and a line longer than a block is cut, at a carriage return where there is one. The view holds until the
  /// next call.
  Result<std::optional<std::string_view>> next();

 private:
  struct State;
  explicit LogText(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace oomplan
