#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "example.hpp"

namespace oomplan::report {
namespace {

nlohmann::json json(const Report& report) { return nlohmann::json::parse(*render(report, "json")); }

TEST(JsonView, HoldsTheFiguresOfTheReport) {
  const Report report = example({example_fit("A", Bytes::gib(200))});
  const nlohmann::json out = json(report);
  EXPECT_EQ(out["footprint"]["peak"]["total"], report.found.footprint->peak.total.count());
  EXPECT_EQ(out["footprint"]["peaks"].size(), report.found.footprint->peaks.size());
  EXPECT_EQ(out["gpus"][0]["needed"], report.found.fits[0].needed.count());
  EXPECT_EQ(out["plan"]["facts"].size(), report.facts.size());
}

TEST(JsonView, SaysHowAFactFollows) {
  Report report = example();
  report.found.plan->model.name.origin.derivation = "found beside it";
  const nlohmann::json facts = json(collect(report.found))["plan"]["facts"];
  EXPECT_EQ(facts[1]["name"], "model");
  EXPECT_EQ(facts[1]["origin"]["derivation"], "found beside it");
  EXPECT_TRUE(facts[2]["origin"]["derivation"].is_null());
  EXPECT_EQ(json(report)["model"]["checkpoint_dtype"], "fp32");
}

TEST(JsonView, EveryMomentAddsUp) {
  const nlohmann::json out = json(example());
  for (const nlohmann::json& peak : out["footprint"]["peaks"]) {
    std::int64_t sum = 0;
    for (const auto& [bucket, bytes] : peak["by_bucket"].items()) sum += bytes.get<std::int64_t>();
    EXPECT_EQ(sum, peak["total"]);
  }
}

TEST(JsonView, SaysWhatWentWrong) {
  Findings findings{.config = "config.yml", .verdict = Verdict::invalid};
  findings.diagnostics = {{Severity::error, "read/missing", "there is no such file", {"config.yml", 0, 0}, {}, {}}};
  const nlohmann::json out = json(collect(findings));
  EXPECT_EQ(out["verdict"], "invalid");
  EXPECT_TRUE(out["footprint"].is_null());
  EXPECT_EQ(out["diagnostics"][0]["code"], "read/missing");
  EXPECT_TRUE(out["diagnostics"][0]["line"].is_null());
}

TEST(JsonView, WarningsStandBesideErrors) {
  Report report = example();
  report.found.plan->warnings = {{Severity::warning, "ingest/unknown-key", "unknown key", {"c", 2, 1}, "hint", {}}};
  const nlohmann::json out = json(collect(report.found));
  EXPECT_EQ(out["diagnostics"][0]["severity"], "warning");
  EXPECT_EQ(out["diagnostics"][0]["line"], 2);
}

TEST(JsonView, AFileNameThatIsNotUtf8StaysPrintable) { EXPECT_NO_THROW(json(collect({.config = "caf\xe9.yml"}))); }

}  // namespace
}  // namespace oomplan::report
