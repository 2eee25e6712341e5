// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/metrics.h"

#include <errno.h>
#include <netdb.h>
#include <prometheus/text_serializer.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <string_view>
#include <utility>

#include "platform/runtime/gpu_usage.h"
#include "platform/runtime/log.h"
#include "platform/runtime/process_usage.h"
#include "platform/runtime/thread.h"

namespace shoal::runtime {
namespace {

// Connects to "host:port" and hangs up.
void Knock(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return;
  addrinfo hints = {};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.substr(0, colon).c_str(), address.substr(colon + 1).c_str(), &hints,
                    &found) != 0) {
    return;
  }
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor >= 0) {
    (void)::connect(descriptor, found->ai_addr, found->ai_addrlen);
    ::close(descriptor);
  }
  ::freeaddrinfo(found);
}

constexpr std::string_view kPrefix = "shoal_";
constexpr std::array<std::string_view, 5> kDraws = {"value", "rate", "shares", "labels", "never"};

// "shoal_learner_kl_nats_total" -> "learner kl nats".
std::string WordsOf(std::string_view name) {
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  if (constexpr std::string_view kTotal = "_total"; name.ends_with(kTotal)) {
    name.remove_suffix(kTotal.size());
  }
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

// Returns the unit in which a name ends.
std::string UnitOf(const std::string& words) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kUnits = {
      {{"seconds", "s"},
       {"bytes", "bytes"},
       {"nats", "nats"},
       {"ratio", ""},
       {"rows", "rows"},
       {"steps", "steps"},
       {"items", "items"},
       {"publications", "publications"}}};
  for (const auto& [ending, unit] : kUnits) {
    if (words.ends_with(ending)) return std::string(unit);
  }
  return "";
}

// Whether a Metrics object tells of the process already, since several may belong to one process.
std::atomic<bool> process_is_told = false;  // Sequentially consistent: nothing else is shared.

}  // namespace

Metrics::Metrics() : registry_(std::make_shared<prometheus::Registry>()) {}

// The destructor knocks because civetweb checks whether it shall stop only when somebody connects,
// or every two seconds.
Metrics::~Metrics() {
  if (usage_ != nullptr) process_is_told = false;
  if (exposer_ == nullptr) return;
  std::atomic<bool> stopped = false;  // Sequentially consistent: nothing else is shared.
  Thread stopper("metrics-stop", [this, &stopped] {
    exposer_.reset();
    stopped = true;
  });
  while (!stopped) {
    Knock(address_);
    ::usleep(2000);
  }
}

void Metrics::Describe(MetricInfo info, const std::string& kind) {
  const MutexLock lock(mutex_);
  if (!described_.insert(info.name).second) return;
  const std::string words = WordsOf(info.name);
  if (info.title.empty()) info.title = words;
  if (info.group.empty()) info.group = words.substr(0, words.find(' '));
  const Draw draw =
      info.draw.value_or(kind == "counter" && info.over.empty() ? Draw::kRate : Draw::kValue);
  if (info.unit.empty()) info.unit = draw == Draw::kRate ? "per second" : UnitOf(words);
  prometheus::BuildGauge()
      .Name("shoal_metric_info")
      .Help("What each metric of this process is, and how it is shown.")
      .Register(*registry_)
      .Add({{"metric", info.name},
            {"kind", kind},
            {"help", info.help},
            {"group", info.group},
            {"unit", info.unit},
            {"title", info.title},
            {"draw", std::string(kDraws[static_cast<std::size_t>(draw)])},
            {"over", info.over},
            {"status", info.status}})
      .Set(1);
}

prometheus::Counter& Metrics::Counter(const MetricInfo& info, const Labels& labels) {
  Describe(info, "counter");
  return prometheus::BuildCounter()
      .Name(info.name)
      .Help(info.help)
      .Register(*registry_)
      .Add(labels);
}

prometheus::Gauge& Metrics::Gauge(const MetricInfo& info, const Labels& labels) {
  Describe(info, "gauge");
  return prometheus::BuildGauge().Name(info.name).Help(info.help).Register(*registry_).Add(labels);
}

