#include "arguments.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>

namespace oomplan::ingestion {
namespace {

Key key_of(const KeyLine& line) {
  constexpr std::string_view other = "= ";
  constexpr std::string_view says = " -> ";
  constexpr std::string_view read_only = ", read";
  if (line.text.starts_with(other)) return {line.what, line.text.substr(other.size()), nullptr, nullptr, false};
  const auto arrow = line.text.find(says);
  Key out{line.what, line.what, find_codec(line.text.substr(0, arrow)), nullptr, true};
  if (arrow == line.text.npos) return out;
  std::string_view fact = line.text.substr(arrow + says.size());
  out.written = !fact.ends_with(read_only);
  if (!out.written) fact.remove_suffix(read_only.size());
  out.fact = find_fact(fact);
  return out;
}

}  // namespace

std::vector<Key> argument_keys(const KeyFile& file) {
  std::vector<Key> out;
  for (const KeyLine& line : file.keys) out.push_back(key_of(line));
  for (Key& key : out) {
    const auto meant = std::ranges::find(out, key.argument, &Key::name);
    if (key.codec == nullptr && meant != out.end()) key.codec = meant->codec;
  }
  return out;
}

const std::vector<Key>& arguments_of(std::string_view dialect) {
  static std::mutex mutex;
  static std::map<std::string, std::vector<Key>, std::less<>> all;
  const std::lock_guard lock(mutex);
  const auto found = all.find(dialect);
  if (found != all.end()) return found->second;
  return all.emplace(std::string(dialect), argument_keys(key_file(dialect))).first->second;
}

std::vector<Row> Arguments::rows() {
  std::vector<Row> out;
  for (const Key& key : *keys_) {
    out.push_back({key.name, key.codec->expected, key.codec->choices, [this, &key](const Node& node, const Origin& at) {
                     auto value = key.codec->read(node);
                     if (value) set(key.argument, *std::move(value), at);
                     return value.has_value();
                   }});
  }
  return out;
}

void Arguments::set_facts(TrainingPlan& plan) const {
  for (const Key& key : *keys_) {
    const Argument* given = key.fact == nullptr ? nullptr : find(key.name);
    if (given != nullptr) key.fact->set(given->value, given->origin, plan);
  }
}

const Arguments::Argument* Arguments::find(std::string_view key) const {
  const auto found = std::ranges::find(given_, key, &Argument::key);
  return found == given_.end() ? nullptr : &*found;
}

void Arguments::set(std::string_view key, FactValue value, const Origin& origin) {
  std::erase_if(given_, [&](const Argument& one) { return one.key == key; });
  given_.push_back({key, std::move(value), origin});
}

}  // namespace oomplan::ingestion
