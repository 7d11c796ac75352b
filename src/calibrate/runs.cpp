// runs.jsonl, line by line.
#include <map>
#include <optional>

#include "oomplan/calibrate/calibrate.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan {
namespace {

constexpr std::size_t longest_line = std::size_t{64} << 10;
constexpr std::int64_t most_lines = 200'000;
constexpr std::size_t longest_name = 256;
constexpr std::int64_t largest = std::int64_t{1} << 50;  // of no card

/// The run of a process that is going on.
struct Open {
  MeasuredRun run{};
  bool predicted = false;
  bool stepped = false;
};

class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  /// A line, with its end where it has one: without, it may have been broken off.
  Diagnostics add(std::string_view text, std::int64_t line) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return {};
    if (text.size() > longest_line) return bad(line, "this line is longer than any record");
    const Result<Document> read = parse_document(std::string(text), name_, Syntax::json, {longest_line, 8, 1'000});
    if (!read && !text.ends_with('\n')) {
      out_.torn = true;
      return {};
    }
    if (!read) return bad(line, "this is no JSON object: " + read.errors().front().message);
    if (!read->root.is_mapping()) return bad(line, "this is no JSON object");
    return take(read->root, line);
  }

  MeasuredRuns done() && {
    for (auto& [process, open] : open_) close(open);
    return std::move(out_);
  }

 private:
  Diagnostics bad(std::int64_t line, std::string message) const {
    return {{.code = "calibrate/bad-runs",
             .message = std::move(message),
             .where = {name_, static_cast<int>(line), 0},
             .hint = "runs.jsonl is what oomplan's trainer callback writes (docs/python.md)"}};
  }

  static std::string text_at(const Node& record, std::string_view key) {
    const Node* found = record.find(key);
    const bool is_text = found != nullptr && found->kind == Node::Kind::string && found->text.size() <= longest_name;
    return is_text ? found->text : "";
  }

  /// Nothing where the key is not there or null.
  Result<std::optional<Bytes>> size_at(const Node& record, std::string_view key, std::int64_t line) const {
    const Node* found = record.find(key);
    if (found == nullptr || found->kind == Node::Kind::null) return std::optional<Bytes>();
    const auto size = found->kind == Node::Kind::integer ? found->as_integer() : std::nullopt;
    if (size && *size >= 0 && *size <= largest) return std::optional(Bytes(*size));
    return bad(line, std::string(key) + " is no size in bytes");
  }

  Diagnostics take(const Node& record, std::int64_t line) {
    const std::string what = text_at(record, "what");
    const Node* process = record.find("process");
    const std::int64_t id = process == nullptr ? 0 : process->as_integer().value_or(0);
    if (what == "prediction") return begin(record, line, open_[id]);
    if (what != "step" && what != "evaluation") return {};
    const auto going_on = open_.find(id);
    Open of_nobody;
    Open& open = going_on == open_.end() ? of_nobody : going_on->second;
    open.stepped = open.stepped || what == "step";
    return measure(record, line, open);
  }

  Diagnostics begin(const Node& record, std::int64_t line, Open& open) {
    close(open);
    open = {};
    const auto allocated = size_at(record, "max_memory_allocated", line);
    const auto reserved = size_at(record, "max_memory_reserved", line);
    if (!allocated) return allocated.errors();
    if (!reserved) return reserved.errors();
    open.predicted = true;
    open.run.card = text_at(record, "card");
    open.run.torch = text_at(record, "torch");
    const Node* rests = record.find("calibrated");
    const bool rests_on_one = rests != nullptr && rests->as_boolean().value_or(false);
    if (rests_on_one || !*allocated || !*reserved) return {};
    open.run.predicted_allocated = **allocated;
    open.run.predicted_reserved = **reserved;
    return {};
  }

  Diagnostics measure(const Node& record, std::int64_t line, Open& open) {
    const auto allocated = size_at(record, "max_memory_allocated", line);
    const auto reserved = size_at(record, "max_memory_reserved", line);
    const auto used = size_at(record, "device_used", line);
    const auto now = size_at(record, "memory_reserved", line);
    for (const auto* one : {&allocated, &reserved, &used, &now})
      if (!*one) return one->errors();
    if (*allocated) open.run.allocated = std::max(open.run.allocated, **allocated);
    if (*reserved) open.run.reserved = std::max(open.run.reserved, **reserved);
    if (*used && *now && **used >= **now) {
      const Bytes beside = **used - **now;
      open.run.beside = open.run.beside ? std::min(*open.run.beside, beside) : beside;
    }
    return {};
  }

  void close(Open& open) {
    const MeasuredRun& run = open.run;
    const bool whole = open.stepped && !run.card.empty() && !run.torch.empty() && run.predicted_allocated.count() > 0 &&
                       run.predicted_reserved >= run.predicted_allocated && run.allocated.count() > 0 &&
                       run.reserved >= run.allocated;
    if (whole) out_.runs.push_back(run);
    if (!whole && open.predicted) ++out_.left_out;
  }

  std::string name_;
  std::map<std::int64_t, Open> open_{};
  MeasuredRuns out_{};
};

}  // namespace

Result<MeasuredRuns> read_runs(LogText& file, const std::string& name) {
  Reader reader(name);
  std::int64_t line = 1;
  while (true) {
    const Result<std::optional<std::string_view>> block = file.next();
    if (!block) return block.errors();
    if (!*block) return std::move(reader).done();
    for (std::string_view rest = **block; !rest.empty(); ++line) {
      if (line > most_lines)
        return Diagnostic{.code = "read/too-large", .message = "this has more than 200,000 lines", .where = {name}};
      const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
      if (const Diagnostics errors = reader.add(rest.substr(0, end), line); !errors.empty()) return errors;
      rest.remove_prefix(end);
    }
  }
}

}  // namespace oomplan
