#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "code.hpp"
#include "reader.hpp"
#include "words.hpp"

namespace oomplan::diagnose {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t lines_above = 6;  // code, and the carets under it, stand between a frame and its error

// "----> 3 train()" of IPython, "❱ 281 │ trainer.fit(model)" of rich: the line of a frame that was running.
bool is_arrow(std::string_view text) {
  constexpr std::string_view rich = "\xE2\x9D\xB1";
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  if (text.starts_with(rich)) {
    text.remove_prefix(rich.size());
  } else {
    const std::size_t head = text.find_first_not_of('-');
    if (head == std::string_view::npos || head < 2 || text[head] != '>') return false;
    text.remove_prefix(head + 1);
  }
  const std::size_t number = text.find_first_not_of(' ');
  if (number == 0 || number == std::string_view::npos) return false;
  const std::size_t end = text.find_first_not_of("0123456789", number);
  return end != std::string_view::npos && end > number && text[end] == ' ';
}

bool has_any(std::string_view text, const auto& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// A panic of Rust says why in the line after its place.
bool is_panic(std::string_view text) { return text.find("' panicked at ") != std::string_view::npos; }

constexpr auto failing = std::to_array<std::string_view>(
    {"rror", "ERROR", "FATAL", "atal", "xception", "anic", "ailed", "ailure", "bort", "erminate", "what():", "illed ",
     "ran out of", "fail to", "unable", "Unable", "command not found"});
constexpr auto advising = std::to_array<std::string_view>(
    {"If you", "if you", "to avoid", "avoid ", "may cause", "may have ", "may mean ", "may be ", "might ", "probably ",
     "can cause", "in case of", "prevent", "How to", "how to", "?"});
constexpr auto no_failure = std::to_array<std::string_view>(
    {"retry", "skip", "Skip", "SKIPPED", "PASSED", "arning", "WARN", "INFO", " # ", "DEBUG"});

// What else than memory runs out, or is refused, in the same words.
constexpr auto other_resources = std::to_array<std::string_view>(
    {"quota", "Quota", "rate limit", "Rate limit", "Too many requests", "too many requests", "requests per", " disk",
     "scratch", "PersistentVolume", "swap file", "larger than max ("});

// HTTP's "too many requests", and not the first digits of 2^32.
bool has_status_429(std::string_view text) {
  constexpr std::string_view status = " 429";
  for (std::size_t at = text.find(status); at != std::string_view::npos; at = text.find(status, at + 1)) {
    const std::size_t end = at + status.size();
    if (end == text.size() || std::isdigit(static_cast<unsigned char>(text[end])) == 0) return true;
  }
  return false;
}

// "F - [conn4] ": a level and a thread.
std::size_t end_of_brackets(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t close = text[at] == '[' ? text.find("] ", at) : std::string_view::npos;
    const bool sign = at + 1 < text.size() && text[at + 1] == ' ';
    if (close == std::string_view::npos && !sign) return at;
    at = std::min(text.find_first_not_of(' ', close == std::string_view::npos ? at + 1 : close + 1), text.size());
  }
  return at;
}

// "samtools sort": a command and what it was to do.
bool is_command(std::string_view name) {
  constexpr std::size_t longest = 24;
  const std::size_t blank = name.find(' ');
  return name.size() <= longest && name.find(' ', blank + 1) == std::string_view::npos &&
         std::all_of(name.begin(), name.end(), [](char c) {
           const auto sign = static_cast<unsigned char>(c);
           return std::islower(sign) != 0 || std::isdigit(sign) != 0 || c == ' ' || c == '-' || c == '_' || c == '.';
         });
}

// "lua: ", "bash: xrealloc: ", "GPUassert: ": who speaks, with no blank in the name.
std::size_t end_of_labels(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::size_t at = end_of_brackets(text);
  for (std::size_t end = text.find(": "); end != std::string_view::npos; end = text.find(": ", at)) {
    const std::string_view name = text.substr(at, end - at);
    if (name.empty() || name.size() > longest || (name.find(' ') != std::string_view::npos && !is_command(name))) break;
    at = text.find_first_not_of(' ', end + 1);
    if (at == std::string_view::npos) return text.size();
  }
  return at;
}

bool ends_clause(std::string_view rest) {
  constexpr std::string_view signs = ".,:;!)\n";
  return rest.empty() || signs.find(rest.front()) != std::string_view::npos;
}

// `"cuda |out of memory|. tried to …`: a quote, and whose memory it is.
bool is_kind_alone(std::string_view lead) {
  const std::size_t first = std::min(lead.find_first_not_of("\"'`"), lead.size());
  const std::size_t end = std::min(lead.find(' ', first), lead.size());
  return first > 0 && first < end && end + 1 == lead.size() && speaks_of_gpu(lead.substr(first, end - first));
}

// "It will |fail to allocate| …", "what happens when a library |runs out of memory|": at whatever time.
bool is_at_any_time(std::string_view clause_before, std::string_view match) {
  constexpr std::array present{"fail"sv, "fails"sv, "run"sv, "runs"sv, "exceed"sv, "exceeds"sv};
  constexpr std::array modal{"will"sv, "would"sv, "may"sv, "might"sv, "can"sv, "could"sv, "should"sv, "to"sv};
  constexpr std::array conditional{"if"sv, "when"sv, "whenever"sv};
  const std::size_t colon = clause_before.rfind(": ");
  if (colon != std::string_view::npos) clause_before.remove_prefix(colon + 2);
  const Words before = words_of(clause_before);
  if (before.writer || !is_in(present, lowered(match.substr(0, match.find(' '))))) return false;
  return is_in(modal, before.last) || has_word_of(clause_before, conditional);
}

// "Out of memory in frob()" on a line of its own tells what happened.
bool states(std::string_view text, std::size_t begin, std::size_t length) {
  constexpr auto goes_on = std::to_array<std::string_view>(
      {":",     ".",    "!",    ",",        ";",   "(",        " (",           " in ", " at ", " while ",     " when ",
       " for ", " of ", " on ", " trying ", " - ", " during ", " allocating ", " [",   " / ",  " to allocate"});
  constexpr auto last = std::to_array<std::string_view>({" error", " available", " left", " detected", " exception"});
  const std::string_view lead = text.substr(0, std::min(begin, text.size()));
  if (begin != 0 && begin != end_of_labels(lead) && !is_kind_alone(lead)) return false;
  if (begin + length > text.size()) return false;
  text.remove_prefix(begin + length);
  const std::string_view word = text.substr(0, text.find(' ', 1));
  const std::size_t sign = word.find_first_of("./");
  const bool place = word.starts_with(' ') && sign != std::string_view::npos && sign + 1 < word.size();
  const auto begins = [&](std::string_view words) { return text.starts_with(words); };
  return text.empty() || place || std::any_of(goes_on.begin(), goes_on.end(), begins) ||
         std::any_of(last.begin(), last.end(),
                     [&](std::string_view words) { return begins(words) && ends_clause(text.substr(words.size())); });
}

// "Volume full of voxels", "filesystem full path": the words of a full disk, and not what they say.
bool tells_of_disk(std::string_view text, std::size_t end) {
  constexpr auto goes_on = std::to_array<std::string_view>(
      {" on ", " for ", " at ", " while ", " when ", " (", " - ", " to ", " during ", "\"", "'"});
  if (end > text.size()) return false;
  text.remove_prefix(end);
  return ends_clause(text) ||
         std::any_of(goes_on.begin(), goes_on.end(), [&](std::string_view words) { return text.starts_with(words); });
}

// What a program says in its last lines, after nothing but its name, is why it ended; further up it is one of many.
bool is_last_word(const std::vector<Line>& lines, std::size_t index, std::size_t begin) {
  constexpr std::size_t last_lines = 4;
  if (begin != 0 && begin != end_of_labels(std::string_view(lines[index].body).substr(0, begin))) return false;
  std::size_t after = 0;
  for (std::size_t i = index + 1; i < lines.size() && lines[i].file == lines[index].file; ++i)
    if (lines[i].body.find_first_not_of(' ') != std::string::npos && ++after > last_lines) return false;
  return true;
}

bool has_fact(const Sentence& sentence, std::string_view name) {
  return std::any_of(sentence.adds.begin(), sentence.adds.end(), [&](const Reading& r) { return r.name == name; });
}

// "Bad model: it needs more memory than allowed. If you see this again, write to us": what is advised beside a failure
// is another clause.
std::string_view clause(std::string_view line, std::string_view text, std::size_t at, std::size_t length) {
  const std::size_t place =
      std::min(at - std::min(at, static_cast<std::size_t>(line.data() - text.data())), line.size());
  const std::size_t before = place == 0 ? std::string_view::npos : line.rfind(". ", place - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 2;
  return line.substr(begin, std::min(line.find(". ", std::min(place + length, line.size())), line.size()) - begin);
}

// "exec: /bin/frob: Cannot allocate memory" is the system's own word for errno 12; a page that could not be locked is
// no failure.
bool is_of_the_system(std::string_view text) {
  const bool said = text.find(": Cannot allocate memory") != std::string_view::npos ||
                    text.find("ENOMEM (Cannot allocate memory") != std::string_view::npos ||
                    text.ends_with(": Out of memory");
  return said && text.find("lock") == std::string_view::npos;
}

}  // namespace

std::string_view line_around(std::string_view text, std::size_t at) {
  const std::size_t before = at > 0 ? text.rfind('\n', at - 1) : std::string_view::npos;
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return text.substr(begin, std::min(text.find('\n', std::min(at, text.size())), text.size()) - begin);
}

bool is_frame(std::string_view text) {
  if (text.find("File \"") != std::string_view::npos && text.find("\", line ") != std::string_view::npos) return true;
  return is_arrow(text);
}

bool below_frame(const std::vector<Line>& lines, std::size_t index) {
  if (is_frame(lines[index].body)) return true;
  if (index > 0 && lines[index].file == lines[index - 1].file && is_panic(lines[index - 1].body)) return true;
  for (std::size_t i = index, seen = 0; i-- > 0 && seen < lines_above; ++seen) {
    if (lines[i].file != lines[index].file || lines[i + 1].header) return false;
    if (is_frame(lines[i].body)) return true;
  }
  return false;
}

bool begins_with_exception(std::string_view text) {
  constexpr auto openings = std::to_array<std::string_view>({"Unhandled exception. ", "Uncaught ", "Caused by: "});
  for (const std::string_view opening : openings)
    if (text.starts_with(opening)) text.remove_prefix(opening.size());
  const std::string_view name = text.substr(0, text.find_first_of(" :"));
  if (name.size() < text.size() && text[name.size()] != ':') return false;
  return name.ends_with("Error") || name.ends_with("Exception");
}

std::optional<char> glog_level(std::string_view text) {
  constexpr std::size_t digits = 4;
  constexpr std::string_view levels = "EWIF";
  const bool level = text.size() > digits + 1 && levels.find(text.front()) != std::string_view::npos &&
                     text.substr(1).find_first_not_of("0123456789") == digits && text[digits + 1] == ' ';
  return level ? std::optional(text.front()) : std::nullopt;
}

bool is_general(const Sentence& sentence) { return has_fact(sentence, "general"); }

bool passes_on(const Sentence& sentence) { return has_fact(sentence, "passes_on"); }

std::optional<std::string_view> exception_below_frame(const std::vector<Line>& lines, std::size_t index) {
  const std::string_view text = lines[index].body;
  const std::string_view name = text.substr(0, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                                                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."));
  const std::string_view rest = text.substr(name.size());
  if (!rest.empty() && !rest.starts_with(": ")) return std::nullopt;
  const std::string_view last = name.substr(name.find_last_of('.') + 1);
  constexpr std::size_t shortest = 3;
  const bool named = last.size() >= shortest && std::isupper(static_cast<unsigned char>(last.front())) != 0 &&
                     !last.ends_with("Warning");
  return named && below_frame(lines, index) ? std::optional(name) : std::nullopt;
}

bool stands_as_failure(const std::vector<Line>& lines, std::size_t index, const Sentence& sentence, std::size_t begin,
                       std::size_t match) {
  const std::string_view text = lines[index].body;
  const std::string_view line = line_around(text, begin);
  const bool of_memory = sentence.says <= Says::host_alloc_failed;
  if (of_memory && (has_any(text, other_resources) || has_status_429(text))) return false;
  if (sentence.says == Says::disk_full && is_general(sentence) && !tells_of_disk(text, begin + match)) return false;
  if (has_fact(sentence, "last_word")) return is_last_word(lines, index, begin);
  if (below_frame(lines, index)) return true;
  if (sentence.family == "python") return begins_with_exception(text);
  const std::string_view own = clause(line, text, begin, match);
  if (has_any(line, no_failure) || has_any(own, advising)) return false;
  const std::size_t before =
      std::min(own.size(), begin - std::min(begin, static_cast<std::size_t>(own.data() - text.data())));
  if (is_at_any_time(own.substr(0, before), own.substr(before))) return false;
  const std::optional<char> level = glog_level(line);
  return level == 'E' || level == 'F' || has_any(text, failing) || (of_memory && is_of_the_system(line)) ||
         (of_memory && states(text, begin, match));
}

namespace {

bool has_name(std::string_view text, const auto& names) {
  const auto joins = [&](std::size_t at, std::string_view signs) {
    if (at >= text.size()) return false;
    return std::isalnum(static_cast<unsigned char>(text[at])) != 0 || signs.find(text[at]) != std::string_view::npos;
  };
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1))
      if ((at == 0 || !joins(at - 1, "_.")) && !joins(at + name.size(), "_-(")) return true;
    return false;
  });
}

}  // namespace

