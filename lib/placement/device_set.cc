// SPDX-License-Identifier: Apache-2.0
#include "placement/device_set.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/config.h"

namespace shoal::placement {
namespace {

constexpr double kGiga = 1e9;
constexpr double kTera = 1e12;
constexpr double kMicro = 1e-6;
constexpr double kGibi = 1 << 30;
constexpr std::size_t kNone = ~std::size_t{0};

// Sizes and speeds have no default: 0 stands for one that the file does not name.
struct SpeedTable {
  std::string kind;
  double tflops = 0;

  void Visit(runtime::Visitor& visitor) {
    visitor.Knob("kind", kind, {.help = "kind of operation"});
    visitor.Knob("tflops", tflops,
                 {.help = "speed of this kind", .unit = "Tflop/s", .min = 1e-9, .max = 1e9});
  }
};

struct DeviceTable {
  std::string name;
  std::int64_t count = 1;
  double memory_gib = 0;
  double tflops = 0;
  double memory_gb_per_s = 0;
  double overhead_us = 0;
  std::vector<SpeedTable> speeds;

  void Visit(runtime::Visitor& visitor) {
    visitor.Knob("name", name, {.help = "name; several devices are name:0, name:1 and so on"});
    visitor.Knob("count", count,
                 {.help = "devices of this kind", .min = 1, .max = double{kMostDevices}});
    visitor.Knob("memory_gib", memory_gib,
                 {.help = "memory", .unit = "GiB", .min = 1e-9, .max = 1e9});
    visitor.Knob("tflops", tflops,
                 {.help = "speed of kinds without one of their own",
                  .unit = "Tflop/s",
                  .min = 1e-6,
                  .max = 1e9});
    visitor.Knob("memory_gb_per_s", memory_gb_per_s,
                 {.help = "speed of its memory", .unit = "GB/s", .min = 1e-6, .max = 1e9});
    visitor.Knob("overhead_us", overhead_us,
                 {.help = "time that each operation takes besides",
                  .unit = "microseconds",
                  .min = 0,
                  .max = 1e9});
    visitor.Groups("speed", speeds);
  }
};

struct LinkTable {
  std::string name = "link";
  std::vector<std::string> from;
  std::vector<std::string> to;
  double gb_per_s = 0;
  double latency_us = 0;
  std::string sharing = "pair";

  void Visit(runtime::Visitor& visitor) {
    visitor.Knob("name", name, {.help = "name in reports"});
    visitor.Knob("from", from, {.help = "senders, by the names of device tables or of devices"});
    visitor.Knob("to", to, {.help = "receivers, likewise"});
    visitor.Knob("gb_per_s", gb_per_s,
                 {.help = "bandwidth", .unit = "GB/s", .min = 1e-6, .max = 1e9});
    visitor.Knob(
        "latency_us", latency_us,
        {.help = "time before a transfer begins", .unit = "microseconds", .min = 0, .max = 1e9});
    visitor.Knob("sharing", sharing,
                 {.help = "which transfers wait for each other: those of a pair of devices, of a "
                          "sender, or all of this link",
                  .choices = {"pair", "sender", "all"}});
  }
};

struct Tables {
  std::vector<DeviceTable> devices;
  std::vector<LinkTable> links;

  void Visit(runtime::Visitor& visitor) {
    visitor.Groups("device", devices);
    visitor.Groups("link", links);
  }
};

absl::Status CheckNamed(const std::string& subject,
                        const std::vector<std::pair<const char*, double>>& sizes) {
  for (const auto& [name, size] : sizes) {
    if (size == 0) return runtime::InvalidArgument(subject + " has no " + name);
  }
  return absl::OkStatus();
}

class Builder {
 public:
  absl::StatusOr<DeviceSet> Build(const Tables& tables) {
    for (const DeviceTable& table : tables.devices) SHOAL_RETURN_IF_ERROR(AddDevices(table));
    if (set_.devices.empty()) return runtime::InvalidArgument("there is no [[placement.device]]");
    const std::size_t count = set_.devices.size();
    set_.channel_between.assign(count * count, kNone);
    for (const LinkTable& table : tables.links) SHOAL_RETURN_IF_ERROR(AddLink(table));
    for (std::size_t from = 0; from < count; ++from) {
      for (std::size_t to = 0; to < count; ++to) {
        if (from != to && set_.channel_between[from * count + to] == kNone) {
          return runtime::InvalidArgument("there is no [[placement.link]] from " + NameOf(from) +
                                          " to " + NameOf(to));
        }
      }
    }
    return set_;
  }

 private:
  absl::Status AddDevices(const DeviceTable& table) {
    if (table.name.empty()) return runtime::InvalidArgument("a [[placement.device]] has no name");
    const std::string subject = "device " + table.name;
    SHOAL_RETURN_IF_ERROR(CheckNamed(subject, {{"memory_gib", table.memory_gib},
                                               {"tflops", table.tflops},
                                               {"memory_gb_per_s", table.memory_gb_per_s}}));
    SHOAL_ASSIGN_OR_RETURN(const auto kind_speed, KindSpeeds(subject, table.speeds));
    for (std::int64_t i = 0; i < table.count; ++i) {
      Device device{.name = table.name + (table.count > 1 ? ":" + std::to_string(i) : ""),
                    .memory_bytes = table.memory_gib * kGibi,
                    .speed = table.tflops * kTera,
                    .kind_speed = kind_speed,
                    .memory_speed = table.memory_gb_per_s * kGiga,
                    .overhead = table.overhead_us * kMicro};
      if (!Find(device.name).empty()) {
        return runtime::InvalidArgument("there are two devices " + device.name);
      }
      if (set_.devices.size() == kMostDevices) {
        return runtime::InvalidArgument("there are more than " + std::to_string(kMostDevices) +
                                        " devices");
      }
      set_.devices.push_back(std::move(device));
      tables_.push_back(table.name);
    }
    return absl::OkStatus();
  }

