// What libc++ lacked of C++20 before LLVM 15, in as far as oomplan uses it: the algorithms of std::ranges, std::jthread,
// and doubles in <charconv>. Read before each file of a page's build, whose distribution's Emscripten may be that old, and on
// macOS; with a newer one it is empty, but for what that lacks.
#pragma once

#include <version>

#ifdef _LIBCPP_VERSION

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#if _LIBCPP_VERSION < 15000
namespace std::ranges {

namespace oomplan_detail {
template <class Compare, class Project>
constexpr auto projected(Compare& compare, Project& project) {
  return [&](auto&& a, auto&& b) -> bool {
    return std::invoke(compare, std::invoke(project, a), std::invoke(project, b));
  };
}
}  // namespace oomplan_detail

template <class R, class Test, class Project = identity>
constexpr auto find_if(R&& range, Test test, Project project = {}) {
  auto at = std::begin(range);
  for (; at != std::end(range); ++at)
    if (std::invoke(test, std::invoke(project, *at))) break;
  return at;
}

template <class R, class Test, class Project = identity>
constexpr auto find_if_not(R&& range, Test test, Project project = {}) {
  return ranges::find_if(range, [&](auto&& one) -> bool { return !std::invoke(test, std::invoke(project, one)); });
}

template <class R, class T, class Project = identity>
constexpr auto find(R&& range, const T& value, Project project = {}) {
  auto at = std::begin(range);
  for (; at != std::end(range); ++at)
    if (std::invoke(project, *at) == value) break;
  return at;
}

template <class R, class Test, class Project = identity>
constexpr std::ptrdiff_t count_if(R&& range, Test test, Project project = {}) {
  std::ptrdiff_t out = 0;
  for (auto at = std::begin(range); at != std::end(range); ++at)
    if (std::invoke(test, std::invoke(project, *at))) ++out;
  return out;
}

template <class R, class T, class Project = identity>
constexpr std::ptrdiff_t count(R&& range, const T& value, Project project = {}) {
  std::ptrdiff_t out = 0;
  for (auto at = std::begin(range); at != std::end(range); ++at)
    if (std::invoke(project, *at) == value) ++out;
  return out;
}

template <class R, class Test, class Project = identity>
constexpr bool any_of(R&& range, Test test, Project project = {}) {
  for (auto at = std::begin(range); at != std::end(range); ++at)
    if (std::invoke(test, std::invoke(project, *at))) return true;
  return false;
}

template <class R, class Test, class Project = identity>
constexpr bool all_of(R&& range, Test test, Project project = {}) {
  for (auto at = std::begin(range); at != std::end(range); ++at)
    if (!std::invoke(test, std::invoke(project, *at))) return false;
  return true;
}

template <class R, class Test, class Project = identity>
constexpr bool none_of(R&& range, Test test, Project project = {}) {
  return !ranges::any_of(range, std::ref(test), std::ref(project));
}

template <class R, class Do>
constexpr void for_each(R&& range, Do&& act) {
  for (auto at = std::begin(range); at != std::end(range); ++at) std::invoke(act, *at);
}

template <class A, class B, class Equal = equal_to>
constexpr bool equal(A&& a, B&& b, Equal same = {}) {
  auto i = std::begin(a);
  auto j = std::begin(b);
  for (; i != std::end(a) && j != std::end(b); ++i, ++j)
    if (!std::invoke(same, *i, *j)) return false;
  return i == std::end(a) && j == std::end(b);
}

template <class Out>
struct Copied {
  Out out;
};

template <class R, class Out>
constexpr Copied<Out> copy(R&& range, Out out) {
  return {std::copy(std::begin(range), std::end(range), out)};
}

template <class R, class Out, class Do>
constexpr Copied<Out> transform(R&& range, Out out, Do act) {
  for (auto at = std::begin(range); at != std::end(range); ++at, ++out) *out = std::invoke(act, *at);
  return {out};
}

template <class R, class T>
constexpr void replace(R&& range, const T& old, const T& fresh) {
  std::replace(std::begin(range), std::end(range), old, fresh);
}

template <class R>
constexpr void reverse(R&& range) {
  std::reverse(std::begin(range), std::end(range));
}

template <class R, class Compare = less, class Project = identity>
constexpr void sort(R&& range, Compare compare = {}, Project project = {}) {
  std::sort(std::begin(range), std::end(range), oomplan_detail::projected(compare, project));
}

template <class R, class Compare = less, class Project = identity>
void stable_sort(R&& range, Compare compare = {}, Project project = {}) {
  std::stable_sort(std::begin(range), std::end(range), oomplan_detail::projected(compare, project));
}

template <class R, class Compare = less, class Project = identity>
constexpr bool is_sorted(R&& range, Compare compare = {}, Project project = {}) {
  return std::is_sorted(std::begin(range), std::end(range), oomplan_detail::projected(compare, project));
}

template <class R, class Compare = less, class Project = identity>
constexpr auto max_element(R&& range, Compare compare = {}, Project project = {}) {
  return std::max_element(std::begin(range), std::end(range), oomplan_detail::projected(compare, project));
}

template <class R, class Compare = less, class Project = identity>
constexpr auto min_element(R&& range, Compare compare = {}, Project project = {}) {
  return std::min_element(std::begin(range), std::end(range), oomplan_detail::projected(compare, project));
}

template <class R>
constexpr auto minmax(R&& range) {
  const auto [low, high] = std::minmax_element(std::begin(range), std::end(range));
  using T = std::remove_cvref_t<decltype(*low)>;
  struct Both {
    T min;
    T max;
  };
  return Both{*low, *high};
}

template <class R, class T, class Compare = less, class Project = identity>
constexpr auto lower_bound(R&& range, const T& value, Compare compare = {}, Project project = {}) {
  return std::lower_bound(std::begin(range), std::end(range), value, [&](auto&& one, const T& wanted) -> bool {
    return std::invoke(compare, std::invoke(project, one), wanted);
  });
}

template <class R, class T, class Compare = less, class Project = identity>
constexpr auto upper_bound(R&& range, const T& value, Compare compare = {}, Project project = {}) {
  return std::upper_bound(std::begin(range), std::end(range), value, [&](const T& wanted, auto&& one) -> bool {
    return std::invoke(compare, wanted, std::invoke(project, one));
  });
}

/// What an algorithm leaves over, as std::ranges::subrange.
template <class At>
struct Rest {
  At first;
  At last;
  constexpr At begin() const { return first; }
  constexpr At end() const { return last; }
  constexpr bool empty() const { return first == last; }
};

template <class R>
constexpr auto unique(R&& range) {
  auto last = std::end(range);
  return Rest<decltype(last)>{std::unique(std::begin(range), last), last};
}

template <class R, class Test>
auto stable_partition(R&& range, Test test) {
  auto last = std::end(range);
  return Rest<decltype(last)>{std::stable_partition(std::begin(range), last, test), last};
}

template <class R>
class reverse_view {
 public:
  constexpr explicit reverse_view(R& range) : range_(&range) {}
  constexpr auto begin() const { return std::rbegin(*range_); }
  constexpr auto end() const { return std::rend(*range_); }

