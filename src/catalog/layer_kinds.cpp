#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "errors.hpp"
#include "oomplan/core/text.hpp"
#include "segments.hpp"

namespace oomplan::catalog {
namespace {

constexpr std::array<std::string_view, 20> rule_keys{
    "is",     "key",           "names", "pattern", "first",    "from", "every",  "period",  "offset", "in_turn",
    "listed", "numbered_from", "if",    "unless",  "in_order", "last", "before", "letters", "above",  "counted_from"};

/// What the rules of one list say: a name for each layer, empty where none did yet.
class Rules {
 public:
  /// `others`: of each layer, the kinds by the lists above this one; `lists`: what those are called.
  Rules(Fields& segment, ConfigValues& values, const std::vector<Kinds>& others, const Kinds& lists)
      : segment_(segment), values_(values), others_(others), lists_(lists), names_(others.size()) {}

  void apply(const Node& item) {
    Fields rule(segment_.document(), item, segment_.errors());
    rule.only(rule_keys);
    if (const Node* key = rule.find("key")) return apply_list(rule, *key);
    if (const Node* key = rule.find("letters")) return apply_letters(rule, *key);
    if (const Node* pattern = rule.find("pattern")) return apply_pattern(*pattern);
    const std::string is = rule.text("is");
    if (is.empty() || !holds(rule)) return;
    known_.insert(is);
    if (rule.find("in_order") != nullptr) check_order(rule);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i].empty() && chooses(rule, static_cast<std::int64_t>(i))) names_[i] = is;
    }
  }

  /// The names by layer, each of which some rule knows.
  const std::vector<std::string>& finished(const Node& list) {
    for (const std::string& name : names_) {
      if (!segment_.errors().empty()) break;
      if (name.empty()) segment_.refuse(list, "no rule says of which kind some layer is");
    }
    return names_;
  }

  /// Names that the config gives are checked against those that the file knows.
  void check_given(const std::set<std::string, std::less<>>& in_block) {
    for (const Node* item : given_) {
      if (known_.contains(item->text) || in_block.contains(item->text)) continue;
      values_.refuse_given(*item, "layers of kind " + shown(item->text) + " are not known in this family");
      return;
    }
  }

 private:
  bool holds(Fields& rule) {
    if (const Node* above = rule.find("above"); above != nullptr && std::ssize(names_) <= number(above).value_or(0))
      return false;
    const auto flag = [&](const Node* node, bool wanted) {
      const std::optional<Attribute> value = node != nullptr ? values_.value_of(*node) : std::nullopt;
      const bool* given = value ? std::get_if<bool>(&*value) : nullptr;
      const auto* number = value ? std::get_if<std::int64_t>(&*value) : nullptr;
      const bool is = given != nullptr ? *given : number != nullptr ? *number != 0 : bool(value);
      return node == nullptr || is == wanted;
    };
    return flag(rule.find("if"), true) && flag(rule.find("unless"), false);
  }

  std::optional<std::int64_t> number(const Node* node) {
    const std::optional<Attribute> value = node != nullptr ? values_.value_of(*node) : std::nullopt;
    const auto* integer = value ? std::get_if<std::int64_t>(&*value) : nullptr;
    return integer == nullptr ? std::nullopt : std::optional(*integer);
  }

  bool chooses(Fields& rule, std::int64_t layer) {
    if (const Node* list = rule.find("last")) return is_last(*list, layer, number(rule.find("before")).value_or(0));
    if (const Node* first = rule.find("first")) return layer < number(first).value_or(0);
    if (const Node* from = rule.find("from")) return layer >= number(from).value_or(0);
    if (const Node* every = rule.find("every")) {
      const std::int64_t step = number(every).value_or(0);
      return step > 0 && (layer + 1) % step == 0;
    }
    if (const Node* period = rule.find("period")) {
      const std::int64_t step = number(period).value_or(0);
      const std::int64_t counted = layer - number(rule.find("counted_from")).value_or(0);
      return step > 0 && counted >= 0 && counted % step == number(rule.find("offset")).value_or(0);
    }
    if (const Node* listed = rule.find("listed"))
      return is_listed(listed->text, layer + number(rule.find("numbered_from")).value_or(0));
    return true;
  }

  /// Of the layers before number `end`, the last of its kind by the list of that name.
  bool is_last(const Node& list, std::int64_t layer, std::int64_t end) {
    const auto found = std::ranges::find(lists_, list.text);
    if (found == lists_.end()) return segment_.refuse(list, shown(list.text) + " is no list of kinds above"), false;
    const auto kind = [&](std::int64_t at) -> const std::string& {
      return others_[static_cast<std::size_t>(at)][static_cast<std::size_t>(found - lists_.begin())];
    };
    for (std::int64_t i = layer + 1; i < end && i < std::ssize(others_); ++i) {
      if (kind(i) == kind(layer)) return false;
    }
    return layer < end;
  }

  /// The list names layers that there are, each after the one before it.
  void check_order(Fields& rule) {
    const Node* list = values_.list(rule.text("listed"));
    std::int64_t last = -1;
    for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
      const std::int64_t at = list->items[i].as_integer().value_or(-1);
      if (at <= last || at >= std::ssize(names_)) {
        values_.refuse_given(list->items[i], shown(list->items[i]) + " is not the number of a later layer of the " +
                                                 std::to_string(names_.size()));
        return;
      }
      last = at;
    }
  }

  bool is_listed(std::string_view key, std::int64_t layer) {
    const Node* list = values_.list(key);
    return list != nullptr && std::ranges::any_of(list->items, [&](const Node& n) { return n.as_integer() == layer; });
  }

  void apply_list(Fields& rule, const Node& key) {
    const Node* list = values_.list(key.text);
    if (list == nullptr || list->items.empty()) return;  // Configs of Llama 4 have no_rope_layers: [] for "as usual".
    if (list->items.size() != names_.size() && rule.find("in_turn") == nullptr) {
      values_.refuse_given(*list, shown(key.text) + " has " + std::to_string(list->items.size()) + " entries for " +
                                      std::to_string(names_.size()) + " layers");
      return;
    }
    const Node* words = rule.find("names");
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const Node* item = &list->items[i % list->items.size()];
      const Node* word = words != nullptr ? words->find(item->text) : item;
      if (names_[i].empty() && word != nullptr) names_[i] = word->text;
      word == nullptr || word == item ? given_.push_back(item) : void(known_.insert(word->text));
    }
  }

  /// A text with a letter for each layer ("MEM*"), which `names` spells out.
  void apply_letters(Fields& rule, const Node& key) {
    const Node* text = values_.text(key.text);
    if (text == nullptr || text->text.empty()) return;
    if (text->text.size() != names_.size()) {
      values_.refuse_given(*text, shown(key.text) + " has " + std::to_string(text->text.size()) + " letters for " +
                                      std::to_string(names_.size()) + " layers");
      return;
    }
    const Node* words = rule.find("names");
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const Node* word = words != nullptr ? words->find(text->text.substr(i, 1)) : nullptr;
      if (word == nullptr) {
        values_.refuse_given(*text, "no layers of this family are of kind " + shown(text->text.substr(i, 1)));
        return;
      }
      if (names_[i].empty()) names_[i] = word->text;
      known_.insert(word->text);
    }
  }

  void apply_pattern(const Node& pattern) {
    for (const Node& name : pattern.items) known_.insert(name.text);
    for (std::size_t i = 0; i < names_.size() && !pattern.items.empty(); ++i) {
      if (names_[i].empty()) names_[i] = pattern.items[i % pattern.items.size()].text;
    }
  }

  Fields& segment_;
  ConfigValues& values_;
  const std::vector<Kinds>& others_;
  const Kinds& lists_;
  std::vector<std::string> names_;
  std::vector<const Node*> given_{};
  std::set<std::string, std::less<>> known_{};
};

