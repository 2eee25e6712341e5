// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/capture_check.h"

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "platform/content/content_key.h"
#include "platform/content/nesting.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/capture_writer.h"
#include "redfish/capture/dangling_members.h"
#include "redfish/capture/manifest.h"
#include "redfish/capture/variant.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

void CheckBodies(const Archive& tree, CaptureCheck& check) {
  for (const ArchiveFile& file : tree.files) {
    if (content::NestsDeeperThan(file.bytes, content::kMaximumNesting)) {
      check.faults.push_back(file.path + " nests too deep");
    } else if (!Json::parse(file.bytes, nullptr, false).is_object()) {
      check.faults.push_back(file.path + " is no JSON object");
    }
  }
}

// `capture` is the result of Load, or null when Load failed.
void CheckManifest(const Archive& tree, const FoundManifest& found, const Capture* capture,
                   CaptureCheck& check) {
  std::map<std::string_view, const std::string*> files;
  for (const ArchiveFile& file : tree.files) files.emplace(file.path, &file.bytes);
  std::set<std::string, std::less<>> expected;
  for (const auto& [uri, entry] : found.manifest.resources) {
    const std::optional<std::string> name = CaptureFileOf(uri);
    if (entry.sha256.empty() || !name) continue;
    const std::string path = found.folder + *name;
    const auto file = files.find(path);
    if (file == files.end()) {
      check.faults.push_back(path + " is in the manifest and not there");
    } else if (content::Sha256Hex(*file->second) != entry.sha256) {
      check.faults.push_back(path + " has another checksum than the manifest says");
    }
    expected.insert(path);
  }
  for (const auto& [path, bytes] : files) {
    if (!expected.contains(path)) {
      check.faults.push_back(std::string(path) + " is not in the manifest");
    }
  }
  if (capture == nullptr) return;
  // Registries and schemas may have files of their own (see Capture), which the manifest lacks.
  for (const auto& [uri, body] : capture->resources()) {
    const std::optional<std::string> name = CaptureFileOf(uri);
    if (name && !files.contains(found.folder + *name)) {
      check.faults.push_back(uri + " is not in the manifest");
    }
  }
}

}  // namespace

absl::StatusOr<CaptureCheck> CheckCapture(const std::string& path) {
  CaptureCheck check;
  if (const std::optional<VariantName> variant = ParseVariantName(path)) {
    SHOAL_ASSIGN_OR_RETURN(check, CheckCapture(variant->capture));
    if (!check.faults.empty()) return check;
    SHOAL_ASSIGN_OR_RETURN(const auto made, Capture::Load(path));
    check.resources = static_cast<std::int64_t>(made->resources().size());
    check.dangling = DanglingMembers(made->resources());
    return check;
  }
  absl::StatusOr<Archive> read = ReadArchive(path, ".json");
  if (absl::IsDataLoss(read.status())) {
    check.faults.push_back(runtime::Message(read.status()));
    return check;
  }
  SHOAL_RETURN_IF_ERROR(read.status());
  Archive& tree = *read;
  auto found = FindManifest(tree, path);
  const auto capture = Capture::FromArchive(tree, path);
  std::erase_if(tree.files,
                [](const ArchiveFile& file) { return FileName(file.path) != kIndexFile; });
  CheckBodies(tree, check);
  if (!found.ok()) {
    check.faults.push_back(runtime::Message(found.status()));
  } else if (found->has_value()) {
    check.has_manifest = true;
    CheckManifest(tree, **found, capture.ok() ? capture->get() : nullptr, check);
  }
  if (!capture.ok()) {
    if (check.faults.empty()) check.faults.push_back(runtime::Message(capture.status()));
    return check;
  }
  check.resources = static_cast<std::int64_t>((*capture)->resources().size());
  check.error_bodies = (*capture)->error_count();
  check.dangling = DanglingMembers((*capture)->resources());
  return check;
}

}  // namespace shoal::redfish
