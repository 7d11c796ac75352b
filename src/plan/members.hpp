// How many members an aggregate has, so that none of a group goes without its row.
#pragma once

#include <cstddef>
#include <utility>

namespace oomplan::planning {

// A value that converts to anything: an aggregate of n members can be made from at most n of them.
struct Anything {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};

template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...> /*count*/) {
  return requires { T{(static_cast<void>(I), Anything{})...}; };
}

template <class T, std::size_t N = 0>
constexpr std::size_t members() {
  if constexpr (takes<T>(std::make_index_sequence<N + 1>{})) {
    return members<T, N + 1>();
  } else {
    return N;
  }
}

template <class... Groups>
constexpr std::size_t facts_in = (members<Groups>() + ...);

}  // namespace oomplan::planning
