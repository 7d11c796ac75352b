#include "article.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "reader.hpp"
#include "titles.hpp"
#include "words.hpp"

namespace oomplan::diagnose {
namespace {

using namespace std::string_view_literals;

constexpr int most_lines_of_programs = 12;  // that an article shows
constexpr std::size_t most_lines = 2000;

// A text that says of itself what it is. No report and no program's message does.
constexpr std::array of_itself{"this guide"sv,
                               "This guide"sv,
                               "his article"sv,
                               "his Article"sv,
                               "this tutorial"sv,
                               "This tutorial"sv,
                               "this blog post"sv,
                               "In this post"sv,
                               "in this post"sv,
                               "Error Guide"sv,
                               "rror guide"sv,
                               "we'll explore"sv,
                               "we'll explain"sv,
                               "we'll look at"sv,
                               "you'll learn"sv,
                               "You'll learn"sv,
                               "to show you"sv,
                               "familiar with this message"sv,
                               "you've hit this error"sv,
                               "Quick Navigation"sv};

// It speaks to whoever comes, shows what to type and what to look for: less sure, as somebody may answer a report so.
constexpr std::array to_all{"Here's how to"sv,
                            "here's how to"sv,
                            "Here is how to"sv,
                            "Here are some common"sv,
                            "Here are three"sv,
                            "Here are a few"sv,
                            "Here are several"sv,
                            "step by step"sv,
                            "Step-by-Step"sv,
                            "best practices"sv,
                            "Best practices"sv,
                            "min read"sv,
                            "Skip to content"sv,
                            "Skip to main content"sv,
                            "Let's look at"sv,
                            "is crucial"sv,
                            "You will see this"sv,
                            "You will see similar"sv,
                            "you will see similar"sv,
                            "How to Break Through"sv,
                            "Have you ever been"sv,
                            "sers may encounter"sv,
                            "ou may encounter"sv,
                            "ou might encounter"sv,
                            "in-depth analysis"sv,
                            "typically see this"sv,
                            "Key indicators include"sv,
                            "Step 1:"sv,
                            "Look for"sv,
                            "with one of these:"sv,
                            "Related articles"sv,
                            "ou've probably"sv,
                            "Quick fix"sv,
                            "Quick answer"sv,
                            "Quick Answer"sv,
                            "The giveaway"sv,
                            "0x..."sv,
                            "For instance, consider"sv,
                            "onsider the following"sv,
                            "<pod-name>"sv,
                            "<namespace>"sv,
                            "<name>"sv,
                            "<job-id>"sv,
                            "<jobid>"sv,
                            "your-pod"sv,
                            "The immediate fix"sv,
                            "he first thing to try"sv,
                            "he first things to try"sv};

// What a word stands for: a report explains none.
constexpr std::array defining{" occurs whenever "sv,   " is thrown when "sv,    " is thrown after "sv,
                              " is raised when "sv,    " is raised by "sv,      " error raised by "sv,
                              " error is thrown "sv,   " is displayed when "sv, " signifies that "sv,
                              " stands for "sv,        " is designed to "sv,    "It signals that "sv,
                              " is a mechanism"sv,     "'s way of "sv,          "Causes of an "sv,
                              " is triggered when "sv, " error when it "sv,     "128 + "sv,
                              "128 plus "sv,           "marks it as "sv,        " is one of the most "sv,
                              "The causes are "sv,     " is a Linux "sv,        " has a different "sv};

// When a failure comes about.
constexpr std::array explaining{
    " occurs when "sv,     " occurs because "sv, " happens when "sv, " happens because "sv, " indicates that "sv,
    " means that "sv,      " means the "sv,      " means a "sv,      " means your "sv,      "This can cause "sv,
    " the most common "sv, " typically "sv,      "this usually "sv,  "The fix is "sv,       "When a "sv};

// It tells of a change to a program, whose messages it shows.
constexpr std::array of_changes{"Why are these changes needed"sv,
                                "signed off every commit"sv,
                                "This PR "sv,
                                "this PR "sv,
                                "This diff "sv,
                                "this diff "sv,
                                "This patch "sv,
                                "This commit "sv,
                                "This pull request "sv,
                                "this pull request "sv};

// "I get", "my job", "our pods": somebody tells of his own.
constexpr std::array of_us{"we get"sv,        "We get"sv,       "we got"sv,        "We got"sv,       "we are seeing"sv,
                           "We are seeing"sv, "we're seeing"sv, "We're seeing"sv,  "we see "sv,      "We see "sv,
                           "we have "sv,      "We have "sv,     "we run "sv,       "We run "sv,      "we ran "sv,
                           "We ran "sv,       "we use "sv,      "We use "sv,       " our cluster"sv, " our job"sv,
                           " our pods"sv,     " our service"sv, " our training"sv, " our server"sv,  "Our job"sv,
                           "Our cluster"sv};

// The headings of a tracker's forms, and what is asked of whoever reads: a report, that names nobody as well.
constexpr std::array of_reports{"teps to reproduce"sv, "teps to Reproduce"sv, "To Reproduce"sv,
                                "to reproduce the"sv,  "xpected behavio"sv,   "xpected Behavio"sv,
                                "ctual behavio"sv,     "ctual Behavio"sv,     "Describe the bug"sv,
                                "escribe the issue"sv, "What happened?"sv,    "What happens?"sv,
                                "ug description"sv,    "ug Description"sv,    "System Info"sv,
                                "ssue Type"sv,         "Thanks in advance"sv, "thanks in advance"sv,
                                "Any idea"sv,          "any idea"sv,          "Any help"sv,
                                "any help"sv,          "an anyone"sv,         "an someone"sv,
                                "lease advise"sv,      "Is there a way"sv,    "is there a way"sv,
                                "Is there any way"sv,  "is there any way"sv,  "the following error:"sv};

bool has_any(std::string_view text, const auto& words) {
  return std::ranges::any_of(words, [&](auto word) { return text.find(word) != std::string_view::npos; });
}

bool is_own(const Line& line) {
  if (has_any(line.body, of_us) || has_any(line.body, of_reports)) return true;
  return words_of(line.body).first_person && !has_any(line.body, of_itself);
}

// "loss: 0.31", "'loss': 0.31", "loss=0.31"
bool is_step(std::string_view text) {
  constexpr std::string_view name = "loss";
  const std::size_t at = text.find(name);
  if (at == text.npos) return false;
  const std::string_view rest = text.substr(at + name.size());
  const std::size_t value = rest.find_first_not_of("':= \"");
  return value != rest.npos && value > 0 && rest[value] >= '0' && rest[value] <= '9';
}

bool is_of_a_program(const Line& line) {
  return !line.time.empty() || line.rank || line.body.find("%|") != std::string::npos ||
         line.body.starts_with("Traceback (") || is_frame(line.body) || is_step(line.body);
}

// What was found of each kind, every phrase once.
struct Signs {
  std::set<std::string_view> of_itself{};
  std::set<std::string_view> to_all{};
  std::set<std::string_view> defining{};
  std::set<std::string_view> explaining{};
  std::set<std::string> titles{};
  bool of_change = false;
  int to_reader = 0;  ///< Lines that say "you" or "your".
  int function = 0;   ///< Of the words that hold sentences together,
  int written = 0;    ///< and the lines that are not empty.

