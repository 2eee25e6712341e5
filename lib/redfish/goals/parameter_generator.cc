// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/parameter_generator.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace shoal::redfish {
namespace {

template <std::size_t N>
std::string Pick(const std::array<std::string_view, N>& words, runtime::Random& random) {
  return std::string(words[random.Below(N)]);
}

std::string Letters(std::size_t count, runtime::Random& random) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>('A' + random.Below(26));
  return text;
}

int Number(int low, int high, runtime::Random& random) {
  return low + static_cast<int>(random.Below(static_cast<std::uint64_t>(high - low + 1)));
}

std::string DrawTag(runtime::Random& random) {
  static constexpr std::array<std::string_view, 8> kPlaces = {"RACK", "LAB", "DC",   "ROW",
                                                              "POD",  "INV", "HALL", "UNIT"};
  const int first = Number(1, 99, random);
  const int second = Number(0, 99999, random);
  switch (random.Below(3)) {
    case 0:
      return Pick(kPlaces, random) + absl::StrFormat("-%02d-%05d", first, second);
    case 1:
      return Letters(3, random) + absl::StrFormat("%05d", second);
    default:
      return Letters(2, random) + absl::StrFormat("-%d.%d", first, second);
  }
}

std::string DrawHost(runtime::Random& random) {
  static constexpr std::array<std::string_view, 6> kHosts = {"ntp",  "time",   "clock",
                                                             "tick", "chrony", "stratum"};
  static constexpr std::array<std::string_view, 5> kDomains = {
      "example.com", "example.org", "corp.example", "lab.example", "example.net"};
  const int number = Number(1, 999, random);
  if (random.Below(3) == 0) {
    const int third = Number(0, 255, random);
    return absl::StrFormat("10.%d.%d.%d", number % 256, third, Number(1, 254, random));
  }
  const std::string host = Pick(kHosts, random);
  return absl::StrFormat("%s%d.%s", host, number, Pick(kDomains, random));
}

std::string DrawUser(runtime::Random& random) {
  static constexpr std::array<std::string_view, 8> kNames = {"alex", "kim",   "noor", "ravi",
                                                             "sam",  "tomas", "uma",  "yuki"};
  return Pick(kNames, random) + absl::StrFormat("%03d", Number(0, 999, random));
}

std::string DrawPassword(runtime::Random& random) {
  const std::string letters = Letters(4, random);
  return absl::StrFormat("%s-%04d-pw", letters, Number(0, 9999, random));
}

std::string DrawVersion(runtime::Random& random) {
  const int major = Number(3, 40, random);
  return absl::StrFormat("%d.%d", major, Number(0, 99, random));
}

}  // namespace

bool IsGenerator(std::string_view generator) {
  static constexpr std::array<std::string_view, 6> kGenerators = {"tag",      "host", "user",
                                                                  "password", "url",  "version"};
  return std::find(kGenerators.begin(), kGenerators.end(), generator) != kGenerators.end();
}

std::string DrawParameter(std::string_view generator, runtime::Random& random) {
  if (generator == "host") return DrawHost(random);
  if (generator == "user") return DrawUser(random);
  if (generator == "password") return DrawPassword(random);
  if (generator == "url") return "http://" + DrawHost(random) + "/" + DrawUser(random);
  if (generator == "version") return DrawVersion(random);
  return DrawTag(random);
}

}  // namespace shoal::redfish
