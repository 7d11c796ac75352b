// What stands before a message: each kind of prefix is one function that takes itself off the text, or leaves it.
#include <algorithm>
#include <array>

#include "line.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::diagnose {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool name_char(char c) { return alpha(c) || digit(c) || c == '-' || c == '_' || c == '.'; }

std::size_t while_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && digit(text[at])) ++at;
  return at;
}

// Where a shape ends: '0' a run of digits, ' ' any white space, any other character itself; 0 where it is not there.
std::size_t shape(std::string_view text, std::string_view wanted) {
  std::size_t at = 0;
  for (const char c : wanted) {
    const std::size_t before = at;
    if (c == '0') {
      at = while_digits(text, at);
    } else if (c == ' ') {
      while (at < text.size() && text[at] == ' ') ++at;
    } else if (at < text.size() && text[at] == c) {
      ++at;
    }
    if (at == before) return 0;
  }
  return at;
}

void take(std::string_view& text, std::size_t count) {
  text.remove_prefix(count);
  while (text.starts_with(' ')) text.remove_prefix(1);
}

std::optional<std::int64_t> number(std::string_view digits) { return parse_integer(digits); }

// "[rank0]:", "[default3]:", "[Rank 2]", "rank3:"
bool rank_label(std::string_view& text, Line& line) {
  std::string_view rest = text;
  const bool bracket = rest.starts_with('[');
  if (bracket) rest.remove_prefix(1);
  for (const std::string_view word : {"rank", "Rank ", "Rank", "RANK ", "RANK", "default", "GPU", "worker"}) {
    if (!rest.starts_with(word)) continue;
    const std::size_t end = while_digits(rest, word.size());
    if (end == word.size() || end >= rest.size() || rest[end] != (bracket ? ']' : ':')) continue;
    line.rank = number(rest.substr(word.size(), end - word.size()));
    rest.remove_prefix(end + 1);
    if (bracket && rest.starts_with(':')) rest.remove_prefix(1);
    text = rest;
    if (text.starts_with(' ')) text.remove_prefix(1);
    return true;
  }
  return false;
}

// "[1,0]<stderr>:" of mpirun --tag-output, "0: " of srun --label
bool launcher_label(std::string_view& text, Line& line) {
  const std::size_t tag = shape(text, "[0,0]<");
  if (tag > 0) {
    const std::size_t comma = text.find(',');
    const std::size_t close = text.find('>', tag);
    if (close == std::string_view::npos || close > tag + 8) return false;
    line.rank = number(text.substr(comma + 1, tag - comma - 3));
    take(text, close + (text.substr(close).starts_with(">:") ? 2 : 1));
    return true;
  }
  const std::size_t label = shape(text, "0: ");
  if (label == 0 || label > 7) return false;
  line.rank = number(text.substr(0, while_digits(text, 0)));
  text.remove_prefix(while_digits(text, 0) + 2);
  return true;
}

// "(train pid=2657296) ", "(RayTrainWorker pid=1, ip=10.0.0.1) ", "(raylet) ", "(autoscaler +5s) "
bool ray_label(std::string_view& text, Line& line) {
  const std::size_t close = text.starts_with('(') ? text.substr(0, 120).find(')') : std::string_view::npos;
  if (close == std::string_view::npos) return false;
  const std::string_view name = text.substr(1, close - 1);
  const std::string_view word = name.substr(0, name.find_first_of(", "));
  if (name.find("pid=") == std::string_view::npos && word != "raylet" && word != "autoscaler") return false;
  line.source = std::string(text.substr(1, close - 1));
  text.remove_prefix(close + 1);
  if (text.starts_with(' ')) text.remove_prefix(1);
  return true;
}

