#include "code.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "reader.hpp"
#include "words.hpp"

namespace oomplan::diagnose {
namespace {

using namespace std::string_view_literals;

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool begins_with_any(std::string_view text, const auto& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.starts_with(word); });
}

// Behind "src/alloc.cc:104:" of grep.
std::string_view without_place(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.substr(0, colon).find_first_of(" \"'(") != std::string_view::npos)
    return text;
  const std::size_t end = text.find_first_not_of("0123456789", colon + 1);
  const bool numbered = end != std::string_view::npos && end > colon + 1 && text[end] == ':';
  return numbered && text.substr(0, colon).find('.') != std::string_view::npos ? text.substr(end) : text;
}

// Without what shows it: its place, its number, a bar, an arrow, the sign of a diff.
std::string_view statement(std::string_view text) {
  text = without_place(text);
  const std::size_t begin = text.find_first_not_of(" \t0123456789:|>+-\xE2\x94\x82\x9D\xB1");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

// The name that is called where an argument begins: "logger.error", "RuntimeError".
std::string_view called(std::string_view lead) {
  std::size_t begin = lead.size();
  while (begin > 0 && (is_alnum(lead[begin - 1]) || "_.:!"sv.find(lead[begin - 1]) != std::string_view::npos)) --begin;
  return lead.substr(begin);
}

// An error is printed as the call that makes it, RuntimeError('…'); what prints or raises one is a name in small
// letters, or one behind a dot.
bool is_function(std::string_view name) {
  if (name.empty() || name.ends_with("Error") || name.ends_with("Exception")) return false;
  return std::islower(static_cast<unsigned char>(name.front())) != 0 || name.find('.') != std::string_view::npos;
}

// What ends with "(" begins the argument of a function, or of an error that is one: is_full(RuntimeError("…
bool calls_function(std::string_view outer) {
  if (!outer.ends_with('(')) return false;
  outer.remove_suffix(1);
  const std::string_view name = called(outer);
  if (is_function(name)) return true;
  outer.remove_suffix(name.size());
  return !name.empty() && outer.ends_with('(') && is_function(called(outer.substr(0, outer.size() - 1)));
}

// A match may begin with the word that the literal stands in: print("CUDA
std::size_t behind_call(std::string_view text, std::size_t begin) {
  const std::size_t from = std::min(begin, text.size());
  const std::string_view word = text.substr(from, text.find(' ', from) - from);
  const std::size_t call = word.find('(');
  const std::size_t sign = call == std::string_view::npos ? call : word.find_first_of("\"'`", call);
  return sign == std::string_view::npos ? begin : from + sign + 1;
}

// print("…"), logger.error(f'…'), LOG(ERROR) << "…", echo "…", if "…" in text:
bool is_literal(std::string_view text, std::size_t begin) {
  std::string_view lead =
      text.substr(0, std::min(behind_call(text, begin) + 1, text.size()));  // a match may take in the sign
  const std::size_t open = lead.find_last_of("\"'`");
  if (open == std::string_view::npos) return false;
  const char sign = lead[open];
  lead = lead.substr(0, open);
  if (std::ranges::count(lead, sign) % 2 != 0) return false;  // it closes another
  constexpr std::size_t longest_opening = 2;                  // f"…", rb"…"
  std::size_t letters = 0;
  while (letters < longest_opening && letters < lead.size() &&
         "fFrRbBuU"sv.find(lead[lead.size() - 1 - letters]) != std::string_view::npos)
    ++letters;
  const std::string_view before = lead.substr(0, lead.size() - letters);
  for (const std::string_view outer : {lead, before})
    if (calls_function(outer)) return true;
  if (lead.ends_with("<< ")) return true;
  constexpr std::array comparing{"== "sv, "!= "sv, ":= "sv, "=~ "sv};
  if (std::ranges::any_of(comparing, [&](std::string_view word) { return lead.ends_with(word); })) return true;
  constexpr std::array printing{"echo "sv, "print "sv, "printf "sv, "puts "sv,  "return "sv,
                                "case "sv, "[ \"$"sv,  "[[ $"sv,    "SELECT "sv};
  constexpr std::array testing{"if "sv, "elif "sv, "} else if "sv, "while "sv, "unless "sv};
  const std::string_view code = statement(text);
  const bool block = text.ends_with(':') || text.ends_with('{') || text.ends_with("; then");
  return begins_with_any(code, printing) || (block && begins_with_any(code, testing));
}

// "%s", "%zu": a format, and no number or text that was printed by it.
bool has_open_format(std::string_view text) {
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    if (at > 0 && (is_alnum(text[at - 1]) || text[at - 1] == '%')) continue;
    std::size_t end = std::min(text.find_first_not_of("-0123456789.", at + 1), text.size());
    while (end < text.size() && "lzh"sv.find(text[end]) != std::string_view::npos) ++end;
    const bool kind = end < text.size() && "dsuvxf"sv.find(text[end]) != std::string_view::npos;
    if (kind && (end + 1 == text.size() || !is_alnum(text[end + 1]))) return true;
  }
  return false;
}

