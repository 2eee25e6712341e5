// SPDX-License-Identifier: Apache-2.0
#include "placement/device_set.h"

#include <catch2/catch.hpp>
#include <filesystem>

namespace shoal::placement {
namespace {

constexpr char kTwo[] =
    "[[placement.device]]\nname = \"gpu\"\ncount = 2\nmemory_gib = 2\ntflops = 3.0\n"
    "memory_gb_per_s = 4\noverhead_us = 5\n"
    "[[placement.device.speed]]\nkind = \"conv\"\ntflops = 6.0\n"
    "[[placement.device]]\nname = \"cpu\"\n";
constexpr char kLinks[] =
    "[[placement.link]]\nname = \"bus\"\nfrom = [\"gpu\"]\nto = [\"gpu\", \"cpu\"]\ngb_per_s = 7\n"
    "latency_us = 8\nsharing = \"sender\"\n"
    "[[placement.link]]\nfrom = [\"cpu\"]\nto = [\"gpu:0\", \"gpu:1\"]\n";

std::string DevicesError(const std::string& text) {
  const absl::StatusOr<DeviceSet> set = ParseDevices(text, "devices.toml");
  REQUIRE(absl::IsInvalidArgument(set.status()));
  return runtime::Message(set.status());
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("tables of devices and links become devices, channels and units of bytes and seconds") {
  const DeviceSet set = ParseDevices(std::string(kTwo) + kLinks, "devices.toml").value();
  REQUIRE(set.devices.size() == 3);
  REQUIRE(set.devices[1].name == "gpu:1");
  REQUIRE(set.devices[1].memory_bytes == 2.0 * (1 << 30));
  REQUIRE(set.devices[1].speed == 3e12);
  REQUIRE(set.devices[1].kind_speed.at("conv") == 6e12);
  REQUIRE(set.devices[1].memory_speed == 4e9);
  REQUIRE(set.devices[1].overhead == Approx(5e-6));
  REQUIRE(set.devices[2].name == "cpu");
  // Each GPU's transfers share a channel; those of the processor have one for each receiver.
  REQUIRE(set.channels.size() == 4);
  REQUIRE(set.channel_between[0 * 3 + 1] == set.channel_between[0 * 3 + 2]);
  REQUIRE(set.channel_between[0 * 3 + 1] != set.channel_between[1 * 3 + 0]);
  REQUIRE(set.channel_between[2 * 3 + 0] != set.channel_between[2 * 3 + 1]);
  const Channel& channel = set.channels[set.channel_between[1 * 3 + 2]];
  REQUIRE(channel.name == "bus from gpu:1");
  REQUIRE(channel.bandwidth == 7e9);
  REQUIRE(channel.latency == Approx(8e-6));
}

TEST_CASE("a device that is written is read back as it was") {
  const Device device{.name = "cpu",
                      .memory_bytes = 20.5 * (1 << 30),
                      .speed = 0.125e12,
                      .kind_speed = {{"conv", 0.25e12}, {"norm", 0.0078125e12}},
                      .memory_speed = 17.5e9,
                      .overhead = 2.5e-6};
  const DeviceSet set = ParseDevices(ToToml(device), "written.toml").value();
  REQUIRE(set.devices.size() == 1);
  REQUIRE(set.channels.empty());
  const Device& read = set.devices[0];
  REQUIRE(read.name == device.name);
  REQUIRE(read.memory_bytes == Approx(device.memory_bytes));
  REQUIRE(read.speed == Approx(device.speed));
  REQUIRE(read.kind_speed == device.kind_speed);
  REQUIRE(read.memory_speed == Approx(device.memory_speed));
  REQUIRE(read.overhead == Approx(device.overhead));
}

TEST_CASE("settings on top of the file change a device by its name") {
  const DeviceSet set =
      ParseDevices(std::string(kTwo) + kLinks, "devices.toml", {"placement.device.gpu.tflops=9.0"})
          .value();
  REQUIRE(set.devices[0].speed == 9e12);
  REQUIRE(set.devices[2].speed == 1e12);
}

TEST_CASE("every file of devices that ships is read") {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("data/placement/devices")) {
    const absl::StatusOr<DeviceSet> set = LoadDevices(entry.path().string());
    INFO(entry.path().string() << ": " << set.status().ToString());
    REQUIRE(set.ok());
    ++count;
  }
  REQUIRE(count == 2);
}

TEST_CASE("what is wrong with a file of devices is one error that names it") {
  REQUIRE(Has(DevicesError(""), "devices.toml: there is no [[placement.device]]"));
  REQUIRE(Has(DevicesError(kTwo), "there is no [[placement.link]] from gpu:0 to gpu:1"));
  REQUIRE(Has(DevicesError(std::string(kTwo) + kLinks + kLinks), "there are two links from gpu:0"));
  REQUIRE(Has(DevicesError(std::string(kTwo) + "[[placement.link]]\nfrom = [\"tpu\"]\n"),
              "link link names the unknown device tpu"));
  REQUIRE(Has(DevicesError(std::string(kTwo) + kTwo), "there are two devices gpu:0"));
  REQUIRE(Has(DevicesError("[[placement.device]]\n"), "has no name"));
  REQUIRE(Has(DevicesError("[[placement.device]]\nname = \"a\"\ntflop = 1\n"), "tflops"));
  REQUIRE(Has(DevicesError("[[placement.device]]\nname = \"a\"\nmemory_gib = -1\n"), "memory_gib"));
  REQUIRE(Has(DevicesError("[[placement.device]]\nname = \"a\"\ncount = 65\n"), "count"));
  REQUIRE(Has(
      DevicesError("[[placement.device]]\nname = \"a\"\ncount = 64\n[[placement.device]]\nname = "
                   "\"b\"\n"),
      "more than 64 devices"));
  REQUIRE(Has(DevicesError("[[placement.device]\n"), "devices.toml"));
  REQUIRE(absl::IsNotFound(LoadDevices("no/such/file.toml").status()));
}

}  // namespace
}  // namespace shoal::placement