// "deep-seek-1  | ", "ollama  | " of docker compose
bool compose_label(std::string_view& text, Line& line) {
  std::size_t at = 0;
  while (at < text.size() && at < 64 && name_char(text[at])) ++at;
  std::size_t bar = at;
  while (bar < text.size() && text[bar] == ' ') ++bar;
  const bool numbered =
      at > 0 && digit(text[at - 1]) && text.substr(0, at).find_first_of("-_") != std::string_view::npos;
  const bool padded = at > 1 && alpha(text[0]) && bar >= at + 2;  // compose pads names to one width, and a blank more
  if (!(numbered || padded) || bar == at || !text.substr(bar).starts_with("| ")) return false;
  line.source = std::string(text.substr(0, at));
  text.remove_prefix(bar + 2);
  return true;
}

// "node1: ", "worker-0: ", "10.0.0.4: " of pdsh: a host name with a number in it
bool host_label(std::string_view& text, Line& line) {
  std::size_t at = 0;
  bool numbered = false;
  while (at < text.size() && at < 64 && name_char(text[at])) numbered = digit(text[at++]) || numbered;
  const bool colon =
      at > 1 && numbered && text.substr(at).starts_with(": ") && text.substr(0, at).find('.') == std::string_view::npos;
  if (!colon || !alpha(text[0])) return false;
  line.source = std::string(text.substr(0, at));
  text.remove_prefix(at + 2);
  return true;
}

// ISO and its relatives, in brackets too, and what loggers put after them.
bool timestamp(std::string_view& text, Line& line) {
  const std::size_t indent = std::min(text.find_first_not_of(' '), text.size());  // a paste is indented
  const bool bracket = text.substr(indent).starts_with('[');
  const std::string_view inner = text.substr(indent + (bracket ? 1 : 0));
  std::size_t end = 0;
  for (const std::string_view wanted : {"0-0-0T0:0:0", "0-0-0 0:0:0", "0/0/0 0:0:0", "0/0/0-0:0:0"})
    end = std::max(end, shape(inner, wanted));
  if (end < 14) return false;
  while (end < inner.size() && (digit(inner[end]) || inner[end] == '.' || inner[end] == ',' || inner[end] == 'Z' ||
                                inner[end] == '+' || (inner[end] == '-' && while_digits(inner, end + 1) == end + 5) ||
                                (inner[end] == ':' && end + 1 < inner.size() && digit(inner[end + 1]))))
    ++end;
  if (bracket && (end >= inner.size() || inner[end] != ']')) return false;
  line.time = std::string(inner.substr(0, end));
  take(text, indent + end + (bracket ? 2 : 0));
  for (const std::string_view after : {"stdout F ", "stderr F ", "stdout P ", "stderr P ", "- ", ": "})
    if (text.starts_with(after)) text.remove_prefix(after.size());
  return true;
}

bool has_clock(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); at = digit(text[at]) ? while_digits(text, at) : at + 1)
    if (digit(text[at]) && shape(text.substr(at), "0:0:0") > 0) return true;
  return false;
}

// "[ 7063.247407]", "<6>[  12.3]", "[Sun Mar 30 08:24:00 2025]", "[T1234]"
bool kernel_time(std::string_view& text, Line& line) {
  std::string_view rest = text;
  if (const std::size_t level = shape(rest, "<0>"); level > 0) rest.remove_prefix(level);
  if (!rest.starts_with('[')) return false;
  const std::size_t close = rest.substr(0, 48).find(']');
  if (close == std::string_view::npos) return false;
  const std::string_view inside = rest.substr(1, close - 1);
  const bool uptime = shape(inside, "0.0") == inside.size() || shape(inside, " 0.0") == inside.size();
  const bool date = inside.size() >= 20 && has_clock(inside) && digit(inside.back()) &&
                    inside.find_first_of("(=/") == std::string_view::npos &&
                    alpha(inside[inside.find_first_not_of(' ')]);
  const std::size_t thread = inside.find_first_of("TC");
  const bool context = !line.time.empty() && thread != std::string_view::npos && thread + 1 < inside.size() &&
                       while_digits(inside, thread + 1) == inside.size() && inside.find_first_not_of(' ') == thread;
  if (!uptime && !date && !context) return false;
  if (!context) line.time = std::string(inside);
  take(rest, close + 1);
  text = rest;
  return true;
}

