// Signals while a child runs: it is the one that they are meant for.
#pragma once

#include <signal.h>

#include <array>

namespace oomplan::measure {

/// As long as it lives, the keyboard's signals (which the terminal sends to the child too) do not end this process, and
/// those of whoever ends this process go to the child. One at a time.
class ForwardedSignals {
 public:
  ForwardedSignals();
  ~ForwardedSignals() { restore(); }
  ForwardedSignals(const ForwardedSignals&) = delete;
  ForwardedSignals& operator=(const ForwardedSignals&) = delete;
  void to(int child) const;
  /// As it was before; what a program inherits.
  void restore() const;

 private:
  static constexpr std::array from_keyboard{SIGINT, SIGQUIT};
  static constexpr std::array to_child{SIGTERM, SIGHUP};
  std::array<struct sigaction, from_keyboard.size() + to_child.size()> before_{};
};

}  // namespace oomplan::measure
