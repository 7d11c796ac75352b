// Any bytes at all as a log: a diagnosis comes, its places are in the text, nothing in it drives a terminal, and how
// the text is cut into blocks does not matter.
#include <cstdint>
#include <string>
#include <string_view>

#include "oomplan/diagnose/diagnose.hpp"
#include "oomplan/report/diagnosis_view.hpp"
#include "require.hpp"

namespace {

using namespace oomplan;

const Rulebook& rules() {
  static const Rulebook book = *Rulebook::load();
  return book;
}

Diagnosis in_blocks(std::string_view text, std::size_t size) {
  Inquest inquest(rules());
  inquest.begin("log");
  while (!text.empty()) {
    const std::size_t end = text.find('\n', std::min(size, text.size() - 1));
    const std::string_view block = text.substr(0, end == std::string_view::npos ? end : end + 1);
    inquest.read(block);
    text.remove_prefix(block.size());
  }
  return inquest.finish();
}

void check(const Diagnosis& whole, std::string_view text) {
  require(!whole.headline.empty() && !whole.verdict.reason.empty(), "a diagnosis says what and why");
  if (!whole.root) return;
  const int line = whole.root->where.line;
  require(line >= 1 && line <= count_newlines(text) + 1, "a place is in the text");
}

int check_text(const Diagnosis& whole) {
  for (const char c : diagnosis_text(whole))
    require(c == '\n' || static_cast<unsigned char>(c) >= 0x20, "nothing drives a terminal");
  return 0;
}

int check_json(const Diagnosis& whole) {
  require(!diagnosis_json(whole).empty(), "a diagnosis is JSON");
  return 0;
}

int check_blocks(const Diagnosis& whole, std::string_view text) {
  const Diagnosis cut = in_blocks(text, 64);
  require(cut.verdict.cause == whole.verdict.cause, "blocks do not change the cause");
  require(cut.root.has_value() == whole.root.has_value(), "nor whether there is a root");
  if (cut.root) require(cut.root->where.line == whole.root->where.line, "nor where it is");
  return 0;
}

}  // namespace

// Of the laws beside the first one an input is held to one, chosen by its size: each costs as much as a diagnosis.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Diagnosis whole = diagnose_text(rules(), text, "log");
  check(whole, text);
  switch (size % 8) {
    case 0:
      return check_text(whole);
    case 1:
      return check_json(whole);
    case 2:
    case 3:
      return check_blocks(whole, text);
    default:
      return 0;
  }
}
