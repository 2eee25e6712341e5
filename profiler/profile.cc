// SPDX-License-Identifier: Apache-2.0
#include "profiler/profile.h"

#include <ATen/Parallel.h>
#include <ATen/ops/add.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <absl/strings/str_format.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <fstream>
#include <vector>

#include "placement/device_fit.h"
#include "placement/simulator.h"
#include "platform/runtime/median.h"
#include "platform/runtime/process_usage.h"
#include "profiler/layer.h"
#include "profiler/resnet50.h"

namespace shoal::profiler {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Bytes a second: two arrays are read and one is written.
double MemorySpeed() {
  constexpr std::int64_t kNumbers = std::int64_t{1} << 24;
  constexpr int kTimes = 9;
  const at::Tensor a = at::ones({kNumbers});
  const at::Tensor b = at::ones({kNumbers});
  at::Tensor sum = at::ones({kNumbers});
  std::vector<double> seconds;
  for (int i = 0; i < kTimes; ++i) {
    const Clock::time_point begin = Clock::now();
    at::add_out(sum, a, b);
    seconds.push_back(SecondsSince(begin));
  }
  return 3.0 * static_cast<double>(sizeof(float) * kNumbers) / runtime::Median(seconds);
}

// Seconds of an operation of one number, forward or backward.
double Overhead() {
  constexpr int kLength = 500;
  constexpr int kTimes = 21;
  const at::Tensor x = at::ones({1}).requires_grad_(true);
  const at::Tensor gradient = at::ones({1});
  std::vector<double> seconds;
  for (int i = 0; i < kTimes; ++i) {
    const Clock::time_point begin = Clock::now();
    at::Tensor y = x;
    for (int k = 0; k < kLength; ++k) y = at::relu(y);
    torch::autograd::grad({y}, {x}, {gradient});
    seconds.push_back(SecondsSince(begin) / (2 * kLength));
  }
  return runtime::Median(seconds);
}

// For how long the main thread has waited for a processor, by the kernel's statistics.
double WaitedSeconds() {
  std::ifstream file("/proc/self/schedstat");
  double running = 0;
  double waiting = 0;
  return file >> running >> waiting ? 1e-9 * waiting : 0;
}

// The processor as the kernel names it.
std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t begin = line.find_first_not_of(" :\t", line.find(':'));
    if (begin != std::string::npos) return line.substr(begin);
  }
  return "unknown processor";
}

// Four digits are more than a measurement has, and read better than seventeen.
double Rounded(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 3);
  return std::round(value / unit) * unit;
}

std::string CheckText(const StepCheck& check) {
  return absl::StrFormat("a step of ResNet-50 with %d images: predicted %.0f ms, measured %.0f ms",
                         kBatch, 1e3 * check.predicted_seconds, 1e3 * check.measured_seconds);
}

}  // namespace

absl::StatusOr<placement::Device> MeasureDevice(const ProfileOptions& options) {
  try {
    placement::Device device{
        .name = options.name,
        .memory_bytes = Rounded(0.9 * static_cast<double>(runtime::MachineBytes())),
        .speed = 0,
        .kind_speed = {},
        .memory_speed = 0,
        .overhead = 0};
    options.progress("memory");
    device.memory_speed = Rounded(MemorySpeed());
    options.progress("the fixed cost of an operation");
    device.overhead = Rounded(Overhead());
    std::vector<placement::TimedOperation> timed;
    for (const Layer& layer : MakeLayers(kBatch)) {
      options.progress(layer.kind + ": " + layer.size);
      const auto found = TimeLayer(layer, options.span);
      timed.insert(timed.end(), found.begin(), found.end());
    }
    SHOAL_RETURN_IF_ERROR(placement::FitSpeeds(timed, device));
    device.speed = Rounded(device.speed);
    for (auto& [kind, speed] : device.kind_speed) speed = Rounded(speed);
    return device;
  } catch (const std::exception& error) {
    return runtime::Internal(std::string("libtorch cannot measure: ") + error.what());
  }
}

absl::StatusOr<StepCheck> CheckStep(const placement::Graph& graph, const placement::Device& device,
                                    const ProfileOptions& options) {
  constexpr std::size_t kLeast = 3;
  const placement::DeviceSet alone{.devices = {device}, .channels = {}, .channel_between = {0}};
  SHOAL_ASSIGN_OR_RETURN(placement::Simulator simulator,
                         placement::Simulator::Create(graph, alone));
  SHOAL_ASSIGN_OR_RETURN(const placement::Step step,
                         simulator.Run(placement::Placement(graph.groups.size(), 0)));
  try {
    ResNet50 network(kBatch);
    std::vector<double> seconds;
    const Clock::time_point begin = Clock::now();
    const double waited = WaitedSeconds();
    for (std::size_t i = 0; i <= kLeast || Clock::now() - begin < 10 * options.span; ++i) {
      options.progress("step " + std::to_string(i + 1) + " of ResNet-50");
      const Clock::time_point first = Clock::now();
      network.Step();
      // The first step also makes what the others find.
      if (i > 0) seconds.push_back(SecondsSince(first));
    }
    return StepCheck{.predicted_seconds = step.seconds,
                     .measured_seconds = runtime::Median(seconds),
                     .waited = (WaitedSeconds() - waited) / SecondsSince(begin)};
  } catch (const std::exception& error) {
    return runtime::Internal(std::string("libtorch cannot train ResNet-50: ") + error.what());
  }
}

std::string DeviceFile(const placement::Device& device, const StepCheck& check) {
  return absl::StrFormat(
             "# %s with %d threads of libtorch, measured by `shoal place profile`;\n# %s.\n"
             "# Kinds without a speed of their own are bound by memory.\n",
             ProcessorName(), at::get_num_threads(), CheckText(check)) +
         placement::ToToml(device);
}

std::string Describe(const placement::Device& device, const StepCheck& check) {
  std::string text =
      absl::StrFormat("%s, %d threads\n%-22s %8.1f GB/s\n%-22s %8.2f microseconds\n",
                      ProcessorName(), at::get_num_threads(), "memory", device.memory_speed / 1e9,
                      "fixed cost", 1e6 * device.overhead);
  for (const auto& [kind, speed] : device.kind_speed) {
    absl::StrAppendFormat(&text, "%-22s %8.2f Gflop/s\n", kind, speed / 1e9);
  }
  absl::StrAppendFormat(&text, "%s (%+.1f %%)\n", CheckText(check), 100 * check.error());
  constexpr double kFar = 0.25;
  constexpr double kBusy = 0.05;
  if (check.waited > kBusy) {
    absl::StrAppendFormat(&text,
                          "other work had the processors for %.0f %% of the time; measure again "
                          "when there is none\n",
                          100 * check.waited);
  } else if (std::abs(check.error()) > kFar) {
    text += "the prediction is far off; measure again\n";
  }
  return text;
}

}  // namespace shoal::profiler
