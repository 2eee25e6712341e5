// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/capture_path.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "platform/runtime/config_text.h"
#include "redfish/capture/archive.h"
#include "redfish/capture/variant.h"

namespace shoal::redfish {
namespace {

namespace fs = std::filesystem;

constexpr char kArchiveEnding[] = ".tar.xz";

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string file = entry.path().filename().string();
    const bool is_capture = file.ends_with(kArchiveEnding) || entry.is_directory(error);
    if (is_capture) names.push_back(ArchiveName(file));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Returns a name close to `named`, or all names when none is close.
std::string Suggestion(const std::string& named, const std::string& folder) {
  const std::vector<std::string> names = NamesIn(folder);
  const std::string close = runtime::DidYouMean(named, names);
  if (!close.empty() || names.empty()) return close;
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return "; " + folder + " has " + all;
}

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace

absl::StatusOr<std::string> FindCapture(const std::string& named, const std::string& data) {
  if (named.empty()) return runtime::InvalidArgument("the name of a capture is empty");
  if (const std::optional<VariantName> variant = ParseVariantName(named)) {
    SHOAL_ASSIGN_OR_RETURN(std::string path, FindCapture(variant->capture, data));
    return ToText({.capture = std::move(path), .seed = variant->seed});
  }
  const std::string shipped = data + "/captures";
  std::vector<std::string> places;
  if (named.find('/') == std::string::npos) {
    places = {shipped + "/" + named + kArchiveEnding, shipped + "/" + named};
  }
  places.push_back(named);
  std::string looked;
  for (const std::string& place : places) {
    if (Exists(place)) return place;
    looked += (looked.empty() ? "" : ", ") + place;
  }
  return runtime::NotFound("no capture \"" + named + "\": looked for " + looked +
                           Suggestion(ArchiveName(named), shipped));
}

}  // namespace shoal::redfish
