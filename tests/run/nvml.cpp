// Stands in for NVIDIA's library: one GPU of 24 GiB, of which 20 GiB are used at first and then 22.
extern "C" {

struct Memory {
  unsigned long long total, free, used;
};

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = 1;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int, void** device) {
  static int gpu = 0;
  *device = &gpu;
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
  static int calls = 0;
  memory->total = 24ULL << 30;
  memory->used = (calls++ == 0 ? 20ULL : 22ULL) << 30;
  memory->free = memory->total - memory->used;
  return 0;
}
}
