// A row of the table of facts, made from a member of the plan and the codec of its words.
#pragma once

#include <type_traits>
#include <utility>

#include "oomplan/plan/codec.hpp"
#include "oomplan/plan/fact_table.hpp"

namespace oomplan::planning {

using Plan = TrainingPlan;

template <const auto& Format, class T>
FactValue shown(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return Format.write(value);
  } else {
    return value;
  }
}

template <const auto& Format>
FactValue shown(const std::vector<std::int64_t>& lengths) {
  if (lengths.empty()) return std::string();
  const auto [least, most] = std::ranges::minmax(lengths);
  return std::to_string(lengths.size()) + " steps of " + std::to_string(least) + " to " + std::to_string(most) +
         " tokens";
}

template <class T>
using Held = std::conditional_t<std::is_enum_v<T>, std::int64_t, T>;

/// Lengths are in no key of a framework, so they need no way through a FactValue.
template <class T>
constexpr bool in_keys = !std::is_same_v<T, std::vector<std::int64_t>>;

template <class T>
bool assign(const FactValue& value, const Origin& origin, Setting<T>& to) {
  if constexpr (in_keys<T>) {
    const auto* held = std::get_if<Held<T>>(&value);
    if (held != nullptr) to = {static_cast<T>(*held), origin};
    return held != nullptr;
  } else {
    return false;
  }
}

template <class T>
FactValue held(const Setting<T>& setting) {
  if constexpr (in_keys<T>) {
    return static_cast<Held<T>>(setting.value);
  } else {
    return {};
  }
}

inline bool always(const Plan& /*plan*/) { return true; }

/// What a row says beside its name and its place.
struct About {
  std::string_view sentence{};
  Influences influences{};
  bool (*matters)(const Plan&) = always;
};

template <auto Group, auto Member, const auto& Format>
constexpr FactRow fact(std::string_view name, const About& about) {
  FactRow out;
  out.name = name;
  out.expected = Format.expected;
  out.choices = {Format.names, Format.name_count};
  out.read = [](const Node& node, const Origin& origin, Plan& plan) {
    auto value = Format.read(node);
    if (value) plan.*Group.*Member = {*std::move(value), origin};
    return value.has_value();
  };
  out.write = [](const Plan& plan) { return Format.write((plan.*Group.*Member).value); };
  out.value = [](const Plan& plan) { return shown<Format>((plan.*Group.*Member).value); };
  out.set = [](const FactValue& value, const Origin& origin, Plan& plan) {
    return assign(value, origin, plan.*Group.*Member);
  };
  out.get = [](const Plan& plan) { return held(plan.*Group.*Member); };
  out.origin = [](const Plan& plan) -> const Origin& { return (plan.*Group.*Member).origin; };
  out.matters = about.matters;
  out.of_host = std::is_same_v<decltype(Group), LoaderPlan Plan::*>;
  out.of_mesh = std::is_same_v<decltype(Group), MeshFacts Plan::*>;
  out.influences = about.influences;
  out.about = about.sentence;
  return out;
}

}  // namespace oomplan::planning