 private:
  R* range_;
};

}  // namespace std::ranges
#endif

namespace std {

#if _LIBCPP_VERSION < 20000
/// Nothing starts one where there are no threads to be had.
class jthread : public thread {
 public:
  using thread::thread;
  jthread(jthread&&) = default;
  ~jthread() {
    if (joinable()) join();
  }
};

/// Decimal and correctly rounded, as strtod of musl is; without what strtod takes beyond that: spaces, a plus, "0x".
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const std::string_view all(first, static_cast<size_t>(last - first));
  const bool minus = all.starts_with('-');
  const std::string_view rest = all.substr(minus ? 1 : 0);
  const auto starts = [&](string_view word) {
    if (rest.size() < word.size()) return false;
    for (size_t i = 0; i < word.size(); ++i)
      if ((rest[i] | 0x20) != word[i]) return false;
    return true;
  };
  const bool named = starts("inf") || starts("nan");
  const size_t used = named ? rest.size() : std::min(rest.find_first_not_of("0123456789.eE+-"), rest.size());
  const bool number = named || (!rest.empty() && (rest[0] == '.' || (rest[0] >= '0' && rest[0] <= '9')));
  const std::string text(all.substr(0, used + (minus ? 1 : 0)));
  char* end = nullptr;
  const double read = number ? std::strtod(text.c_str(), &end) : 0;
  if (!number || end == text.c_str()) return {first, errc::invalid_argument};
  const char* const stop = first + (end - text.c_str());
  const bool zero = text.find_first_of("123456789") >= static_cast<size_t>(end - text.c_str());
  if (!named && (std::isinf(read) || (read == 0 && !zero))) return {stop, errc::result_out_of_range};
  value = read;
  return {stop, errc{}};
}
#endif

#if _LIBCPP_VERSION < 14000
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}
#endif

#if _LIBCPP_VERSION < 16000
template <class T>
unique_ptr<T> make_unique_for_overwrite(size_t count) {
  return unique_ptr<T>(new remove_extent_t<T>[count]);
}
#endif

#if _LIBCPP_VERSION < 14000
/// The fewest digits that are read back as the same number, plain or with an exponent, whichever is shorter.
inline to_chars_result to_chars(char* first, char* last, double value) {
  char digits[40];
  int precision = 0;
  do std::snprintf(digits, sizeof digits, "%.*e", precision, value);
  while (std::strtod(digits, nullptr) != value && ++precision < 17 && !std::isnan(value));
  std::string shortest = digits;
  const int exponent = std::isfinite(value) ? std::atoi(digits + shortest.find('e') + 1) : 0;
  if (std::isfinite(value) && exponent < 40 && exponent > -40) {
    char plain[128];
    std::snprintf(plain, sizeof plain, "%.*f", std::max(precision - exponent, 0), value);
    if (std::string_view(plain).size() <= shortest.size()) shortest = plain;
  }
  if (static_cast<size_t>(last - first) < shortest.size()) return {last, errc::value_too_large};
  return {std::copy(shortest.begin(), shortest.end(), first), errc{}};
}
#endif

}  // namespace std
#endif