prometheus::Histogram& Metrics::Histogram(const MetricInfo& info, const std::vector<double>& bounds,
                                          const Labels& labels) {
  Describe(info, "histogram");
  return prometheus::BuildHistogram()
      .Name(info.name)
      .Help(info.help)
      .Register(*registry_)
      .Add(labels, bounds);
}

prometheus::Counter& Metrics::Counter(const std::string& name, const std::string& help,
                                      const Labels& labels) {
  return Counter(MetricInfo{.name = name, .help = help}, labels);
}

prometheus::Gauge& Metrics::Gauge(const std::string& name, const std::string& help,
                                  const Labels& labels) {
  return Gauge(MetricInfo{.name = name, .help = help}, labels);
}

prometheus::Histogram& Metrics::Histogram(const std::string& name, const std::string& help,
                                          const std::vector<double>& bounds, const Labels& labels) {
  return Histogram(MetricInfo{.name = name, .help = help}, bounds, labels);
}

std::string Metrics::Text() const {
  return prometheus::TextSerializer().Serialize(registry_->Collect());
}

absl::Status Metrics::Expose(const std::string& address) {
  if (address.empty()) return absl::OkStatus();
  try {
    exposer_ = std::make_unique<prometheus::Exposer>(address, 1);
  } catch (const std::exception& error) {
    return FailedPrecondition("cannot serve metrics on " + address + ": " + error.what());
  }
  address_ = address;
  exposer_->RegisterCollectable(registry_);
  if (gpu_ != nullptr) exposer_->RegisterCollectable(gpu_);
  if (!process_is_told.exchange(true)) ExposeProcess();
  return absl::OkStatus();
}

void Metrics::ExposeGpu(const std::string& device) {
  if (!device.starts_with("cuda:")) return;
  auto opened = GpuUsage::Open(device, GpuUsage::OfProcess());
  if (!opened.ok()) {
    spdlog::warn("event=gpu_untold device={} reason={}", device, Quoted(Message(opened.status())));
    return;
  }
  Describe({.name = GpuUsage::kBusyRatio,
            .help = GpuUsage::kBusyRatioHelp,
            .group = "machine",
            .title = "GPU busy",
            .draw = Draw::kLabels},
           "gauge");
  Describe({.name = GpuUsage::kUsedBytes,
            .help = GpuUsage::kUsedBytesHelp,
            .group = "machine",
            .title = "GPU memory",
            .draw = Draw::kLabels},
           "gauge");
  Describe({.name = GpuUsage::kPowerWatts,
            .help = GpuUsage::kPowerWattsHelp,
            .group = "machine",
            .unit = "W",
            .title = "GPU power",
            .draw = Draw::kLabels},
           "gauge");
  Describe({.name = GpuUsage::kTemperatureCelsius,
            .help = GpuUsage::kTemperatureCelsiusHelp,
            .group = "machine",
            .unit = "degrees Celsius",
            .title = "GPU temperature",
            .draw = Draw::kLabels},
           "gauge");
  const bool is_first = gpu_ == nullptr;
  if (is_first) gpu_ = std::make_shared<GpuUsages>();
  static_cast<GpuUsages&>(*gpu_).Add(*std::move(opened));
  if (is_first && exposer_ != nullptr) exposer_->RegisterCollectable(gpu_);
}

void Metrics::ExposeProcess() {
  Describe({.name = ProcessUsage::kCpuSeconds,
            .help = ProcessUsage::kCpuSecondsHelp,
            .group = "machine",
            .unit = "processors",
            .title = "processor time",
            .draw = Draw::kLabels},
           "counter");
  Describe({.name = ProcessUsage::kResidentBytes,
            .help = ProcessUsage::kResidentBytesHelp,
            .group = "machine",
            .title = "resident memory",
            .draw = Draw::kLabels},
           "gauge");
  usage_ = std::make_shared<ProcessUsage>(program_invocation_short_name);
  exposer_->RegisterCollectable(usage_);
}

std::vector<double> ExponentialBounds(double start, double factor, int count) {
  std::vector<double> bounds;
  for (int i = 0; i < count; ++i) {
    bounds.push_back(start);
    start *= factor;
  }
  return bounds;
}

}  // namespace shoal::runtime
