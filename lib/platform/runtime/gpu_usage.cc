// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/gpu_usage.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "platform/runtime/metric_family.h"

namespace shoal::runtime {
namespace {

// The binary interface of NVML, whose header the driver does not bring along.
using Gpu = void*;
using Result = int;
constexpr Result kSuccess = 0;
constexpr int kTemperatureOfGpu = 0;
constexpr unsigned kUuidBytes = 96;

struct Utilization {
  unsigned gpu_percent;
  unsigned memory_percent;
};

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

constexpr double kWattsPerMilliwatt = 1e-3;

// Returns which of `entries` stands at `device`, "cuda:<n>"; without a list the number itself.
absl::StatusOr<std::string> EntryOf(const std::string& device,
                                    const std::optional<std::string>& visible) {
  absl::string_view digits = device;
  std::uint32_t number = 0;
  if (!absl::ConsumePrefix(&digits, "cuda:") || !absl::SimpleAtoi(digits, &number)) {
    return InvalidArgument("'" + device + "' is no cuda:<n>");
  }
  if (!visible) return std::to_string(number);
  const std::vector<std::string> entries = absl::StrSplit(*visible, ',', absl::SkipWhitespace());
  if (number >= entries.size()) {
    return NotFound(device + ": CUDA_VISIBLE_DEVICES shows " + std::to_string(entries.size()) +
                    " GPUs");
  }
  return std::string(absl::StripAsciiWhitespace(entries[number]));
}

}  // namespace

class GpuUsage::Library {
 public:
  static absl::StatusOr<std::unique_ptr<const Library>> Load(const std::string& name) {
    void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const error = ::dlerror();
      return FailedPrecondition(error == nullptr ? name + " cannot be loaded" : error);
    }
    auto library = std::unique_ptr<Library>(new Library(handle));
    if (!library->has_all_) {
      return FailedPrecondition(name + " lacks functions that NVML has");
    }
    if (const Result result = library->initialize(); result != kSuccess) {
      return FailedPrecondition(name + ": " + library->error_string(result));
    }
    library->is_initialized_ = true;
    return library;
  }
  ~Library() {
    if (is_initialized_) shut_down();
    ::dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Finds a GPU by its number or by the beginning of its UUID.
  absl::StatusOr<Gpu> Find(const std::string& entry) const {
    Gpu gpu = nullptr;
    if (std::uint32_t number = 0; absl::SimpleAtoi(entry, &number)) {
      const Result result = by_index(number, &gpu);
      if (result == kSuccess) return gpu;
      return NotFound("GPU " + entry + ": " + error_string(result));
    }
    unsigned gpus = 0;
    if (count(&gpus) != kSuccess) gpus = 0;
    for (unsigned i = 0; i < gpus; ++i) {
      std::array<char, kUuidBytes> uuid{};
      const bool is_told =
          by_index(i, &gpu) == kSuccess && uuid_of(gpu, uuid.data(), kUuidBytes) == kSuccess;
      if (is_told && std::string(uuid.data()).starts_with(entry)) return gpu;
    }
    return NotFound("no GPU has a UUID that begins with " + entry);
  }

 private:
  explicit Library(void* handle) : handle_(handle) {}

  template <typename Function>
  Function Symbol(const char* name) {
    void* const symbol = ::dlsym(handle_, name);
    has_all_ = has_all_ && symbol != nullptr;
    return reinterpret_cast<Function>(symbol);
  }

  void* const handle_;
  bool has_all_ = true;
  bool is_initialized_ = false;

 public:
  Result (*const initialize)() = Symbol<Result (*)()>("nvmlInit_v2");
  Result (*const shut_down)() = Symbol<Result (*)()>("nvmlShutdown");
  const char* (*const error_string)(Result) = Symbol<const char* (*)(Result)>("nvmlErrorString");
  Result (*const count)(unsigned*) = Symbol<Result (*)(unsigned*)>("nvmlDeviceGetCount_v2");
  Result (*const by_index)(unsigned, Gpu*) =
      Symbol<Result (*)(unsigned, Gpu*)>("nvmlDeviceGetHandleByIndex_v2");
  Result (*const index_of)(Gpu,
                           unsigned*) = Symbol<Result (*)(Gpu, unsigned*)>("nvmlDeviceGetIndex");
  Result (*const uuid_of)(Gpu, char*,
                          unsigned) = Symbol<Result (*)(Gpu, char*, unsigned)>("nvmlDeviceGetUUID");
  Result (*const utilization)(Gpu, Utilization*) =
      Symbol<Result (*)(Gpu, Utilization*)>("nvmlDeviceGetUtilizationRates");
  Result (*const memory)(Gpu,
                         Memory*) = Symbol<Result (*)(Gpu, Memory*)>("nvmlDeviceGetMemoryInfo");
  Result (*const power)(Gpu,
                        unsigned*) = Symbol<Result (*)(Gpu, unsigned*)>("nvmlDeviceGetPowerUsage");
  Result (*const temperature)(Gpu, int, unsigned*) =
      Symbol<Result (*)(Gpu, int, unsigned*)>("nvmlDeviceGetTemperature");
};

GpuUsage::GpuUsage(std::unique_ptr<const Library> library, void* gpu, std::string number)
    : library_(std::move(library)), gpu_(gpu), number_(std::move(number)) {}

GpuUsage::~GpuUsage() = default;

GpuUsage::Source GpuUsage::OfProcess() {
  Source source;
  if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES")) source.visible = visible;
  return source;
}

absl::StatusOr<std::shared_ptr<GpuUsage>> GpuUsage::Open(const std::string& device,
                                                         const Source& source) {
  SHOAL_ASSIGN_OR_RETURN(const std::string entry, EntryOf(device, source.visible));
  SHOAL_ASSIGN_OR_RETURN(auto library, Library::Load(source.library));
  SHOAL_ASSIGN_OR_RETURN(const Gpu gpu, library->Find(entry));
  unsigned index = 0;
  const bool is_numbered = library->index_of(gpu, &index) == kSuccess;
  return std::shared_ptr<GpuUsage>(
      new GpuUsage(std::move(library), gpu, is_numbered ? std::to_string(index) : entry));
}

std::vector<prometheus::MetricFamily> GpuUsage::Collect() const {
  std::vector<prometheus::MetricFamily> families;
  const auto add = [&](const char* name, const char* help, double value) {
    families.push_back(
        FamilyOf(name, help, prometheus::MetricType::Gauge, value, {"gpu", number_}));
  };
  if (Utilization busy{}; library_->utilization(gpu_, &busy) == kSuccess) {
    add(kBusyRatio, kBusyRatioHelp, busy.gpu_percent / 100.0);
  }
  if (Memory memory{}; library_->memory(gpu_, &memory) == kSuccess) {
    add(kUsedBytes, kUsedBytesHelp, static_cast<double>(memory.used));
  }
  if (unsigned milliwatts = 0; library_->power(gpu_, &milliwatts) == kSuccess) {
    add(kPowerWatts, kPowerWattsHelp, milliwatts * kWattsPerMilliwatt);
  }
  unsigned celsius = 0;
  if (library_->temperature(gpu_, kTemperatureOfGpu, &celsius) == kSuccess) {
    add(kTemperatureCelsius, kTemperatureCelsiusHelp, celsius);
  }
  return families;
}

void GpuUsages::Add(std::shared_ptr<const GpuUsage> gpu) {
  const MutexLock lock(mutex_);
  const bool is_there = std::any_of(gpus_.begin(), gpus_.end(), [&gpu](const auto& other) {
    return other->number() == gpu->number();
  });
  if (!is_there) gpus_.push_back(std::move(gpu));
}

std::vector<prometheus::MetricFamily> GpuUsages::Collect() const {
  const MutexLock lock(mutex_);
  std::vector<prometheus::MetricFamily> all;
  for (const auto& gpu : gpus_) {
    for (prometheus::MetricFamily& family : gpu->Collect()) {
      const auto same = std::find_if(all.begin(), all.end(), [&family](const auto& other) {
        return other.name == family.name;
      });
      if (same == all.end()) {
        all.push_back(std::move(family));
      } else {
        same->metric.push_back(std::move(family.metric.front()));
      }
    }
  }
  return all;
}

}  // namespace shoal::runtime
