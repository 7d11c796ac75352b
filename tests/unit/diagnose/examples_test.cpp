// Every sentence of rules/messages against its own examples.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "line.hpp"
#include "oomplan/diagnose/diagnose.hpp"
#include "reader.hpp"
#include "rules.hpp"

namespace oomplan::diagnose {
namespace {

const Rules& rules() {
  static const Rulebook book = *Rulebook::load();
  return book.rules();
}

std::vector<Line> lines_of(std::string text) {
  std::vector<Line> out;
  std::int64_t number = 1;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    add_lines(std::string_view(text).substr(at, end - at), 0, number++, out);
    at = end + 1;
  }
  return out;
}

const Evidence* find(const std::vector<Evidence>& all, const std::string& id) {
  for (const Evidence& one : all)
    if (one.message == id) return &one;
  return nullptr;
}

std::string shown(const Reading* fact) {
  if (fact == nullptr) return "nothing";
  return fact->text + " (" + std::to_string(fact->integer) + ")";
}

bool says(const Reading* fact, const std::string& wanted) {
  return fact != nullptr && (fact->text == wanted || std::to_string(fact->integer) == wanted);
}

TEST(Sentences, AllLoad) {
  const Result<Rulebook> book = Rulebook::load();
  ASSERT_TRUE(book.ok()) << to_text(book.errors().front());
  EXPECT_GT(book->rules().sentences.size(), 200U);
}

TEST(Sentences, MatchTheirExamples) {
  for (const Sentence& sentence : rules().sentences) {
    EXPECT_FALSE(sentence.examples.empty()) << sentence.id << " has no example";
    for (const Example& example : sentence.examples) {
      const std::vector<Evidence> all = read_lines(rules(), lines_of(example.text), {"x"});
      const Evidence* found = find(all, sentence.id);
      EXPECT_NE(found, nullptr) << sentence.id << " is not found in: " << example.text
                                << (all.empty() ? "" : "\nbut " + all.front().message + " is");
      if (found == nullptr) continue;
      for (const auto& [name, wanted] : example.values)
        EXPECT_TRUE(says(found->find(name), wanted))
            << sentence.id << ": " << name << " is " << shown(found->find(name)) << ", not " << wanted;
    }
  }
}

// An anchor that the sentence's own example lacks would never be looked for.
TEST(Sentences, HaveTheirAnchors) {
  for (const Sentence& sentence : rules().sentences) {
    const std::vector<std::string> anchors = spellings(sentence);
    for (const Example& example : sentence.examples)
      EXPECT_TRUE(
          std::any_of(anchors.begin(), anchors.end(),
                      [&](const std::string& anchor) { return example.text.find(anchor) != std::string::npos; }))
          << sentence.id << ": " << sentence.anchor;
  }
}

}  // namespace
}  // namespace oomplan::diagnose
