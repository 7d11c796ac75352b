#include "clock.hpp"

#include <array>
#include <chrono>
#include <string>

#include "oomplan/core/text.hpp"

namespace oomplan::diagnose {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

/// Reads numbers and signs from the front.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool done() const { return text_.empty(); }
  char next() const { return text_.empty() ? '\0' : text_.front(); }
  bool take(char c) {
    if (next() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void blanks() {
    while (take(' ')) {
    }
  }
  std::string_view word() {
    std::size_t end = 0;
    while (end < text_.size() && text_[end] != ' ') ++end;
    return cut(end);
  }
  /// Of at most `most` digits.
  std::optional<int> number(std::size_t most) {
    std::size_t end = 0;
    while (end < text_.size() && end < most && digit(text_[end])) ++end;
    const auto value = parse_integer(cut(end));
    return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
  }
  double fraction() {
    if (!take('.') && !take(',')) return 0;
    double out = 0;
    for (double place = 0.1; digit(next()); place /= 10, text_.remove_prefix(1)) out += place * (next() - '0');
    return out;
  }

 private:
  std::string_view cut(std::size_t end) {
    const std::string_view out = text_.substr(0, end);
    text_.remove_prefix(end);
    return out;
  }
  std::string_view text_;
};

double days(int year, int month, int day) {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                            std::chrono::day{static_cast<unsigned>(day)}};
  return static_cast<double>(sys_days{date}.time_since_epoch().count());
}

// "10:00:02.5"
std::optional<double> clock_at(Scanner& s) {
  const auto hours = s.number(2);
  if (!hours || !s.take(':')) return std::nullopt;
  const auto minutes = s.number(2);
  if (!minutes || !s.take(':')) return std::nullopt;
  const auto seconds = s.number(2);
  if (!seconds) return std::nullopt;
  return *hours * 3600.0 + *minutes * 60.0 + *seconds + s.fraction();
}

// "+02:00", "+0200"
double zone_at(Scanner& s) {
  const bool ahead = s.next() == '+';
  if (!s.take('+') && !s.take('-')) return 0;
  const double hours = s.number(2).value_or(0);
  s.take(':');
  const double out = hours * 3600 + s.number(2).value_or(0) * 60.0;
  return ahead ? out : -out;
}

std::optional<Clock> dated(std::string_view printed) {
  Scanner s(printed);
  const auto year = s.number(4);
  if (!year || *year < 1970 || !(s.take('-') || s.take('/'))) return std::nullopt;
  const auto month = s.number(2);
  if (!month || !(s.take('-') || s.take('/'))) return std::nullopt;
  const auto day = s.number(2);
  if (!day || !(s.take('T') || s.take(' ') || s.take('-'))) return std::nullopt;
  const auto clock = clock_at(s);
  if (!clock) return std::nullopt;
  return Clock{Clock::Kind::date, days(*year, *month, *day) * 86400 + *clock - zone_at(s)};
}

constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// "Nov 29 01:00:04" of syslog, "0501 10:00:01.1" of glog.
std::optional<Clock> yearless(std::string_view printed) {
  Scanner s(printed);
  int month = 0;
  std::optional<int> day;
  if (digit(s.next())) {
    month = s.number(2).value_or(0);
    day = s.number(2);
  } else {
    const std::string_view name = s.word();
    for (std::size_t i = 0; i < months.size(); ++i)
      if (name == months.at(i)) month = static_cast<int>(i) + 1;
    s.blanks();
    day = s.number(2);
  }
  s.blanks();
  const auto clock = clock_at(s);
  if (month < 1 || month > 12 || !day || !clock) return std::nullopt;
  return Clock{Clock::Kind::yearless, days(2000, month, *day) * 86400 + *clock};
}

// "7063.247407" of the kernel.
std::optional<Clock> uptime(std::string_view printed) {
  Scanner s(printed);
  s.blanks();
  const auto seconds = s.number(9);
  if (!seconds || s.next() != '.') return std::nullopt;
  const double fraction = s.fraction();
  return s.done() ? std::optional(Clock{Clock::Kind::uptime, *seconds + fraction}) : std::nullopt;
}

}  // namespace

std::optional<Clock> clock_of(std::string_view printed) {
  if (const auto found = dated(printed)) return found;
  if (const auto found = uptime(printed)) return found;
  return yearless(printed);
}

std::vector<std::optional<Clock>> clocks_of(const std::vector<Line>& lines) {
  std::vector<std::optional<Clock>> out(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].time.empty()) out[i] = clock_of(lines[i].time);
    if (!out[i] && i > 0 && lines[i - 1].file == lines[i].file) out[i] = out[i - 1];
  }
  return out;
}

bool is_earlier(const std::optional<Clock>& a, const std::optional<Clock>& b) {
  return a && b && a->kind == b->kind && a->seconds < b->seconds;
}

bool Clocks::is_earlier(std::size_t a, std::size_t b) const {
  if (clocks_.empty()) clocks_ = clocks_of(lines_);
  return diagnose::is_earlier(clocks_.at(a), clocks_.at(b));
}

std::optional<std::int64_t> rank_in(std::string_view file) {
  const auto number_from = [&](std::size_t at) -> std::optional<std::int64_t> {
    while (at < file.size() && std::string_view("-_.=").find(file[at]) != std::string_view::npos) ++at;
    std::size_t end = at;
    while (end < file.size() && end < at + 6 && digit(file[end])) ++end;
    return end == at ? std::nullopt : parse_integer(file.substr(at, end - at));
  };
  const std::size_t attempt =
      file.rfind("attempt_");  // torch/distributed/elastic: <log_dir>/<run>/attempt_<n>/<local rank>
  if (attempt != std::string_view::npos) {
    const std::size_t slash = file.find('/', attempt);
    if (slash != std::string_view::npos && file.find('/', slash + 1) != std::string_view::npos)
      return number_from(slash + 1);
  }
  const std::string_view name = file.substr(file.rfind('/') + 1);
  for (const std::string_view word : {"rank", "Rank", "RANK"})
    if (const std::size_t at = name.rfind(word); at != std::string_view::npos)
      if (const auto found = number_from(file.size() - name.size() + at + word.size())) return found;
  return std::nullopt;
}

}  // namespace oomplan::diagnose