// "Nov 29 01:00:04 host kernel: ", "Dec 18 19:34:56 host systemd-oomd[840]: ", a month in any language
bool syslog(std::string_view& text, Line& line) {
  const std::size_t month = text.substr(0, 16).find(' ');
  if (month == std::string_view::npos || month < 3) return false;
  for (const char c : text.substr(0, month))
    if (digit(c) || (static_cast<unsigned char>(c) < 0x80 && !alpha(c) && c != '.')) return false;
  const std::size_t clock = shape(text.substr(month), " 0 0:0:0");
  if (clock == 0) return false;
  line.time = std::string(text.substr(0, month + clock));
  take(text, month + clock);
  const std::size_t host = text.find(' ');
  if (host == std::string_view::npos || host > 64) return true;
  line.source = std::string(text.substr(0, host));
  take(text, host + 1);
  return true;
}

// "| ERROR    | __main__:main:33 - " of loguru, "E0501 10:00:01.1 77 train.py:33] " of glog
bool logger_label(std::string_view& text, Line& line) {
  if (!line.time.empty() && text.starts_with("| ")) {
    const std::size_t second = text.substr(0, 24).find("| ", 2);
    const std::size_t dash = second == std::string_view::npos ? second : text.substr(0, 200).find(" - ", second);
    if (dash == std::string_view::npos) return false;
    take(text, dash + 3);
    return true;
  }
  const bool level = text.size() > 20 && std::string_view("IWEF").find(text[0]) != std::string_view::npos;
  const std::size_t clock = level ? shape(text.substr(1), "0 0:0:0.0 ") : 0;
  if (clock == 0 || while_digits(text, 1) != 5) return false;
  const std::size_t close = text.substr(0, 160).find("] ", clock);
  if (close == std::string_view::npos) return false;
  line.time = std::string(text.substr(1, clock - 1));
  text.remove_prefix(close + 2);
  return true;
}

// "10:00:01,123 ", "[10:00:01] ", "1714557600.123 ": a clock alone
bool clock_alone(std::string_view& text, Line& line) {
  const bool bracket = text.starts_with('[');
  const std::string_view inner = bracket ? text.substr(1) : text;
  std::size_t end = 0;
  for (const std::string_view wanted : {"0:0:0.0", "0:0:0,0", "0:0:0"})
    if (end == 0) end = shape(inner, wanted);
  const std::size_t seconds = shape(inner, "0.0");
  if (end == 0 && seconds > 11 && while_digits(inner, 0) == 10) end = seconds;
  if (end < 7 || end >= inner.size() || inner[end] != (bracket ? ']' : ' ')) return false;
  if (line.time.empty()) line.time = std::string(inner.substr(0, end));
  take(text, end + (bracket ? 2 : 1));
  return true;
}

// "[pod/train-0/pytorch] " of kubectl logs --prefix
bool pod_label(std::string_view& text, Line& line) {
  const std::size_t close = text.starts_with("[pod/") ? text.substr(0, 200).find("] ") : std::string_view::npos;
  if (close == std::string_view::npos) return false;
  line.source = std::string(text.substr(1, close - 1));
  text.remove_prefix(close + 2);
  return true;
}

// "python3[77]: ", "kubelet[1]: ": who wrote a line of the journal
bool journal_label(std::string_view& text, Line& line) {
  if (line.time.empty() || line.source.empty()) return false;
  std::size_t at = 0;
  while (at < text.size() && at < 48 && (name_char(text[at]) || text[at] == '/' || text[at] == '@')) ++at;
  if (at == 0 || at >= text.size() || text[at] != '[') return false;
  const std::size_t end = while_digits(text, at + 1);
  if (end == at + 1 || !text.substr(end).starts_with("]: ")) return false;
  line.source += " " + std::string(text.substr(0, end + 1));
  text.remove_prefix(end + 3);
  return true;
}

