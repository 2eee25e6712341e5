// SPDX-License-Identifier: Apache-2.0
// What an NVIDIA GPU is doing, as metrics: how busy it is, its memory, power and temperature.
//
// The values come from NVIDIA's management library (NVML), which the driver brings along. Programs
// do not link it: it is loaded when a process computes on a GPU, and they run without it. Values
// are read whenever somebody asks for the metrics. What a GPU does not tell is left out. They are
// of the whole GPU, whichever processes use it. Thread-safe.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"

namespace shoal::runtime {

class GpuUsage final : public prometheus::Collectable {
 public:
  static constexpr char kBusyRatio[] = "shoal_gpu_busy_ratio";
  static constexpr char kBusyRatioHelp[] =
      "Share of the time in which a GPU computes for any process, by its number.";
  static constexpr char kUsedBytes[] = "shoal_gpu_used_bytes";
  static constexpr char kUsedBytesHelp[] =
      "Memory of a GPU that all processes together take, by its number.";
  static constexpr char kPowerWatts[] = "shoal_gpu_power_watts";
  static constexpr char kPowerWattsHelp[] = "Power that a GPU draws, by its number.";
  static constexpr char kTemperatureCelsius[] = "shoal_gpu_temperature_celsius";
  static constexpr char kTemperatureCelsiusHelp[] = "Temperature of a GPU, by its number.";

  struct Source {
    // The library's name or path.
    std::string library = "libnvidia-ml.so.1";
    // The value of CUDA_VISIBLE_DEVICES: numbers, or the beginnings of UUIDs, of the GPUs that CUDA
    // shows to this process, in its order; nothing where all are shown.
    std::optional<std::string> visible = std::nullopt;
  };
  // Returns this process's library and environment.
  static Source OfProcess();

  // Opens `device`, "cuda:<n>", the n-th GPU that CUDA shows to this process. CUDA numbers unlike
  // GPUs by speed unless CUDA_DEVICE_ORDER is PCI_BUS_ID, and this library by their places on the
  // bus. The metrics have the label `gpu` with the library's number. Returns INVALID_ARGUMENT for
  // another name, NOT_FOUND where CUDA shows no such GPU, FAILED_PRECONDITION where the library
  // cannot be loaded or does not work.
  static absl::StatusOr<std::shared_ptr<GpuUsage>> Open(const std::string& device,
                                                        const Source& source);
  ~GpuUsage() override;

  // The label of its metrics.
  const std::string& number() const { return number_; }
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  class Library;
  GpuUsage(std::unique_ptr<const Library> library, void* gpu, std::string number);

  const std::unique_ptr<const Library> library_;
  void* const gpu_;
  const std::string number_;
};

// The GPUs of a process that computes on several: each metric comes once, with a value for each
// GPU. Thread-safe.
class GpuUsages final : public prometheus::Collectable {
 public:
  // Drops a GPU whose number is there already.
  void Add(std::shared_ptr<const GpuUsage> gpu) ABSL_LOCKS_EXCLUDED(mutex_);

  std::vector<prometheus::MetricFamily> Collect() const override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<const GpuUsage>> gpus_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::runtime
