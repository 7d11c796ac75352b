// A CUDA device without CUDA, for what runs under torch's FakeTensorMode: autograd asks which device it is on, for a
// stream and for events. Loaded before torch is imported (no_cuda.py).
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace {

using c10::Device;
using c10::DeviceIndex;
using c10::Stream;

const Device device(c10::DeviceType::CUDA, 0);

struct CUDAHooks : at::CUDAHooksInterface {  // The name under which PyTorch looks for them.
  explicit CUDAHooks(at::CUDAHooksArgs) {}
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex deviceCount() const override { return 1; }
  DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(DeviceIndex) const override {}
};

struct Guard : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
  DeviceIndex deviceCount() const noexcept override { return 1; }
  Device exchangeDevice(Device) const override { return device; }
  Device getDevice() const override { return device; }
  void setDevice(Device) const override {}
  void uncheckedSetDevice(Device) const noexcept override {}
  Stream getStream(Device) const override { return Stream(Stream::DEFAULT, device); }
  Stream getDefaultStream(Device) const override { return Stream(Stream::DEFAULT, device); }
  Stream exchangeStream(Stream) const override { return Stream(Stream::DEFAULT, device); }
  void record(void** event, const Stream&, DeviceIndex, c10::EventFlag) const override { *event = this_event(); }
  void block(void*, const Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void*, DeviceIndex) const noexcept override {}

 private:
  static void* this_event() {
    static char event = 0;
    return &event;
  }
};

using at::CUDAHooksRegistry;
using at::RegistererCUDAHooksRegistry;
REGISTER_CUDA_HOOKS(CUDAHooks)
C10_REGISTER_GUARD_IMPL(CUDA, Guard)

}  // namespace