// "Tried to allocate X GiB", "X.XX MiB", "N bytes": somebody's letters in a number's place.
bool has_letter_for_number(std::string_view text) {
  constexpr std::array letters{" X "sv, " XX "sv, " XXX "sv, " X.XX "sv, " XX.XX "sv, " N "sv};
  constexpr std::array units{"GiB"sv, "MiB"sv, "GB"sv, "MB"sv, "bytes"sv};
  return std::ranges::any_of(letters, [&](std::string_view letter) {
    const std::size_t at = text.find(letter);
    return at != std::string_view::npos && begins_with_any(text.substr(at + letter.size()), units);
  });
}

// "{{ $labels.pod }}", "{{ .Values.name }}"
bool has_open_template(std::string_view text) {
  for (std::size_t at = text.find("{{"); at != std::string_view::npos; at = text.find("{{", at + 1)) {
    const std::size_t name = text.find_first_not_of(' ', at + 2);
    if (name != std::string_view::npos && (text[name] == '$' || text[name] == '.')) return true;
  }
  return false;
}

// kube_pod_status_reason{reason="OOMKilled"} == 1: Prometheus asks; a sample has its value behind the labels.
bool is_condition_on_labels(std::string_view text, std::size_t begin, std::size_t end) {
  const std::size_t open = text.substr(0, std::min(begin, text.size())).rfind('{');
  const std::size_t close = text.find('}', std::min(end, text.size()));
  if (open == std::string_view::npos || close == std::string_view::npos) return false;
  const std::size_t metric = text.substr(0, open).find_last_not_of(' ');
  if (metric == std::string_view::npos || (!is_alnum(text[metric]) && text[metric] != '_')) return false;
  std::string_view rest = text.substr(close + 1);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::string_view label = text.substr(open, close - open);
  if (rest.empty() && (label.find("=\"") != label.npos || label.find("= \"") != label.npos)) return true;
  constexpr std::array asking{"=="sv, "!="sv, ">"sv, "<"sv, "["sv, ")"sv};
  return begins_with_any(rest, asking);
}

// OOM_WORDS = ["…"], #define CUDA_ERROR_OUT_OF_MEMORY 2, CUDA_ERROR_OUT_OF_MEMORY = 2,
bool is_constant(std::string_view text) {
  const std::string_view code = statement(text);
  if (begins_with_any(code, std::array{"const "sv, "#define "sv})) return true;
  if (code.starts_with("case ") && code.find(": return ") != std::string_view::npos) return true;
  const std::size_t word =
      std::ranges::find_if_not(code, [](char c) { return is_alnum(c) || c == '_'; }) - code.begin();
  if (word == 0 || !code.substr(word).starts_with(" = ")) return false;
  const std::string_view value = code.substr(word + 3);
  const std::size_t digits = value.find_first_not_of("0123456789");
  if (digits > 0 && digits < value.size() && value.substr(digits) == ",") return true;  // of an enumeration
  const std::size_t end = code.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  if (end != word) return false;
  return begins_with_any(value, std::array{"\""sv, "'"sv, "["sv, "("sv, "{"sv, "r\""sv, "f\""sv}) ||
         (digits > 0 && digits == std::string_view::npos);
}

