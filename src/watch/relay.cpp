#include "relay.hpp"

#include <cerrno>
#include <cstring>
#include <string_view>

namespace oomplan::watching {
namespace {

constexpr std::size_t most_read = std::size_t{64} << 10;
constexpr std::size_t most_line = std::size_t{192} << 10;
// A pipe that poll() calls writable has room for this much, so that writing it never blocks (pipe(7), PIPE_BUF).
constexpr std::size_t most_written = 4096;

bool again(int error) { return error == EINTR || error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

pollfd Relay::wanted() const {
  return pending_.empty() ? pollfd{source_.get(), POLLIN, 0} : pollfd{target_, POLLOUT, 0};
}

void Relay::act(short events) {
  if (events == 0) return;
  if (pending_.empty() && !fill()) return;
  flush();
}

/// Whether there is something to write now.
bool Relay::fill() {
  pending_.resize(most_read);
  const ssize_t got = read(source_.get(), pending_.data(), most_read);
  const int error = got < 0 ? errno : 0;
  pending_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (got == 0 || (got < 0 && !again(error))) source_.close();  // a terminal ends with EIO
  tell_lines(pending_);
  return got > 0;
}

void Relay::flush() {
  std::size_t written = 0;
  pollfd room{target_, POLLOUT, 0};
  while (written < pending_.size() && poll(&room, 1, 0) == 1) {
    const std::string_view rest = std::string_view(pending_).substr(written, most_written);
    const ssize_t put = write(target_, rest.data(), rest.size());
    if (put >= 0) written += static_cast<std::size_t>(put);
    if (put >= 0 || errno == EINTR) continue;
    if (again(errno)) break;
    // The reader has gone, as a closed pipe tells the job itself.
    if (errno != EPIPE) failure_ = std::strerror(errno);
    source_.close();
    written = pending_.size();
  }
  pending_.erase(0, written);
}

void Relay::tell_lines(std::string_view more) {
  std::size_t end = more.rfind('\n');
  if (end == std::string_view::npos && line_.size() + more.size() >= most_line) {
    end = more.rfind('\r');
    if (end == std::string_view::npos) end = more.size() - 1;
  }
  const std::size_t ended = end + 1;  // 0 where no line ends
  line_ += more.substr(0, ended);
  if (ended > 0) sink_(line_);
  if (ended > 0) line_.clear();
  line_ += more.substr(ended);
}

void Relay::close_source() {
  if (!source_.is_open()) return;
  std::string rest = std::move(pending_);
  for (int reads = 0; reads < 64 && source_.is_open() && fill(); ++reads) rest += pending_;
  pending_ = std::move(rest);
  source_.close();
}

void Relay::finish() {
  if (!line_.empty()) sink_(line_ + "\n");
  line_.clear();
}

}  // namespace oomplan::watching
