#include "forwarded_signals.hpp"

namespace oomplan::measure {
namespace {

volatile sig_atomic_t the_child = 0;

void pass_on(int number) {
  if (the_child > 0) ::kill(the_child, number);
}

}  // namespace

ForwardedSignals::ForwardedSignals() {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  struct sigaction passed {};
  passed.sa_handler = pass_on;
  passed.sa_flags = SA_RESTART;
  std::size_t i = 0;
  for (const int number : from_keyboard) ::sigaction(number, &ignored, &before_[i++]);
  for (const int number : to_child) ::sigaction(number, &passed, &before_[i++]);
}

void ForwardedSignals::to(int child) const { the_child = child; }

void ForwardedSignals::restore() const {
  the_child = 0;
  std::size_t i = 0;
  for (const int number : from_keyboard) ::sigaction(number, &before_[i++], nullptr);
  for (const int number : to_child) ::sigaction(number, &before_[i++], nullptr);
}

}  // namespace oomplan::measure
