// SPDX-License-Identifier: Apache-2.0
#include "rl/model/device_names.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>

namespace shoal::model {

std::vector<std::string> DeviceNames(std::string_view list) {
  std::vector<std::string> names;
  for (const absl::string_view entry :
       absl::StrSplit(absl::string_view(list.data(), list.size()), ',')) {
    names.emplace_back(absl::StripAsciiWhitespace(entry));
  }
  return names;
}

}  // namespace shoal::model
