#include "rung.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "floor.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::advise {
namespace {

constexpr std::array<std::string_view, 23> known{
    "packed_rows", "title",    "order",   "effect",       "guard",
    "edit",        "move",     "repeat",  "only_against", "needs_capability",
    "conflicts",   "relieves", "weights", "slower",       "slower_source",
    "science",     "effort",   "verify",  "how",          "source",
    "examples",    "key",      "launch"};

std::string text_at(const Node& node, std::string_view key) {
  const Node* found = node.find(key);
  return found == nullptr ? std::string() : found->text;
}

std::vector<std::string> texts_at(const Node& node, std::string_view key) {
  std::vector<std::string> out;
  if (const Node* found = node.find(key))
    for (const Node& item : found->items) out.push_back(item.text);
  return out;
}

template <std::size_t N>
std::optional<std::size_t> index_of(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? std::nullopt : std::optional<std::size_t>(found - names.begin());
}

class Reader {
 public:
  Reader(std::string id, const Document& document) : document_(document), root_(document.root) {
    rung_.fix.id = std::move(id);
  }

  Result<Rung> read() && {
    if (!root_.is_mapping()) return Diagnostics{bad("a fix is a mapping")};
    for (const Entry& entry : root_.entries)
      if (!std::ranges::count(known, entry.key)) errors_.push_back(bad("unknown key " + entry.key));
    read_words();
    read_cost();
    read_rules();
    read_examples();
    check();
    if (!errors_.empty()) return errors_;
    return std::move(rung_);
  }

 private:
  Diagnostic bad(std::string message) const {
    return {.code = "advise/bad-fix", .message = std::move(message), .where = {document_.file, 1, 1}};
  }

  void read_words() {
    LadderFix& fix = rung_.fix;
    fix.title = text_at(root_, "title");
    fix.verify = text_at(root_, "verify");
    fix.source = text_at(root_, "source");
    rung_.played = text_at(root_, "effect").empty();
    rung_.how = text_at(root_, "how");
    rung_.needs_capability = text_at(root_, "needs_capability");
    rung_.only_against_fragmentation = text_at(root_, "only_against") == "fragmentation";
    rung_.only_trained_weights = text_at(root_, "weights") == "trained";
    rung_.conflicts = texts_at(root_, "conflicts");
    if (text_at(root_, "relieves") == "all") fix.relieves.assign(tensor_buckets.begin(), tensor_buckets.end());
    for (const std::string& name : texts_at(root_, "relieves")) {
      const auto bucket = index_of(bucket_names, name);
      if (!bucket) errors_.push_back(bad("there is no bucket " + name));
      if (bucket) fix.relieves.push_back(static_cast<Bucket>(*bucket));
    }
  }

  void read_cost() {
    const auto science = index_of(science_names, text_at(root_, "science"));
    const auto effort = index_of(effort_names, text_at(root_, "effort"));
    if (!science || !effort) errors_.push_back(bad("science or effort is missing or unknown"));
    rung_.fix.science = static_cast<Science>(science.value_or(0));
    rung_.fix.effort = static_cast<Effort>(effort.value_or(0));
    const Node* slower = root_.find("slower");
    if (slower == nullptr) return;
    const auto at = [&](std::size_t i) {
      return i < slower->items.size() ? slower->items[i].as_integer() : std::optional<std::int64_t>();
    };
    if (!at(0) || !at(1) || *at(0) < 0 || *at(1) < *at(0)) return errors_.push_back(bad("slower: [least, most]"));
    rung_.fix.slower = Slowdown{static_cast<int>(*at(0)), static_cast<int>(*at(1)), text_at(root_, "slower_source")};
  }

  std::vector<FactRule> rules_at(const Node& node, std::string_view key) {
    std::vector<FactRule> out;
    const std::vector<std::string_view> facts = fact_names();
    if (const Node* found = node.find(key)) {
      for (const Entry& entry : found->entries) {
        if (!std::ranges::count(facts, entry.key)) errors_.push_back(bad("there is no fact " + entry.key));
        out.push_back({entry.key, entry.value});
      }
    }
    return out;
  }