// kubectl get pods | grep OOMKilled
bool is_looked_for_by_grep(std::string_view text, std::size_t begin) {
  std::string_view lead = text.substr(0, std::min(begin, text.size()));
  while (lead.ends_with('"') || lead.ends_with('\'')) lead.remove_suffix(1);
  const std::size_t grep = lead.rfind("grep ");
  if (grep == std::string_view::npos || (grep > 0 && is_alnum(lead[grep - 1]) && lead[grep - 1] != 'e')) return false;
  const std::string_view options = lead.substr(grep + 5);
  return options.empty() || (options.starts_with('-') && options.ends_with(' '));
}

// "on_oom: skip": one name, and its value.
bool is_setting(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" -");
  const std::size_t colon = text.find(": ");
  if (begin == std::string_view::npos || colon == std::string_view::npos || colon <= begin) return false;
  const auto is_of_name = [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  const std::string_view value = text.substr(colon + 2);
  return std::ranges::all_of(text.substr(begin, colon - begin), is_of_name) &&
         value.find_first_not_of(' ') != std::string_view::npos && value.find(": ") == std::string_view::npos;
}

// outputs = model(inputs)  # RuntimeError: CUDA out of memory here
bool is_comment(std::string_view text, std::size_t begin) {
  const std::size_t sign = text.substr(0, std::min(begin, text.size())).rfind(" # ");
  if (sign == std::string_view::npos) return false;
  std::string_view code = text.substr(0, sign);
  if (code.ends_with(' ') && is_setting(code) && !begins_with_exception(code))
    return true;  // "on_oom: skip      # RuntimeError: CUDA out of memory"
  while (code.ends_with(' ')) code.remove_suffix(1);
  const std::size_t open = code.find('(');
  return code.ends_with(')') && open != std::string_view::npos && is_function(called(code.substr(0, open)));
}

// An arm of a choice: "OOMKilled" => …
bool is_arm(std::string_view text, std::size_t end) {
  const std::string_view rest = end < text.size() ? text.substr(end) : std::string_view();
  return statement(text).starts_with('"') && begins_with_any(rest, std::array{"\" => "sv, " => "sv});
}

// -XX:+ExitOnOutOfMemoryError, --retry-on-oom: in the name of an option.
bool is_of_option(std::string_view text, std::size_t begin) {
  const std::string_view lead = text.substr(0, std::min(begin, text.size()));
  const std::size_t blank = lead.find_last_of(" \"'=");
  const std::string_view word = blank == std::string_view::npos ? lead : lead.substr(blank + 1);
  return word.size() > 2 && word.starts_with('-') && (is_alnum(word[1]) || word[1] == '-');
}

}  // namespace

bool shows_code(std::string_view text) {
  constexpr std::array openings{"except "sv, "raise "sv,     "with pytest"sv, "with self.assert"sv,
                                "import "sv, "assert "sv,    "catch ("sv,     "} catch"sv,
                                "throw "sv,  "* @throws "sv, "@throws "sv,    "// "sv};
  return begins_with_any(statement(text), openings);
}

bool stands_in_code(std::string_view text, std::size_t begin, std::size_t end) {
  const bool of_pattern = text.substr(0, begin).ends_with(".*");                // "except .*OutOfMemoryError"
  constexpr auto passed = std::to_array<std::string_view>({"✓ ", "√ ", "✔ "});  // a test of that name
  if (begins_with_any(text.substr(std::min(text.find_first_not_of(' '), text.size())), passed)) return true;
  return of_pattern || is_literal(text, begin) || has_open_format(text) || has_open_template(text) ||
         has_letter_for_number(text) || text.find("\\d+") != std::string_view::npos ||
         is_condition_on_labels(text, begin, end) || is_constant(text) || is_looked_for_by_grep(text, begin) ||
         is_of_option(text, begin) || is_comment(text, begin) || is_arm(text, end);
}

}  // namespace oomplan::diagnose
