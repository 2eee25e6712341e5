// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/capture_import.h"

#include <absl/strings/match.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "platform/content/parse_json.h"
#include "redfish/capture/archive.h"
#include "redfish/capture/capture_writer.h"
#include "redfish/capture/uri.h"
#include "redfish/capture/variant.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kHeadersFile = "headers.json";

absl::StatusOr<std::string> FlatUri(const ArchiveFile& file, const Json& body,
                                    const FileMap* files) {
  std::string uri;
  if (files != nullptr) {
    const auto found = files->find(file.path);
    if (found != files->end()) uri = CanonicalUri(found->second);
  } else {
    uri = LinkTarget(body);
  }
  if (!uri.empty()) return uri;
  return runtime::DataLoss(
      file.path + (files != nullptr ? " is not in the map" : " has no \"@odata.id\"; give a map"));
}

absl::StatusOr<std::shared_ptr<const Capture>> ImportFlat(const std::string& path,
                                                          const Archive& tree,
                                                          const FileMap* files) {
  Capture::Resources resources;
  for (const ArchiveFile& file : tree.files) {
    if (FileName(file.path) == kManifestFile) continue;
    Json body = content::ParseJson(file.bytes);
    if (!body.is_object()) return runtime::DataLoss(file.path + " is no JSON object");
    SHOAL_ASSIGN_OR_RETURN(std::string uri, FlatUri(file, body, files));
    const auto [at, is_new] = resources.emplace(std::move(uri), std::move(body));
    if (!is_new) return runtime::DataLoss(file.path + ": another file is " + at->first + " too");
  }
  return Capture::FromResources(ArchiveName(path), std::move(resources));
}

// DMTF's mockup creator writes {"GET": {"Allow": "GET, PATCH", ...}} beside an index.json.
void AddHeaders(const Archive& tree, Manifest& manifest) {
  for (const ArchiveFile& file : tree.files) {
    const std::string_view path = file.path;
    if (FileName(path) != kHeadersFile) continue;
    const std::size_t root = path.find("redfish/v1/");
    const std::string_view below = root == std::string_view::npos ? path : path.substr(root + 11);
    const std::string uri =
        CanonicalUri(std::string(kServiceRoot) + "/" +
                     std::string(below.substr(0, below.size() - kHeadersFile.size())));
    const Json json = content::ParseJson(file.bytes);
    const Json* const headers = json.is_object() ? Resolve(json, "/GET") : nullptr;
    const auto entry = manifest.resources.find(uri);
    if (headers == nullptr || !headers->is_object() || entry == manifest.resources.end()) continue;
    for (const auto& [name, value] : headers->items()) {
      if (!value.is_string()) continue;
      const auto& text = value.get_ref<const std::string&>();
      entry->second.headers.emplace(name, text);
      if (absl::EqualsIgnoreCase(name, "Allow")) entry->second.methods = MethodsIn(text);
    }
  }
}

// A variant has none of the records of the service that its capture was made from.
absl::StatusOr<ImportedCapture> ImportVariant(const std::string& path) {
  ImportedCapture imported;
  SHOAL_ASSIGN_OR_RETURN(imported.capture, Capture::Load(path));
  imported.manifest.source = imported.capture->name();
  for (const auto& [uri, body] : imported.capture->resources()) {
    imported.manifest.resources.try_emplace(uri, ManifestEntry{.status = 200});
  }
  return imported;
}

}  // namespace

absl::StatusOr<FileMap> LoadFileMap(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  const Json json = content::ParseJson(text);
  if (!json.is_object()) return runtime::DataLoss("map " + path + " is no JSON object");
  FileMap files;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) {
      return runtime::DataLoss("map " + path + ": \"" + key + "\" is no text");
    }
    const std::string other = value.get<std::string>();
    const bool key_is_uri = key.starts_with(kServiceRoot);
    files.emplace(key_is_uri ? other : key, key_is_uri ? key : other);
  }
  return files;
}

absl::StatusOr<ImportedCapture> ImportCapture(const std::string& path, const FileMap* files) {
  if (ParseVariantName(path)) return ImportVariant(path);
  SHOAL_ASSIGN_OR_RETURN(const Archive tree, ReadArchive(path, ".json"));
  const bool is_tree = files == nullptr && std::any_of(tree.files.begin(), tree.files.end(),
                                                       [](const ArchiveFile& file) {
                                                         return FileName(file.path) == kIndexFile;
                                                       });
  ImportedCapture imported;
  if (is_tree) {
    SHOAL_ASSIGN_OR_RETURN(imported.capture, Capture::FromArchive(tree, path));
    SHOAL_ASSIGN_OR_RETURN(auto found, FindManifest(tree, path));
    if (found) imported.manifest = std::move(found->manifest);
  } else {
    SHOAL_ASSIGN_OR_RETURN(imported.capture, ImportFlat(path, tree, files));
  }
  Manifest& manifest = imported.manifest;
  if (manifest.source.empty()) manifest.source = imported.capture->name();
  for (auto& [uri, entry] : manifest.resources) entry.sha256.clear();
  for (const auto& [uri, body] : imported.capture->resources()) {
    manifest.resources.try_emplace(uri, ManifestEntry{.status = 200});
  }
  AddHeaders(tree, manifest);
  for (auto& [uri, entry] : manifest.resources) {
    std::erase_if(entry.headers,
                  [](const auto& header) { return IsCredentialHeader(header.first); });
  }
  return imported;
}

absl::Status WriteCapture(const ImportedCapture& imported, const std::string& folder,
                          const std::optional<RedactionOptions>& redaction,
                          const CopyObserver& observer) {
  SHOAL_ASSIGN_OR_RETURN(const auto writer, CaptureWriter::Create(folder));
  const Capture::Resources& resources = imported.capture->resources();
  Manifest manifest = imported.manifest;
  std::int64_t written = 0;
  for (const auto& [uri, body] : resources) {
    Json copy = body;
    if (redaction) manifest.redacted += Redact(copy, *redaction);
    SHOAL_RETURN_IF_ERROR(writer->Add(uri, copy));
    if (observer) observer(++written, static_cast<std::int64_t>(resources.size()));
  }
  return writer->Commit(std::move(manifest));
}

}  // namespace shoal::redfish