  Guard guard_of(const FactRule& rule) {
    Guard out{.fact = rule.fact};
    if (!rule.value.is_mapping()) {
      out.any_of = rule.value.is_sequence() ? rule.value.items : std::vector{rule.value};
      return out;
    }
    if (const Node* least = rule.value.find("more_than")) out.more_than = least->as_number();
    out.lacks = text_at(rule.value, "lacks");
    if (!out.more_than && out.lacks.empty()) errors_.push_back(bad("guard: a value, more_than or lacks"));
    return out;
  }

  Edit edit_of(const FactRule& rule) {
    Edit out{.fact = rule.fact};
    if (!rule.value.is_mapping()) {
      out.value = rule.value;
      return out;
    }
    if (const Node* one_of = rule.value.find("one_of"); one_of != nullptr && !one_of->items.empty()) {
      out.value = one_of->items.front();
      for (const Node& other : one_of->items) out.or_else.push_back(other.text);
      return out;
    }
    if (const Node* unsaid = rule.value.find("unsaid")) {
      out.value = *unsaid;
      out.unsaid = true;
      return out;
    }
    if (const Node* by = rule.value.find("divide_by")) out.divide_by = by->as_integer().value_or(0);
    out.append = text_at(rule.value, "append");
    if (out.divide_by < 2 && out.append.empty())
      errors_.push_back(bad("edit: a value, unsaid, one_of, divide_by or append"));
    return out;
  }

  void read_rules() {
    rung_.order = static_cast<int>(root_.find("order") ? root_.find("order")->as_integer().value_or(0) : 0);
    for (const FactRule& rule : rules_at(root_, "guard")) rung_.guard.push_back(guard_of(rule));
    for (const FactRule& rule : rules_at(root_, "edit")) rung_.edit.push_back(edit_of(rule));
    if (const Node* move = root_.find("move")) {
      rung_.move_from = text_at(*move, "from");
      rung_.move_to = text_at(*move, "to");
    }
    if (const Node* launch = root_.find("launch")) {
      rung_.launch = {text_at(*launch, "file"), text_at(*launch, "config")};
      if (rung_.launch.file.empty() || rung_.launch.text.empty())
        errors_.push_back(bad("launch: a file and its config"));
    }
    const std::string key = text_at(root_, "key");
    rung_.needs_key = key == "required";
    rung_.key_decides = rung_.needs_key || key == "decides";
    rung_.in_environment = key == "environment";
    if (!key.empty() && !rung_.key_decides && !rung_.in_environment)
      errors_.push_back(bad("key is 'required', 'decides' or 'environment'"));
    rung_.packed_rows = text_at(root_, "packed_rows") == "true";
    if (const Node* repeat = root_.find("repeat")) rung_.repeat = static_cast<int>(repeat->as_integer().value_or(1));
  }

  void read_examples() {
    if (const Node* examples = root_.find("examples"))
      for (const Node& item : examples->items)
        rung_.examples.push_back({rules_at(item, "before"), rules_at(item, "after")});
  }

  void check() {
    const bool edits = !rung_.edit.empty() || !rung_.move_from.empty();
    if (rung_.fix.title.empty() || rung_.fix.source.empty()) errors_.push_back(bad("title or source is missing"));
    if (rung_.order <= 0) errors_.push_back(bad("order is missing"));
    if (rung_.played != edits) errors_.push_back(bad("either an edit or 'effect: not estimated'"));
    if (rung_.played && !rung_.fix.slower) errors_.push_back(bad("slower is missing"));
    if (rung_.played && rung_.examples.empty()) errors_.push_back(bad("examples are missing"));
  }

  const Document& document_;
  const Node& root_;
  Rung rung_{};
  Diagnostics errors_{};
};

}  // namespace

Result<Rung> rung_of(const std::string& id, const Document& document) { return Reader(id, document).read(); }

}  // namespace oomplan::advise
