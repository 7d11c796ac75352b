#include "host_check.hpp"

#include <utility>

#include "oomplan/estimate/estimate.hpp"

namespace oomplan::cli {

void add_host_options(const ArgumentParser& app, HostQuestion& host) {
  app.option("--loader", host.loader, "What `oomplan measure PATH --json` said of the dataset: adds host memory")
      .type_name("FILE");
  app.option("--host-ram", host.ram, "Hold host memory against this much RAM (64GiB)").type_name("SIZE");
  app.option("--shm", host.shared, "Hold the loaders' batches against a /dev/shm of this size (64MiB in Docker)")
      .type_name("SIZE");
  app.option("--cgroup", host.cgroup, "Hold host memory against a cgroup's or container's limit").type_name("SIZE");
}

HostCheck host_check(const HostQuestion& question, const Catalog& catalog) {
  if (!question.is_asked()) return {};
  return [question, &catalog](const TrainingPlan& plan, const Architecture& architecture, const PagedOut& paged) {
    const Result<Footprint> footprint = estimate(plan, architecture, Detail::groups);
    if (!footprint) return HostHeld{.errors = footprint.errors()};
    const HostModel model = host_model(plan, architecture, *footprint);
    Result<HostAnswer> host = answer_host(question, plan, &model, paged, catalog);
    if (!host) return HostHeld{.errors = host.errors()};
    Diagnostics open = undecided_on(*host);
    return HostHeld{.fits = std::move(host->fits), .errors = std::move(open)};
  };
}

}  // namespace oomplan::cli
