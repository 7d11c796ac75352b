#include "oomplan/log_text.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "byte_source.hpp"
#include "pickle.hpp"
#include "utf16.hpp"

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

}  // namespace

struct LogText::State {
  std::unique_ptr<read::ByteSource> bytes;
  std::string buffer{};  // what was handed out, then what was not
  std::size_t used = 0;  // bytes of it handed out
  std::int64_t line = 1;
  std::optional<read::Utf16> utf16{};
  bool ended = false;
  Diagnostics late{};  // an error after text that was not handed out yet

  void drop_used() {
    line += count_newlines(std::string_view(buffer).substr(0, used));
    buffer.erase(0, used);
    used = 0;
  }

  void fill() {
    while (!ended && buffer.size() < most) {
      const std::size_t before = buffer.size();
      buffer.resize(most);
      const Result<std::size_t> got = bytes->read(buffer.data() + before, most - before);
      buffer.resize(before + (got ? *got : 0));
      ended = !got || *got == 0;
      if (!got) late = of_a_log(got.errors());
      if (utf16) buffer.replace(before, std::string::npos, utf16->to_utf8(std::string_view(buffer).substr(before)));
    }
  }

  std::size_t cut() const {
    if (ended) return buffer.size();
    for (const char end : {'\n', '\r'}) {
      const void* found = memrchr(buffer.data(), end, buffer.size());
      if (found != nullptr) return static_cast<std::size_t>(static_cast<const char*>(found) - buffer.data()) + 1;
    }
    return buffer.size();
  }
};

LogText::LogText(std::unique_ptr<State> state) : state_(std::move(state)) {}
LogText::LogText(LogText&&) noexcept = default;
LogText& LogText::operator=(LogText&&) noexcept = default;
LogText::~LogText() = default;

Result<LogText> LogText::open(const std::string& path) {
  Result<std::unique_ptr<read::ByteSource>> raw = read::open_bytes(path);
  if (!raw) return raw.errors();
  Result<std::string> first = read::first_bytes(**raw, read::packed_mark_length);
  if (!first) return first.errors();
  std::string begun = std::move(*first);
  auto state = std::make_unique<State>();
  if (begun.starts_with("\xFF\xFE") || begun.starts_with("\xFE\xFF")) {
    state->utf16.emplace(begun[0] == '\xFE');
    begun.erase(0, 2);
  } else if (begun.starts_with("\xEF\xBB\xBF")) {
    begun.erase(0, 3);
  }
  state->bytes = read::unpacked(std::move(*raw), std::move(begun), path);
  return LogText(std::move(state));
}

LogText LogText::from_memory(std::string_view bytes) {
  auto state = std::make_unique<State>();
  state->bytes = read::bytes_of(bytes);
  return LogText(std::move(state));
}

bool LogText::is_pickle() {
  state_->fill();
  return read::is_pickle(state_->buffer);
}

Result<std::size_t> LogText::read_bytes(char* out, std::size_t room) {
  const std::string& buffer = state_->buffer;
  if (state_->used < buffer.size()) {
    const std::size_t got = buffer.copy(out, room, state_->used);
    state_->used += got;
    return got;
  }
  if (!state_->late.empty()) return std::exchange(state_->late, {});
  return state_->bytes->read(out, room);
}

Result<std::optional<TextBlock>> LogText::next() {
  state_->drop_used();
  state_->fill();
  if (state_->buffer.empty()) {
    if (!state_->late.empty()) return std::exchange(state_->late, {});
    return std::optional<TextBlock>();
  }
  state_->used = state_->cut();
  return std::optional<TextBlock>({std::string_view(state_->buffer).substr(0, state_->used), state_->line});
}

}  // namespace oomplan
