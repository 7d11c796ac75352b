#include "oomplan/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "accounts.hpp"
#include "join.hpp"
#include "oomplan/report/diagnosis_view.hpp"

namespace oomplan {
namespace {

std::string place(const Location& where) {
  return printable(where.file) + (where.line > 0 ? ":" + std::to_string(where.line) : std::string());
}

std::string bold(const std::string& text, const DiagnosisViewOptions& options) {
  return options.colour ? "\x1b[1m" + text + "\x1b[0m" : text;
}

// Words of `words` in lines of at most `width`, each after `indent`, the first after `first`.
std::string wrapped(std::string_view words, const std::string& first, const std::string& indent, std::size_t width) {
  const std::string safe = printable(words);  // what a log says may be in it
  std::string_view text = safe;
  std::string out = first;
  std::size_t column = first.size();
  bool begins = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!begins && column + 1 + word.size() > width) {
      out += "\n" + indent;
      column = indent.size();
      begins = true;
    }
    if (!begins) out += ' ';
    out += word;
    column += word.size() + (begins ? 0 : 1);
    begins = false;
  }
  return out + "\n";
}

// Of a line that a program may look for.
std::size_t verdict_width(const DiagnosisViewOptions& options) {
  return options.breaks ? options.width : std::string::npos;
}

std::string shortened(const std::string& line, std::size_t most = 180) {
  std::string out = printable(line);
  if (out.size() <= most) return out;
  out.resize(most);
  out.resize(valid_utf8(out));
  return out + "…";
}

void heading(std::string_view title, const DiagnosisViewOptions& options, std::string& out) {
  out += "\n" + bold(std::string(title), options) + "\n";
}

// Of one log the lines' order tells; of several their times do.
std::string time_of(const Evidence& e, const Diagnosis& d) {
  const auto elsewhere = [&](const Evidence& other) { return other.where.file != d.root->where.file; };
  const bool several =
      d.root && (std::ranges::any_of(d.supporting, elsewhere) || std::ranges::any_of(d.consequences, elsewhere));
  return several && !e.time.empty() ? "[" + e.time + "] " : std::string();
}

void add_why(const Diagnosis& d, const DiagnosisViewOptions& options, std::string& out) {
  heading("Why", options, out);
  if (d.root)
    out += wrapped(place(d.root->where) + ": " + time_of(*d.root, d) + shortened(d.root->text, 600), "  ", "    ",
                   verdict_width(options));
  out += wrapped(fmt::format("{}: {}", name_of(d.verdict.confidence), d.verdict.reason), "  ", "    ", options.width);
  for (const std::string& line : d.verdict.arithmetic) out += wrapped(line, "  = ", "    ", options.width);
  for (const std::string& line : d.verdict.against) out += wrapped("but " + line, "  ", "    ", options.width);
  if (!d.moment.where.file.empty())
    out += fmt::format("  {}: {}: {}\n", place(d.moment.where), d.moment.phase, shortened(d.moment.reason, 120));
  for (const Finding& finding : d.also)
    out += wrapped(finding.text + " [" + finding.id + "]", "  also ", "    ", options.width);
}

void add_shown(const Diagnosis& d, const DiagnosisViewOptions& options, std::string& out) {
  if (d.shows.empty()) return;
  heading("What the log does show", options, out);
  for (const Shown& shown : d.shows)
    out += fmt::format("  {}: {}: {}\n", place(shown.where), shown.what, shortened(shown.text));
}

void add_lines(std::string_view title, const std::vector<Evidence>& lines, const Diagnosis& d,
               const DiagnosisViewOptions& options, std::string& out) {
  if (lines.empty()) return;
  heading(title, options, out);
  for (const Evidence& e : lines) out += "  " + place(e.where) + ": " + time_of(e, d) + shortened(e.text) + "\n";
}

void add_fixes(std::string_view title, const std::vector<Fix>& fixes, const DiagnosisViewOptions& options,
               std::string& out) {
  if (fixes.empty()) return;
  heading(title, options, out);
  for (const Fix& fix : fixes)
    out += wrapped(fix.text, fmt::format("  {:<22} ", fix.id), std::string(25, ' '), options.width);
}

void add_alternatives(const Diagnosis& d, const DiagnosisViewOptions& options, std::string& out) {
  if (d.alternatives.empty()) return;
  heading("Less likely", options, out);
  for (const Judgement& j : d.alternatives)
    out += wrapped(fmt::format("{}: {}{}{}", name_of(j.cause), j.reason, j.arithmetic.empty() ? "" : "; ",
                               j.arithmetic.empty() ? "" : j.arithmetic.front()),
                   "  ", "    ", options.width);
}

}  // namespace

std::string diagnosis_text(const Diagnosis& d, const DiagnosisViewOptions& options) {
  std::string head =
      wrapped(fmt::format("{}: {}", name_of(d.verdict.cause), d.headline), "", "  ", verdict_width(options));
  head.pop_back();  // the end of the line is not bold
  std::string out = bold(head, options) + "\n";
  add_why(d, options, out);
  add_shown(d, options, out);
  for (const std::string& meaning : d.meaning) out += wrapped(meaning, "  ", "    ", options.width);
  add_fixes("What to do", d.to_do, options, out);
  add_fixes("What not to do", d.not_to_do, options, out);
  if (!d.to_prove.empty())
    heading(d.verdict.cause == Cause::unknown ? "What would decide it" : "What would prove it", options, out);
  for (const std::string& command : d.to_prove) out += "  " + command + "\n";
  add_alternatives(d, options, out);
  add_lines("Other lines on it", d.supporting, d, options, out);
  add_lines("What followed from it", d.consequences, d, options, out);
  return out + report::accounts_text(d.accounts, options.colour) +
         report::join_text(d.join, options.colour, options.width);
}

}  // namespace oomplan
