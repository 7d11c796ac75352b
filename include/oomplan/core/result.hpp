// Errors as values with the place they come from.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace oomplan {

/// A place in a text. Line and column count from 1; 0 means "the whole file". Columns count bytes after any byte order
/// mark, as editors do for ASCII text.
struct Location {
  std::string file{};
  int line = 0;
  int column = 0;
  friend bool operator==(const Location&, const Location&) = default;
};

enum class Severity { note, warning, error };

/// One thing to tell the user. `code` is stable ("ingest/unknown-key") and the same in text, JSON, SARIF and manual.
/// `excerpt` is the source line that `where` points into, for the caret; empty when there is none to show.
struct Diagnostic {
  Severity severity = Severity::error;
  std::string code{};
  std::string message{};
  Location where{};
  std::string hint{};
  std::string excerpt{};
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

using Diagnostics = std::vector<Diagnostic>;

/// A value, or the diagnostics that say why there is none (never empty then). Warnings that go with a value travel
/// beside it, in the value's own type.
template <class T>
class Result {
 public:
  Result(T value) : state_(std::move(value)) {}                        // NOLINT(google-explicit-constructor)
  Result(Diagnostics errors) : state_(std::move(errors)) {}            // NOLINT(google-explicit-constructor)
  Result(Diagnostic error) : state_(Diagnostics{std::move(error)}) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  T& value() { return std::get<T>(state_); }
  const T& value() const { return std::get<T>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Diagnostics& errors() const { return std::get<Diagnostics>(state_); }

 private:
  std::variant<T, Diagnostics> state_;
};

/// "config.yaml:12:3: error: message [code]", then the excerpt with a caret under the column, both indented by four,
/// then "hint: …"; lines end in \n. Of a long line only the part around the caret is shown. Nothing in it drives a
/// terminal.
std::string to_text(const Diagnostic& diagnostic);

}  // namespace oomplan
