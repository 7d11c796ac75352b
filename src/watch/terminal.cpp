#include "terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace oomplan::watching {
namespace {

Channel pipe_channel() {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// The real terminal turns \n into \r\n once; the pseudo-terminal must not do it too.
void pass_unchanged(int slave, int like) {
  termios settings{};
  if (tcgetattr(like, &settings) != 0) return;
  settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  tcsetattr(slave, TCSANOW, &settings);
}

Channel terminal_channel(int like) {
  Descriptor master(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  std::array<char, 64> name{};
  if (!master.is_open() || grantpt(master.get()) != 0 || unlockpt(master.get()) != 0 ||
      ptsname_r(master.get(), name.data(), name.size()) != 0)
    return {};
  Descriptor slave(open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!slave.is_open()) return {};
  pass_unchanged(slave.get(), like);
  copy_size(master.get(), like);
  return {std::move(master), std::move(slave)};
}

}  // namespace

Channel channel_like(int like) {
  Channel out = isatty(like) == 1 ? terminal_channel(like) : pipe_channel();
  if (!out.read.is_open()) out = pipe_channel();
  if (out.read.is_open()) fcntl(out.read.get(), F_SETFL, O_NONBLOCK);
  return out;
}

bool lead_to_one(int out, int err) {
  struct stat one {
  }, other{};
  if (fstat(out, &one) != 0 || fstat(err, &other) != 0) return false;
  if (one.st_dev == other.st_dev && one.st_ino == other.st_ino) return true;
  unsigned int terminal = 0, other_terminal = 0;  // /dev/tty is another file than /dev/pts/0
  return ioctl(out, TIOCGDEV, &terminal) == 0 && ioctl(err, TIOCGDEV, &other_terminal) == 0 &&
         terminal == other_terminal;
}

bool copy_size(int channel, int like) {
  winsize size{};
  winsize old{};
  if (isatty(like) != 1 || ioctl(like, TIOCGWINSZ, &size) != 0 || ioctl(channel, TIOCGWINSZ, &old) != 0) return false;
  return std::memcmp(&size, &old, sizeof size) != 0 && ioctl(channel, TIOCSWINSZ, &size) == 0;
}

bool has_foreground() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (isatty(fd) != 1) return false;
  return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

bool has_shell() {
  const Descriptor terminal(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
  return terminal.is_open() && getsid(0) != getpid();
}

void give_foreground(int group) { tcsetpgrp(STDIN_FILENO, group); }

void take_foreground_from(int group) {
  if (isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == group) give_foreground(getpgrp());
}

}  // namespace oomplan::watching
