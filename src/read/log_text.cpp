#include "oomplan/read/log_text.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "byte_source.hpp"
#include "oomplan/core/last_byte.hpp"
#include "pickle.hpp"
#include "tensorboard_log.hpp"
#include "utf16.hpp"
#include "wandb_log.hpp"

namespace oomplan {

// Sixteen lanes of bytes at a time, which every compiler turns into the machine's vectors.
std::int64_t count_newlines(std::string_view text) {
  using Lanes = unsigned char __attribute__((vector_size(16)));
  std::int64_t count = 0;
  std::size_t at = 0;
  while (at + 16 <= text.size()) {
    const std::size_t end = at + std::min<std::size_t>((text.size() - at) / 16, 255) * 16;
    Lanes sums{};
    for (; at < end; at += 16) {
      Lanes chunk;
      std::memcpy(&chunk, text.data() + at, sizeof chunk);
      sums -= static_cast<Lanes>(chunk == '\n');
    }
    for (int lane = 0; lane < 16; ++lane) count += sums[lane];
  }
  for (; at < text.size(); ++at) count += text[at] == '\n' ? 1 : 0;
  return count;
}

namespace {

/// A log that is cut short or broken is still a log up to there.
Diagnostics of_a_log(Diagnostics errors) {
  for (Diagnostic& error : errors) {
    if (error.code != "read/truncated" && error.code != "read/damaged") continue;
    error.code = "read/damaged";
    error.message += "; what stands before that was read";
  }
  return errors;
}

/// Devices give bytes for ever; a terminal at our input ends where its user says so.
bool is_endless(const struct stat& status) {
  struct stat input {
  }, null{};
  if (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode)) return false;
  if (stat("/dev/null", &null) == 0 && status.st_rdev == null.st_rdev) return false;
  return isatty(STDIN_FILENO) != 1 || fstat(STDIN_FILENO, &input) != 0 || status.st_rdev != input.st_rdev;
}

// A file has an end. Of a pipe that brings no line for that long none comes.
constexpr std::size_t longest_line = std::size_t{1} << 30;

std::unique_ptr<read::ByteSource> text_in(std::unique_ptr<read::ByteSource> raw, std::string begun,
                                          const std::string& path, LogText::Part part) {
  const bool of_tracker = part == LogText::Part::of_tracker;
  if (read::is_wandb_log(begun))
    return read::console_of_wandb(std::move(raw), std::move(begun),
                                  of_tracker ? read::WandbPart::ending : read::WandbPart::all);
  if (read::is_tensorboard_log(begun)) return read::lines_of_tensorboard(std::move(raw), std::move(begun));
  if (of_tracker) return read::bytes_of(std::string_view());
  return read::unpacked(std::move(raw), std::move(begun), path);
}

Diagnostic no_lines(const std::string& path) {
  return {.code = "read/too-large",
          .message = "no line ends within 1 GiB of what comes, so this is no log",
          .where = {path}};
}

}  // namespace

struct LogText::State {
  std::string path{};
  bool is_file = true;
  std::size_t since_line = 0;  // bytes handed out since a line's end
  std::unique_ptr<read::ByteSource> bytes;
  std::string buffer{};  // what was handed out, then what was not, then room
  std::size_t size = 0;  // bytes of it without the room
  std::size_t used = 0;  // bytes of it handed out
  std::optional<read::Utf16> utf16{};
  bool ended = false;
  Diagnostics late{};  // an error after text that was not handed out yet

  std::string_view handed() const { return std::string_view(buffer).substr(0, used); }

  void drop_used() {
    std::memmove(buffer.data(), buffer.data() + used, size - used);
    size -= std::exchange(used, 0);
  }

  void fill() {
    if (buffer.size() < most) buffer.resize(most);
    while (!ended && size < most) {
      const Result<std::size_t> got = bytes->read(buffer.data() + size, most - size);
      ended = !got || *got == 0;
      if (!got) late = of_a_log(got.errors());
      const std::string_view read(buffer.data() + size, got ? *got : 0);
      if (utf16) put(utf16->to_utf8(read));
      if (!utf16) size += read.size();
    }
  }
  void put(std::string_view text) {
    if (buffer.size() < size + text.size()) buffer.resize(size + text.size());
    size += text.copy(buffer.data() + size, text.size());
  }

  /// False where a line is longer than any.
  bool count_to_line() {
    since_line = handed().find_first_of("\n\r") == std::string_view::npos ? since_line + used : 0;
    return is_file || since_line < longest_line;
  }

  std::size_t cut() const {
    if (ended) return size;
    for (const char end : {'\n', '\r'}) {
      const std::size_t found = last_byte(std::string_view(buffer).substr(0, size), end);
      if (found != std::string_view::npos) return found + 1;
    }
    return size;
  }
};

LogText::LogText(std::unique_ptr<State> state) : state_(std::move(state)) {}
LogText::LogText(LogText&&) noexcept = default;
LogText& LogText::operator=(LogText&&) noexcept = default;
LogText::~LogText() = default;

Result<LogText> LogText::open(const std::string& path, Part part) {
  const std::string name = path == "-" ? "standard input" : path;
  struct stat status {};
  const bool known = (path == "-" ? fstat(STDIN_FILENO, &status) : stat(path.c_str(), &status)) == 0;
  if (known && is_endless(status))
    return Diagnostic{.code = "read/not-a-file", .message = "this is a device, which has no end", .where = {name}};
  Result<std::unique_ptr<read::ByteSource>> raw = read::open_bytes(path);
  if (!raw) return raw.errors();
  static_assert(read::packed_mark_length <= read::tensorboard_mark_length);
  Result<std::string> first = read::first_bytes(**raw, read::tensorboard_mark_length);
  if (!first) return first.errors();
  std::string begun = std::move(*first);
  auto state = std::make_unique<State>();
  state->path = name;
  state->is_file = known && S_ISREG(status.st_mode);
  if (begun.starts_with("\xFF\xFE") || begun.starts_with("\xFE\xFF")) {
    state->utf16.emplace(begun[0] == '\xFE');
    begun.erase(0, 2);
  } else if (begun.starts_with("\xEF\xBB\xBF")) {
    begun.erase(0, 3);
  }
  state->bytes = text_in(std::move(*raw), std::move(begun), path, part);
  return LogText(std::move(state));
}

LogText LogText::from_memory(std::string_view bytes) {
  auto state = std::make_unique<State>();
  state->bytes = read::bytes_of(bytes);
  return LogText(std::move(state));
}

bool LogText::is_pickle() {
  state_->fill();
  return read::is_pickle(std::string_view(state_->buffer).substr(0, state_->size));
}

Result<std::size_t> LogText::read_bytes(char* out, std::size_t room) {
  if (state_->used < state_->size) {
    const std::size_t got = state_->buffer.copy(out, std::min(room, state_->size - state_->used), state_->used);
    state_->used += got;
    return got;
  }
  if (!state_->late.empty()) return std::exchange(state_->late, {});
  return state_->bytes->read(out, room);
}

Result<std::optional<std::string_view>> LogText::next() {
  state_->drop_used();
  state_->fill();
  if (state_->size == 0) {
    if (!state_->late.empty()) return std::exchange(state_->late, {});
    return std::optional<std::string_view>();
  }
  state_->used = state_->cut();
  if (!state_->count_to_line()) return no_lines(state_->path);
  return std::optional(state_->handed());
}

}  // namespace oomplan
