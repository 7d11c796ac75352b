// What the rules know of logs, for the fuzzer: a seed of each sentence's examples, and a dictionary of what they look
// for. seeds FOLDER: writes FOLDER/log/… and FOLDER/log.dict.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "oomplan/diagnose/diagnose.hpp"
#include "rules.hpp"

namespace {

using namespace oomplan;

/// As libFuzzer reads it.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    char code[5];
    std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned char>(c));
    const bool plain = c >= ' ' && c < '\x7f' && c != '"' && c != '\\';
    out += plain ? std::string(1, c) : std::string(code);
  }
  return out + "\"";
}

std::string file_name(std::string id, std::size_t example) {
  std::ranges::replace(id, '/', '-');
  return id + "-" + std::to_string(example);
}

std::set<std::string> words_of(const diagnose::Sentence& sentence) {
  std::set<std::string> out{sentence.anchor};
  for (const diagnose::Instruction& step : sentence.program)
    if (step.kind == diagnose::Instruction::Kind::literal && step.literal.size() > 1) out.insert(step.literal);
  return out;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder / "log");
  const Rulebook book = *Rulebook::load();
  std::set<std::string> words;
  for (const diagnose::Sentence& sentence : book.rules().sentences) {
    words.merge(words_of(sentence));
    for (std::size_t i = 0; i < sentence.examples.size(); ++i)
      std::ofstream(folder / "log" / file_name(sentence.id, i)) << sentence.examples[i].text << "\n";
  }
  std::ofstream dictionary(folder / "log.dict");
  for (const std::string& word : words) dictionary << quoted(word) << "\n";
  std::printf("%zu sentences, %zu words\n", book.rules().sentences.size(), words.size());
}
