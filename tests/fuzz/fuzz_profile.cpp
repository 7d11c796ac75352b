// A LoaderProfile, and the host memory that is predicted from whatever it says.
#include <cmath>
#include <string>

#include "oomplan/estimate/host.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "require.hpp"

namespace oomplan::fuzz {
namespace {

TrainingPlan plan_of(RowsAs rows_as, WorkerStart start) {
  TrainingPlan plan;
  plan.batch.micro_batch_size.value = 8;
  plan.batch.gradient_accumulation_steps.value = 1;
  plan.batch.sequence_length.value = 512;
  plan.loader.rows_as.value = rows_as;
  plan.loader.start.value = start;
  plan.loader.workers.value = 2;
  plan.loader.shuffle_buffer.value = 100;
  for (auto one : {&LoaderPlan::ranks, &LoaderPlan::prefetch, &LoaderPlan::epochs, &LoaderPlan::columns}) {
    (plan.loader.*one).value = 2;
  }
  return plan;
}

void predict(const LoaderProfile& profile) {
  PythonCosts costs;
  costs.page.bytes = Bytes(4096);
  costs.integer.bytes = Bytes(32);
  for (const auto rows_as : {RowsAs::list, RowsAs::numpy, RowsAs::arrow, RowsAs::mapped, RowsAs::stream}) {
    for (const auto start : {WorkerStart::fork, WorkerStart::spawn}) {
      const TrainingPlan plan = plan_of(rows_as, start);
      const HostFootprint out = host_footprint(plan, nullptr, &profile, {}, costs);
      for (const HostTerm& term : out.terms) {
        for (const Bytes bytes : term.at) require(bytes >= Bytes(0), "no term is negative");
      }
      require(out.ram() >= out.shared(), "what is shared is RAM");
      require(profile.loader || feed(plan, profile, 1.0).keeps_up().has_value(), "a profile has a speed");
    }
  }
}

}  // namespace
}  // namespace oomplan::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace oomplan;
  constexpr ReadBudget budget{.bytes = std::size_t{1} << 16, .depth = 24, .nodes = 600};
  const auto document = parse_document(std::string(data, data + size), "profile.json", Syntax::json, budget);
  if (!document) return 0;
  const auto profile = read_loader_profile(*document);
  if (profile) {
    require(profile->rows.value_or(1) > 0 && std::isfinite(profile->mean_row.value_or(0)), "a profile has rows");
    fuzz::predict(*profile);
    return 0;
  }
  for (const Diagnostic& error : profile.errors()) {
    require(error.code == "ingest/bad-profile" && !error.message.empty(), "a refusal has its code and says why");
  }
  return 0;
}
