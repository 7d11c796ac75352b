#include "nvml.hpp"

#include <dlfcn.h>

#include <algorithm>

namespace oomplan::watching {
namespace {

// As nvml.h declares them (NVML API reference, "Device Queries"). 0 is NVML_SUCCESS.
using Device = void*;
struct Memory {
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};
using Init = int (*)();
using Shutdown = int (*)();
using GetCount = int (*)(unsigned int*);
using GetHandle = int (*)(unsigned int, Device*);
using GetMemory = int (*)(Device, Memory*);

constexpr unsigned int most_gpus = 64;

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

struct Nvml::Library {
  void* handle = nullptr;
  Shutdown shutdown = nullptr;
  GetMemory memory = nullptr;
  struct Gpu {
    unsigned int index = 0;
    Device device = nullptr;
  };
  std::vector<Gpu> devices{};
};

/// Nothing where the library lacks a function, or finds no driver.
std::unique_ptr<Nvml::Library> Nvml::load(void* handle) {
  Init init = nullptr;
  GetCount count = nullptr;
  GetHandle device = nullptr;
  auto out = std::make_unique<Library>();
  const bool usable = find(handle, "nvmlInit_v2", init) && find(handle, "nvmlShutdown", out->shutdown) &&
                      find(handle, "nvmlDeviceGetCount_v2", count) &&
                      find(handle, "nvmlDeviceGetHandleByIndex_v2", device) &&
                      find(handle, "nvmlDeviceGetMemoryInfo", out->memory) && init() == 0;
  if (!usable) return nullptr;
  out->handle = handle;
  unsigned int devices = 0;
  if (count(&devices) != 0) devices = 0;
  for (unsigned int i = 0; i < std::min(devices, most_gpus); ++i) {
    Device found = nullptr;
    if (device(i, &found) == 0) out->devices.push_back({i, found});
  }
  return out;
}

Nvml::Nvml() {
  void* handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return;
  library_ = load(handle);
  if (!library_) dlclose(handle);
  if (!library_) return;
  for (const Library::Gpu& gpu : library_->devices) gpus_.push_back({.index = gpu.index});
}

Nvml::~Nvml() {
  if (!library_) return;
  library_->shutdown();
  dlclose(library_->handle);
}

void Nvml::sample() {
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    Memory memory;
    if (library_->memory(library_->devices[i].device, &memory) != 0) continue;
    gpus_[i].total = static_cast<std::int64_t>(memory.total);
    gpus_[i].last = static_cast<std::int64_t>(memory.used);
    gpus_[i].highest = std::max(gpus_[i].highest, gpus_[i].last);
  }
}

}  // namespace oomplan::watching