/// The kinds that ops of the block ask for.
std::set<std::string, std::less<>> asked_for(Fields& segment) {
  std::set<std::string, std::less<>> out;
  const Node* block = segment.find("block");
  for (std::size_t i = 0; block != nullptr && i < block->items.size(); ++i) {
    const Node* only = block->items[i].find("only");
    if (only != nullptr && !only->is_sequence()) out.insert(only->text);
    for (std::size_t j = 0; only != nullptr && j < only->items.size(); ++j) out.insert(only->items[j].text);
  }
  return out;
}

}  // namespace

std::vector<Kinds> kinds_of_layers(Fields& segment, ConfigValues& values, std::int64_t layers) {
  std::vector<Kinds> out(static_cast<std::size_t>(layers));
  const Node* kinds = segment.find("kinds");
  if (kinds == nullptr) return out;
  Kinds lists;
  for (const Entry& entry : kinds->entries) {
    Rules rules(segment, values, out, lists);
    for (const Node& rule : entry.value.items) rules.apply(rule);
    rules.check_given(asked_for(segment));
    const std::vector<std::string>& names = rules.finished(entry.value);
    for (std::size_t i = 0; i < names.size(); ++i) out[i].push_back(names[i]);
    lists.push_back(entry.key);
  }
  return out;
}

}  // namespace oomplan::catalog