  static absl::StatusOr<std::map<std::string, double>> KindSpeeds(
      const std::string& subject, const std::vector<SpeedTable>& tables) {
    std::map<std::string, double> speeds;
    for (const SpeedTable& table : tables) {
      if (table.kind.empty()) {
        return runtime::InvalidArgument("a [[placement.device.speed]] of " + subject +
                                        " has no kind");
      }
      SHOAL_RETURN_IF_ERROR(
          CheckNamed("the speed of " + table.kind + " of " + subject, {{"tflops", table.tflops}}));
      if (!speeds.emplace(table.kind, table.tflops * kTera).second) {
        return runtime::InvalidArgument(subject + " has two speeds of " + table.kind);
      }
    }
    return speeds;
  }

  // Returns the devices that `name` means.
  std::vector<std::size_t> Find(const std::string& name) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < set_.devices.size(); ++i) {
      if (set_.devices[i].name == name || tables_[i] == name) found.push_back(i);
    }
    return found;
  }

  absl::StatusOr<std::vector<std::size_t>> FindAll(const LinkTable& table,
                                                   const std::vector<std::string>& names) const {
    std::vector<std::size_t> all;
    for (const std::string& name : names) {
      const std::vector<std::size_t> found = Find(name);
      if (found.empty()) {
        return runtime::InvalidArgument("link " + table.name + " names the unknown device " + name);
      }
      all.insert(all.end(), found.begin(), found.end());
    }
    return all;
  }

  absl::Status AddLink(const LinkTable& table) {
    SHOAL_RETURN_IF_ERROR(CheckNamed("link " + table.name, {{"gb_per_s", table.gb_per_s}}));
    SHOAL_ASSIGN_OR_RETURN(const std::vector<std::size_t> senders, FindAll(table, table.from));
    SHOAL_ASSIGN_OR_RETURN(const std::vector<std::size_t> receivers, FindAll(table, table.to));
    const std::size_t count = set_.devices.size();
    std::optional<std::size_t> common;
    for (const std::size_t from : senders) {
      std::optional<std::size_t> of_sender;
      for (const std::size_t to : receivers) {
        if (from == to) continue;
        std::size_t& channel = set_.channel_between[from * count + to];
        if (channel != kNone) {
          return runtime::InvalidArgument("there are two links from " + NameOf(from) + " to " +
                                          NameOf(to));
        }
        if (table.sharing == "pair") {
          channel = AddChannel(table, " " + NameOf(from) + " to " + NameOf(to));
        } else if (table.sharing == "sender") {
          if (!of_sender) of_sender = AddChannel(table, " from " + NameOf(from));
          channel = *of_sender;
        } else {
          if (!common) common = AddChannel(table, "");
          channel = *common;
        }
      }
    }
    return absl::OkStatus();
  }

  std::size_t AddChannel(const LinkTable& table, const std::string& ends) {
    set_.channels.push_back({.name = table.name + ends,
                             .bandwidth = table.gb_per_s * kGiga,
                             .latency = table.latency_us * kMicro});
    return set_.channels.size() - 1;
  }

  const std::string& NameOf(std::size_t device) const { return set_.devices[device].name; }

  DeviceSet set_;
  // The name of the table that each device is of.
  std::vector<std::string> tables_;
};

}  // namespace

double Device::Seconds(const std::string& kind, double flops, double bytes) const {
  const auto own = kind_speed.find(kind);
  const double kind_flops = own == kind_speed.end() ? speed : own->second;
  return overhead + std::max(flops / kind_flops, bytes / memory_speed);
}

std::string ToToml(const Device& device) {
  DeviceTable table;
  table.name = device.name;
  table.memory_gib = device.memory_bytes / kGibi;
  table.tflops = device.speed / kTera;
  table.memory_gb_per_s = device.memory_speed / kGiga;
  table.overhead_us = device.overhead / kMicro;
  for (const auto& [kind, speed] : device.kind_speed) table.speeds.push_back({kind, speed / kTera});
  Tables tables{.devices = {std::move(table)}, .links = {}};
  runtime::Config config;
  config.Add("placement", tables);
  return config.Print();
}

absl::StatusOr<DeviceSet> ParseDevices(std::string_view text, const std::string& source,
                                       const std::vector<std::string>& overrides) {
  Tables tables;
  runtime::Config config;
  config.Add("placement", tables);
  SHOAL_RETURN_IF_ERROR(config.Parse(text, source, overrides));
  absl::StatusOr<DeviceSet> set = Builder().Build(tables);
  if (!set.ok()) return runtime::Annotate(set.status(), source);
  return set;
}

absl::Status CheckKinds(const DeviceSet& devices, const Graph& graph) {
  std::set<std::string> kinds(kOperationKinds.begin(), kOperationKinds.end());
  for (const Operation& operation : graph.operations) kinds.insert(operation.kind);
  for (const Device& device : devices.devices) {
    for (const auto& [kind, speed] : device.kind_speed) {
      if (kinds.contains(kind)) continue;
      return runtime::InvalidArgument("device " + device.name + " has a speed of the kind \"" +
                                      kind + "\", which no operation has; there are " +
                                      absl::StrJoin(kinds, ", "));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceSet> LoadDevices(const std::string& path,
                                      const std::vector<std::string>& overrides) {
  constexpr std::size_t kMostBytes = 1 << 20;
  SHOAL_ASSIGN_OR_RETURN(const std::string text, runtime::ReadFile(path, kMostBytes));
  return ParseDevices(text, path, overrides);
}

}  // namespace shoal::placement