// "kernel: ", "earlyoom[26328]: ", "kern:     err: " after a time
bool process_label(std::string_view& text, Line& line) {
  if (text.starts_with("kern:")) {
    const std::size_t end = text.find(": ", 5);
    if (end == std::string_view::npos || end > 24) return false;
    take(text, end + 2);
    const std::size_t close = text.starts_with('[') ? text.find("]: ") : std::string_view::npos;
    if (close != std::string_view::npos && close < 48) {
      line.time = std::string(text.substr(1, close - 1));
      take(text, close + 3);
    }
    return true;
  }
  if (line.time.empty()) return false;
  for (const std::string_view word : {"kernel: ", "kernel ", "earlyoom: "}) {
    if (!text.starts_with(word)) continue;
    take(text, word.size());
    return true;
  }
  for (const std::string_view word : {"earlyoom[", "systemd-oomd[", "systemd["}) {
    const std::size_t end = text.starts_with(word) ? text.find("]: ") : std::string_view::npos;
    if (end == std::string_view::npos) continue;
    take(text, end + 3);
    return true;
  }
  return false;
}

// "985-1454/com.app E/" of Android's log: process, thread, package and level before the tag.
bool logcat_label(std::string_view& text, Line& /*line*/) {
  const std::size_t dash = while_digits(text, 0);
  if (dash == 0 || dash >= text.size() || text[dash] != '-') return false;
  const std::size_t slash = while_digits(text, dash + 1);
  if (slash == dash + 1 || slash >= text.size() || text[slash] != '/') return false;
  const std::size_t blank = text.find(' ', slash);
  if (blank == std::string_view::npos || blank + 2 >= text.size() || text[blank + 2] != '/') return false;
  if (std::string_view("VDIWEF").find(text[blank + 1]) == std::string_view::npos) return false;
  take(text, blank + 3);
  return true;
}

// A quoted, commented or boxed paste.
bool quoting(std::string_view& text, Line& line) {
  for (const std::string_view mark : {"# ", "> ", "│ ", "┃ ", "| │ "}) {
    if (!text.starts_with(mark)) continue;
    line.cited = line.cited || mark == "> ";
    line.titled = line.titled || mark == "# ";
    text.remove_prefix(mark.size());
    return true;
  }
  if (line.column == 0) return false;
  // Between two items of a list of lines.
  for (const std::string_view mark : {"', '", "\", \"", "', \"", "\", '", "['", "[\"", "b'", "b\""}) {
    if (!text.starts_with(mark)) continue;
    text.remove_prefix(mark.size());
    return true;
  }
  return false;
}

// "Saving…            train_util.py:779" of rich's handler: who logged it stands in a column of its own.
std::string_view without_place(std::string_view text) {
  const std::size_t gap = text.rfind("   ");
  if (gap == std::string_view::npos) return text;
  const std::string_view place = text.substr(gap + 3);
  const std::size_t colon = place.find(".py:");
  const bool named = colon != std::string_view::npos && colon > 0 &&
                     std::all_of(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(colon), name_char);
  const std::size_t number = colon + 4;
  if (!named || number == place.size() || while_digits(place, number) != place.size()) return text;
  return text.substr(0, gap);
}

using Strip = bool (*)(std::string_view&, Line&);
constexpr auto all = std::to_array<Strip>({quoting, timestamp, syslog, kernel_time, process_label, journal_label,
                                           logger_label, clock_alone, pod_label, logcat_label, rank_label, ray_label,
                                           launcher_label, compose_label, host_label});

}  // namespace

void strip_prefixes(Line& line) {
  std::string_view text = line.body;
  bool again = true;
  for (int round = 0; again && round < 8; ++round) {
    again = false;
    for (const Strip strip : all) again = strip(text, line) || again;
    line.prefixed = line.prefixed || again;
  }
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  text = without_place(text);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.ends_with("│")) text.remove_suffix(3);
  if (text.size() != line.body.size()) line.body = std::string(text);
}

}  // namespace oomplan::diagnose
