// GPU memory through NVIDIA's management library, where the driver brought it.
#pragma once

#include <memory>
#include <vector>

#include "oomplan/watch/watch.hpp"

namespace oomplan::watching {

class Nvml {
 public:
  /// Loads it; without it there are no GPUs.
  Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  void sample();
  const std::vector<GpuUse>& gpus() const { return gpus_; }

 private:
  struct Library;
  static std::unique_ptr<Library> load(void* handle);

  std::unique_ptr<Library> library_{};
  std::vector<GpuUse> gpus_{};
};

}  // namespace oomplan::watching
