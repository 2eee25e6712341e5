// SPDX-License-Identifier: Apache-2.0
#include "placement/device_set.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "small_graphs.h"

namespace shoal::placement {
namespace {

constexpr char kTwo[] =
    "[[placement.device]]\nname = \"gpu\"\ncount = 2\nmemory_gib = 2\ntflops = 3.0\n"
    "memory_gb_per_s = 4\noverhead_us = 5\n"
    "[[placement.device.speed]]\nkind = \"conv\"\ntflops = 6.0\n"
    "[[placement.device]]\nname = \"cpu\"\nmemory_gib = 1\ntflops = 1\nmemory_gb_per_s = 1\n";
constexpr char kLinks[] =
    "[[placement.link]]\nname = \"bus\"\nfrom = [\"gpu\"]\nto = [\"gpu\", \"cpu\"]\ngb_per_s = 7\n"
    "latency_us = 8\nsharing = \"sender\"\n"
    "[[placement.link]]\nfrom = [\"cpu\"]\nto = [\"gpu:0\", \"gpu:1\"]\ngb_per_s = 1\n";

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
  REQUIRE(
      Has(DevicesError(std::string(kTwo) + "[[placement.link]]\nfrom = [\"tpu\"]\ngb_per_s = 1\n"),
          "link link names the unknown device tpu"));
  REQUIRE(Has(DevicesError(std::string(kTwo) + kTwo), "there are two devices gpu:0"));
  REQUIRE(Has(DevicesError("[[placement.device]]\n"), "has no name"));
  REQUIRE(Has(DevicesError("[[placement.device]]\nname = \"a\"\ntflop = 1\n"), "tflops"));
  REQUIRE(Has(DevicesError("[[placement.device]]\nname = \"a\"\nmemory_gib = -1\n"), "memory_gib"));
  REQUIRE(Has(DevicesError("[[placement.device]]\nname = \"a\"\ncount = 65\n"), "count"));
  const std::string sizes = "memory_gib = 1\ntflops = 1\nmemory_gb_per_s = 1\n";
  REQUIRE(Has(DevicesError("[[placement.device]]\nname = \"a\"\ncount = 64\n" + sizes +
                           "[[placement.device]]\nname = \"b\"\n" + sizes),
              "more than 64 devices"));
  REQUIRE(Has(DevicesError("[[placement.device]\n"), "devices.toml"));
  REQUIRE(absl::IsNotFound(LoadDevices("no/such/file.toml").status()));
}

TEST_CASE("a size or speed that a file of devices leaves out is an error that names it") {
  const auto without = [](std::string text, const std::string& words) {
    const std::size_t at = text.find(words);
    REQUIRE(at != std::string::npos);
    return DevicesError(text.erase(at, words.size()));
  };
  const std::string valid = std::string(kTwo) + kLinks;
  REQUIRE(ParseDevices(valid, "devices.toml").ok());
  REQUIRE(Has(without(valid, "memory_gib = 2\n"), "device gpu has no memory_gib"));
  REQUIRE(Has(without(valid, "tflops = 3.0\n"), "device gpu has no tflops"));
  REQUIRE(Has(without(valid, "memory_gb_per_s = 4\n"), "device gpu has no memory_gb_per_s"));
  REQUIRE(Has(without(valid, "tflops = 6.0\n"), "the speed of conv of device gpu has no tflops"));
  REQUIRE(Has(without(valid, "kind = \"conv\"\n"),
              "a [[placement.device.speed]] of device gpu has no kind"));
  REQUIRE(Has(without(valid, "gb_per_s = 7\n"), "link bus has no gb_per_s"));
}

TEST_CASE("a speed of a kind that no operation has is an error, unless the graph has the kind") {
  Graph graph;
  AddOperation(graph, 1, 1, {});
  DeviceSet devices = EqualDevices(2, 100);
  devices.devices[1].kind_speed = {{"lookup", 1}, {"matmull", 2}};
  const absl::Status status = CheckKinds(devices, graph);
  REQUIRE(absl::IsInvalidArgument(status));
  REQUIRE(Has(runtime::Message(status),
              "device device 1 has a speed of the kind \"matmull\", which no operation has"));
  graph.operations[0].kind = "matmull";
  REQUIRE(CheckKinds(devices, graph).ok());
}

}  // namespace
}  // namespace shoal::placement