  void look(std::string_view text) {
    const auto add = [&](const auto& phrases, std::set<std::string_view>& found) {
      for (const std::string_view phrase : phrases)
        if (text.find(phrase) != std::string_view::npos) found.insert(phrase);
    };
    add(diagnose::of_itself, of_itself);
    add(diagnose::to_all, to_all);
    add(diagnose::defining, defining);
    add(diagnose::explaining, explaining);
    of_change = of_change || has_any(text, of_changes);
    if (std::string title = explaining_title(text); !title.empty()) titles.insert(std::move(title));
    const Words words = words_of(text);
    const bool addressed = text.find(" you'") != text.npos || text.starts_with("You'");
    if ((words.people > 0 || addressed) && !words.writer) ++to_reader;
    if (text.empty() || begins_with_exception(text)) return;  // whose sentences are a program's
    function += words.function;
    ++written;
  }

  int page() const {
    return 2 * static_cast<int>(of_itself.size()) + static_cast<int>(to_all.size() + titles.size() + defining.size());
  }
  int all() const { return page() + static_cast<int>(explaining.size()) + (to_reader >= 2 ? 1 : 0); }

  /// Whether it says what it is, or what a failure stands for; a banner and a site's menu have the other phrases too.
  bool is_sure() const { return !of_itself.empty() || !defining.empty() || !titles.empty(); }

  /// Sentences of a language fill it: five words in two lines hold them together, and there is more than a remark.
  bool is_prose() const { return function >= 25 && 2 * function >= 5 * written; }
};

Writing writing_of(const std::vector<Line>& lines, int file) {
  Signs signs;
  int of_programs = 0;
  std::size_t seen = 0;
  for (const Line& line : lines) {
    if (line.file != file) continue;
    if (++seen > most_lines || is_own(line)) return Writing::other;
    if (is_of_a_program(line) && ++of_programs > most_lines_of_programs) return Writing::other;
    signs.look(line.body);
  }
  const bool says_so = !signs.of_itself.empty() && signs.written >= 2 * of_programs;  // of itself, whatever it shows
  const bool is_full = signs.all() >= 3 && signs.page() >= 2 && (says_so || signs.all() >= 2 * of_programs);
  const bool is_written = of_programs == 0 && signs.is_prose() && signs.all() >= 2 && signs.page() >= 1;
  if (signs.is_sure() && (is_full || is_written)) return Writing::article;
  const bool talks = signs.of_change || (signs.is_prose() && signs.all() >= 1);
  return of_programs == 0 && talks ? Writing::talk : Writing::other;
}

}  // namespace

Writing Articles::of(int file) {
  const auto known = known_.find(file);
  return known != known_.end() ? known->second : known_[file] = writing_of(lines_, file);
}

}  // namespace oomplan::diagnose
