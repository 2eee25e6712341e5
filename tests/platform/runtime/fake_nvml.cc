// SPDX-License-Identifier: Apache-2.0
// A library with the functions of NVML that shoal calls, for a machine with two GPUs. The second
// does not tell its power. Whoever sets FAKE_NVML_FAILS gets an error at the start.
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;
constexpr int kNotSupported = 3;
constexpr int kDriverNotLoaded = 9;

int gpus[2] = {0, 1};

int NumberOf(const void* gpu) { return *static_cast<const int*>(gpu); }

}  // namespace

extern "C" {

struct Utilization {
  unsigned gpu;
  unsigned memory;
};
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

int nvmlInit_v2() { return std::getenv("FAKE_NVML_FAILS") ? kDriverNotLoaded : kSuccess; }
int nvmlShutdown() { return kSuccess; }
const char* nvmlErrorString(int result) {
  return result == kDriverNotLoaded ? "Driver Not Loaded" : "Invalid Argument";
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** gpu) {
  if (index > 1) return kInvalidArgument;
  *gpu = &gpus[index];
  return kSuccess;
}
int nvmlDeviceGetIndex(void* gpu, unsigned* index) {
  *index = static_cast<unsigned>(NumberOf(gpu));
  return kSuccess;
}
int nvmlDeviceGetUUID(void* gpu, char* uuid, unsigned length) {
  const char* const own = NumberOf(gpu) == 0 ? "GPU-aaaa-1" : "GPU-bbbb-2";
  if (length <= std::strlen(own)) return kInvalidArgument;
  std::strcpy(uuid, own);
  return kSuccess;
}
int nvmlDeviceGetUtilizationRates(void* gpu, Utilization* utilization) {
  *utilization = {.gpu = NumberOf(gpu) == 0 ? 25U : 75U, .memory = 1};
  return kSuccess;
}
int nvmlDeviceGetMemoryInfo(void* gpu, Memory* memory) {
  *memory = {.total = 100, .free = 60, .used = NumberOf(gpu) == 0 ? 40ULL : 50ULL};
  return kSuccess;
}
int nvmlDeviceGetPowerUsage(void* gpu, unsigned* milliwatts) {
  if (NumberOf(gpu) == 1) return kNotSupported;
  *milliwatts = 350500;
  return kSuccess;
}
int nvmlDeviceGetTemperature(void* gpu, int sensor, unsigned* celsius) {
  if (sensor != 0) return kInvalidArgument;
  *celsius = NumberOf(gpu) == 0 ? 41 : 52;
  return kSuccess;
}

}  // extern "C"
