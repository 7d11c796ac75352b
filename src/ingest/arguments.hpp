// A framework's arguments: the keys of its keys.yaml with the values that a config gives, and facts as such keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rows.hpp"
#include "value_codec.hpp"

namespace oomplan::ingestion {

/// An argument of a framework that may have been left out.
template <class T>
struct Arg {
  std::optional<T> value{};
  Origin origin{};
};

/// Whether it was given with this value.
template <class T>
bool is(const Arg<T>& arg, const T& value) {
  return arg.value == value;
}

/// A line of the section `keys`: "codec", "codec -> fact" (the key says the fact as it stands), "codec -> fact, read"
/// (but another one says it when it is written) or "= other" (another name of that key).
struct Key {
  std::string_view name{};
  std::string_view argument{};  ///< The key under whose name its value is kept: the other one, or itself.
  const ValueCodec* codec = nullptr;
  const FactRow* fact = nullptr;  ///< Null where derive.cpp makes facts of it.
  bool written = true;
};

/// Those of the file, in its order. A line that is none of these has no codec; a test finds it.
std::vector<Key> argument_keys(const KeyFile& file);

/// Those of a dialect's keys.yaml. Lives as long as the program.
const std::vector<Key>& arguments_of(std::string_view dialect);

class Arguments {
 public:
  explicit Arguments(const std::vector<Key>& keys) : keys_(&keys) {}

  /// Of two names of one key the last that was read counts.
  std::vector<Row> rows();

  template <class T>
  Arg<T> get(std::string_view key) const {
    const Argument* found = find(key);
    const Held<T>* held = found == nullptr ? nullptr : std::get_if<Held<T>>(&found->value);
    return held == nullptr ? Arg<T>{} : Arg<T>{static_cast<T>(*held), found->origin};
  }

  /// Whether it is given and true.
  bool on(std::string_view key) const { return get<bool>(key).value.value_or(false); }

  /// Sets the facts that keys say as they stand; of two keys for one fact, the one further down in keys.yaml counts.
  void set_facts(TrainingPlan& plan) const;

 private:
  struct Argument {
    std::string_view key{};
    FactValue value{};
    Origin origin{};
  };

  const Argument* find(std::string_view key) const;
  void set(std::string_view key, FactValue value, const Origin& origin);

  const std::vector<Key>* keys_;
  std::vector<Argument> given_{};
};

}  // namespace oomplan::ingestion
