// SPDX-License-Identifier: Apache-2.0
// Devices that operations can be placed on, and the links between them.
//
// Values; thread-safe to read.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "placement/graph.h"
#include "platform/runtime/status.h"

namespace shoal::placement {

struct Device {
  std::string name;
  double memory_bytes = 0;
  // Floating-point operations a second, of kinds that `kind_speed` does not name.
  double speed = 0;
  std::map<std::string, double> kind_speed;
  // Bytes a second that operations read and write.
  double memory_speed = 0;
  // Seconds that each operation takes besides.
  double overhead = 0;

  // Returns how long an operation takes: the overhead, and the longer of its arithmetic, at the
  // speed of its kind, and its bytes, at the speed of the memory (Williams, Waterman and Patterson,
  // "Roofline", CACM 52(4), 2009).
  double Seconds(const std::string& kind, double flops, double bytes) const;
};

// Transfers on one channel go one after the other.
struct Channel {
  std::string name;
  // Bytes a second.
  double bandwidth = 0;
  // Seconds.
  double latency = 0;

  // Returns how long a transfer takes that has not to wait.
  double Seconds(double bytes) const { return latency + bytes / bandwidth; }
};

struct DeviceSet {
  std::vector<Device> devices;
  std::vector<Channel> channels;
  // The index of the channel from one device to another: channel_between[from * size + to]. What
  // stands for a device and itself is not read.
  std::vector<std::size_t> channel_between;
};

// The most devices of a set.
inline constexpr std::size_t kMostDevices = 64;

// Parses the text of a TOML file whose tables are [[placement.device]] and [[placement.link]], and
// applies `overrides` (platform/runtime/config.h); data/placement/devices/ has commented examples.
// `source` names the file in errors. INVALID_ARGUMENT with file, line and key for an unknown key or
// a value out of range, or naming the device: two of the same name, one without memory, speed or
// speed of its memory, a speed without a kind, a link of an unknown one or without bandwidth, a
// pair with no link or two links.
absl::StatusOr<DeviceSet> ParseDevices(std::string_view text, const std::string& source,
                                       const std::vector<std::string>& overrides = {});

// Returns a file of this one device, with a remark on each number, which ParseDevices reads back.
std::string ToToml(const Device& device);

// INVALID_ARGUMENT naming the device with a speed of a kind that is neither one of the graph's nor
// of kOperationKinds: it is misspelt, and would change nothing.
absl::Status CheckKinds(const DeviceSet& devices, const Graph& graph);

// Reads the file `path`; NOT_FOUND when it is missing.
absl::StatusOr<DeviceSet> LoadDevices(const std::string& path,
                                      const std::vector<std::string>& overrides = {});

}  // namespace shoal::placement
