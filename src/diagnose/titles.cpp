#include "titles.hpp"

#include <algorithm>
#include <array>

#include "words.hpp"

namespace oomplan::diagnose {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t longest_title = 80;

constexpr std::array explaining{"causes"sv,
                                "common causes"sv,
                                "possible causes"sv,
                                "causes & fixes"sv,
                                "causes and fixes"sv,
                                "causes and solutions"sv,
                                "solutions"sv,
                                "quick fix"sv,
                                "quick fixes"sv,
                                "quick diagnosis"sv,
                                "symptoms"sv,
                                "prevention"sv,
                                "detection"sv,
                                "best practices"sv,
                                "related errors"sv,
                                "related articles"sv,
                                "see also"sv,
                                "further reading"sv,
                                "sources"sv,
                                "workarounds"sv,
                                "key takeaways"sv,
                                "example errors"sv,
                                "example error"sv,
                                "example error message"sv,
                                "example error messages"sv,
                                "why this matters"sv,
                                "explanation"sv,
                                "frequently asked questions"sv,
                                "troubleshooting"sv,
                                "common errors"sv,
                                "common error messages"sv};
constexpr std::array explaining_begins{"what causes "sv,
                                       "most common causes"sv,
                                       "the exact error"sv,
                                       "what is causing "sv,
                                       "troubleshooting oom"sv,
                                       "troubleshooting out of memory"sv,
                                       "identifying oom"sv,
                                       "preventing oom"sv,
                                       "why it happens"sv,
                                       "why this happens"sv,
                                       "why does this happen"sv,
                                       "how to fix"sv,
                                       "how to resolve"sv,
                                       "how to solve"sv,
                                       "how to prevent"sv,
                                       "how to avoid"sv,
                                       "how to diagnose"sv,
                                       "understanding the error"sv,
                                       "understanding this error"sv,
                                       "understanding out"sv,
                                       "understanding oom"sv,
                                       "understanding cuda"sv,
                                       "understanding the linux oom killer"sv,
                                       "understanding the oom killer"sv,
                                       "what the error looks like"sv,
                                       "what it looks like"sv,
                                       "what this error means"sv,
                                       "what does this error mean"sv,
                                       "what does it mean"sv};

// "Why OOMKill happens", "How the OOM killer works", "What OOMKilled and exit code 137 mean".
struct Frame {
  std::string_view begin;
  std::string_view end;
};
constexpr std::array frames{
    Frame{"why "sv, " happens"sv},        Frame{"why "sv, " happen"sv},       Frame{"how "sv, " works"sv},
    Frame{"how "sv, " work"sv},           Frame{"what "sv, " means"sv},       Frame{"what "sv, " mean"sv},
    Frame{"what does "sv, " mean"sv},     Frame{"what is "sv, " error"sv},    Frame{"common "sv, " errors"sv},
    Frame{"common "sv, " causes"sv},      Frame{"common causes of "sv, ""sv}, Frame{""sv, "out of memory errors"sv},
    Frame{""sv, "out-of-memory errors"sv}};

bool is_framed(std::string_view title) {
  return std::ranges::any_of(frames, [&](const Frame& frame) {
    return title.size() >= frame.begin.size() + frame.end.size() && title.starts_with(frame.begin) &&
           title.ends_with(frame.end);
  });
}

}  // namespace

std::string explaining_title(std::string_view text) {
  if (text.empty() || text.size() > longest_title) return {};
  const auto is_sign = [](char c) { return !is_letter(c); };
  while (!text.empty() && is_sign(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_sign(text.back())) text.remove_suffix(1);
  if (text.empty() || (text.front() >= 'a' && text.front() <= 'z')) return {};
  std::string title = lowered(text);
  const bool begins = std::ranges::any_of(explaining_begins, [&](auto words) { return title.starts_with(words); });
  if (!begins && !is_framed(title) && std::ranges::find(explaining, title) == explaining.end()) return {};
  return title;
}

}  // namespace oomplan::diagnose
