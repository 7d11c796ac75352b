// Plans and messages out of configs written in the test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oomplan/ingest/ingest.hpp"

namespace oomplan {

inline Document yaml(const std::string& text, Syntax syntax = Syntax::yaml) {
  auto document = parse_document(text, "c.yaml", syntax);
  if (!document) {
    ADD_FAILURE() << to_text(document.errors().front());
    return {};
  }
  return *std::move(document);
}

inline TrainingPlan plan_from(const std::string& text, const IngestOptions& options = {}) {
  auto plan = ingest(yaml(text), options);
  if (!plan) {
    for (const Diagnostic& error : plan.errors()) ADD_FAILURE() << to_text(error);
    return {};
  }
  return *std::move(plan);
}

inline TrainingPlan plan_with(const std::string& text, std::vector<std::string> overrides) {
  return plan_from(text, {{}, std::move(overrides), {}});
}

/// What a diagnostic says, without its excerpt: "c.yaml:1:2: code: message (hint)".
inline std::string said(const Diagnostic& one) {
  std::string out = one.where.file;
  if (one.where.line > 0) out += ":" + std::to_string(one.where.line) + ":" + std::to_string(one.where.column);
  out += ": " + one.code + ": " + one.message;
  return one.hint.empty() ? out : out + " (" + one.hint + ")";
}

inline std::vector<std::string> said(const Diagnostics& all) {
  std::vector<std::string> out;
  for (const Diagnostic& one : all) out.push_back(said(one));
  return out;
}

inline std::vector<std::string> errors_from(const std::string& text, const IngestOptions& options = {}) {
  const auto plan = ingest(yaml(text), options);
  return plan ? std::vector<std::string>{} : said(plan.errors());
}

inline std::vector<std::string> errors_with(const std::string& text, std::vector<std::string> overrides) {
  return errors_from(text, {{}, std::move(overrides), {}});
}

inline std::vector<std::string> features(const TrainingPlan& plan) {
  std::vector<std::string> out;
  for (const Unmodelled& one : plan.unmodelled) out.push_back(one.key + ": " + one.feature);
  return out;
}

/// A setting with its origin: "8 by default of peft 0.21.2: LoraConfig", "2 at c.yaml:3:7 (lora_r)".
template <class T>
std::string origin_of(const Setting<T>& setting) {
  const Origin& origin = setting.origin;
  switch (origin.kind) {
    case Origin::Kind::framework_default:
      return "default of " + origin.source;
    case Origin::Kind::config:
      return origin.source + " at " + std::to_string(origin.where.line) + ":" + std::to_string(origin.where.column);
    case Origin::Kind::command_line:
      return "--set " + origin.source;
    default:
      return "assumed: " + origin.source;
  }
}

/// Matches a setting of that value and origin.
MATCHER_P2(is_from, value, origin, "") {
  *result_listener << "origin: " << origin_of(arg);
  return arg.value == value && origin_of(arg) == origin;
}

}  // namespace oomplan