bool speaks_of_memory(std::string_view text) {
  constexpr auto names = std::to_array<std::string_view>({"memory", "Memory", "MEMORY", "VRAM", "RAM", "OOM", "HBM"});
  constexpr auto codes = std::to_array<std::string_view>({"NOMEM", "NO_MEM", "MemoryError", "bad_alloc"});
  constexpr auto allocating = std::to_array<std::string_view>({"alloc", "malloc", "allocate"});
  constexpr auto other = std::to_array<std::string_view>({" node", " port", " GPUs", " address", " job", " resource"});
  if (has_name(text, names) || has_any(text, codes)) return true;
  return has_name(text, allocating) && !has_any(text, other_resources) && !has_any(text, other);
}

namespace {

// "npu" within "input" is no accelerator.
bool has_word(std::string_view text, std::string_view word) {
  const auto letter = [&](std::size_t at) {
    return at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) != 0;
  };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    if ((at == 0 || !letter(at - 1)) && !letter(at + word.size())) return true;
  return false;
}

}  // namespace

bool speaks_of_gpu(std::string_view text) {
  constexpr auto whole = std::to_array<std::string_view>({"hip", "hpu", "npu", "tpu", "xpu", "rmm", "hbm", "metal"});
  if (std::any_of(whole.begin(), whole.end(), [&](auto word) { return has_word(text, word); })) return true;
  constexpr auto words = std::to_array<std::string_view>(
      {"GPU",    "gpu",      "CUDA",         "cuda",   "Cuda",   "HIP",    "XPU",  "HPU",    "NPU",
       "TPU",    "VRAM",     "vram",         "HBM",    "device", "Device", "vk::", "Vulkan", "vulkan",
       "Metal",  "OpenCL",   "CL_",          "MUSA",   "DCU",    "Gpu",    "NVRM", "nvenc",  "RMM",
       "thrust", "KV cache", "video memory", "DEVICE", "OPTIX",  "OptiX",  "D3D",  "GL_OUT", "torch.OutOfMemory"});
  return has_any(text, words);
}

}  // namespace oomplan::diagnose
