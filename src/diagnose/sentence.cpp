#include "sentence.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "keys.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::size_t shortest_anchor = 4;
constexpr std::size_t longest_anchor = 20;

Diagnostic bad(const Document& document, const Node& node, std::string message) {
  const Location where = document.at(node);
  return {.code = "diagnose/bad-rule",
          .message = std::move(message),
          .where = where,
          .excerpt = std::string(document.line(where.line))};
}

// Rare letters make a line worth looking at; white space may be printed in more than one way.
int rarity(char c) {
  if (c == ' ') return -1;
  if (c >= 'a' && c <= 'z') return std::string_view("jkqvwxyzbgpf").find(c) == std::string_view::npos ? 2 : 3;
  return 4;
}

std::string anchor_in(const std::vector<std::string>& literals) {
  std::string best;
  int best_score = 0;
  for (const std::string& literal : literals) {
    for (std::size_t begin = 0; begin < literal.size(); ++begin) {
      if (literal[begin] == ' ') continue;
      int score = 0;
      for (std::size_t end = begin; end < std::min(literal.size(), begin + longest_anchor); ++end) {
        score += rarity(literal[end]);
        if (literal[end] == ' ' || score <= best_score) continue;
        best_score = score;
        best = literal.substr(begin, end + 1 - begin);
      }
    }
  }
  return best;
}

std::string text_at(const Node& node, std::string_view key) {
  const Node* found = node.find(key);
  return found != nullptr ? found->text : std::string();
}

Reading constant(const std::string& name, const Node& value) {
  Reading fact{.name = name, .text = value.text};
  if (const auto number = value.kind == Node::Kind::integer ? value.as_integer() : std::nullopt) {
    fact.kind = Reading::Kind::integer;
    fact.integer = *number;
  }
  return fact;
}

std::vector<Example> examples_of(const Document& document, const Node& node) {
  std::vector<Example> out;
  const Node* examples = node.find("examples");
  if (examples == nullptr) return out;
  for (const Node& item : examples->items) {
    Example example{.text = text_at(item, "text"), .where = document.at(item)};
    if (const Node* values = item.find("values"))
      for (const Entry& entry : values->entries) example.values.emplace_back(entry.key, entry.value.text);
    out.push_back(std::move(example));
  }
  return out;
}

const std::vector<std::string_view>& known_keys() {
  static const std::vector<std::string_view> known{"letters", "whole_word", "id",       "family",  "says",
                                                   "where",   "phase",      "versions", "source",  "text",
                                                   "anchor",  "whole_line", "adds",     "examples"};
  return known;
}

bool is_small(const Program& program, std::string_view anchor) {
  const auto large = [](char c) { return c >= 'A' && c <= 'Z'; };
  return std::none_of(anchor.begin(), anchor.end(), large) &&
         std::none_of(program.begin(), program.end(),
                      [&](const Instruction& i) { return std::any_of(i.literal.begin(), i.literal.end(), large); });
}

Result<Sentence> sentence_of(const Document& document, const Node& node, std::string_view file) {
  if (Diagnostics wrong = unknown_keys(document, node, known_keys(), "a sentence"); !wrong.empty()) return wrong;
  const std::optional<Says> says = says_named(text_at(node, "says"));
  if (!says) return bad(document, node, "\"says\" is none of the words of docs/diagnose.md: " + text_at(node, "says"));
  Sentence out;
  out.id = std::string(file) + '/' + text_at(node, "id");
  out.family = text_at(node, "family");
  out.says = *says;
  out.place = where_named(text_at(node, "where")).value_or(Where::none);
  out.phase = text_at(node, "phase");
  out.text = text_at(node, "text");
  out.where = document.at(node);
  out.whole_line = text_at(node, "whole_line") == "true";
  out.whole_word = text_at(node, "whole_word") == "true";
  const std::string letters = text_at(node, "letters");
  if (!letters.empty() && letters != "any") return bad(document, *node.find("letters"), "\"letters\" can only be any");
  if (!letters.empty()) out.letters = Letters::any;
  Compiled compiled = compile(out.text);
  if (!compiled.error.empty()) return bad(document, *node.find("text"), "the sentence " + compiled.error);
  out.program = std::move(compiled.program);
  out.anchor = text_at(node, "anchor");
  if (out.anchor.empty()) out.anchor = anchor_in(required_literals(out.program));
  if (out.letters == Letters::any && !is_small(out.program, out.anchor))
    return bad(document, *node.find("text"), "a sentence in any letters is written in small ones");
  if (out.anchor.size() < shortest_anchor)
    return bad(document, node, "the sentence has no words of its own that are always there and long enough");
  if (const Node* adds = node.find("adds"))
    for (const Entry& entry : adds->entries) out.adds.push_back(constant(entry.key, entry.value));
  out.examples = examples_of(document, node);
  return out;
}

}  // namespace

Result<std::vector<Sentence>> sentences_of(const Document& document, std::string_view name) {
  const Node* list = document.root.find("sentences");
  if (list == nullptr || !list->is_sequence()) return bad(document, document.root, "there is no list \"sentences\"");
  std::vector<Sentence> out;
  Diagnostics errors;
  for (const Node& node : list->items) {
    Result<Sentence> sentence = sentence_of(document, node, name);
    if (sentence) {
      out.push_back(std::move(*sentence));
    } else {
      errors.insert(errors.end(), sentence.errors().begin(), sentence.errors().end());
    }
  }
  if (!errors.empty()) return errors;
  return out;
}

std::vector<std::string> spellings(const Sentence& sentence) {
  std::vector<std::string> out{sentence.anchor};
  if (sentence.letters == Letters::as_written) return out;
  constexpr std::size_t short_word = 3;  // "of" and "for" stay small in titles
  const auto capital = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
  std::string first = sentence.anchor;
  first[0] = capital(first[0]);
  std::string words = first;
  std::string long_words = first;
  std::string all = first;
  for (std::size_t i = 1; i < all.size(); ++i) {
    all[i] = capital(all[i]);
    const bool begins = sentence.anchor[i - 1] == ' ' || sentence.anchor[i - 1] == '-' || sentence.anchor[i - 1] == '_';
    if (!begins) continue;
    words[i] = all[i];
    if (std::min(sentence.anchor.find(' ', i), sentence.anchor.size()) - i > short_word) long_words[i] = all[i];
  }
  for (std::string& one : std::vector{first, words, long_words, all})
    if (std::find(out.begin(), out.end(), one) == out.end()) out.push_back(std::move(one));
  return out;
}

bool is_loud(Says says) {
  switch (says) {
    case Says::frame:
    case Says::progress:
    case Says::hint:
    case Says::detail:
      return false;
    default:
      return true;
  }
}

}  // namespace oomplan::diagnose
