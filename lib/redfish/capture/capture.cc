// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/capture.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "platform/content/canonical_json.h"
#include "platform/content/content_key.h"
#include "platform/content/parse_json.h"
#include "redfish/capture/dangling_members.h"
#include "redfish/capture/paged_collection.h"
#include "redfish/capture/uri.h"
#include "redfish/capture/variant.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMarker = "redfish/v1/";

// Returns the locations within the service of the files that resources describe (DSP2046,
// "MessageRegistryFile" and "JsonSchemaFile": Location).
std::set<std::string> NamedFiles(const Capture::Resources& resources) {
  std::set<std::string> named;
  for (const auto& [uri, body] : resources) {
    const auto places = body.find("Location");
    if (places == body.end() || !places->is_array()) continue;
    for (const Json& place : *places) {
      std::string file = CanonicalUri(TextAt(place, "Uri"));
      if (file.starts_with(kServiceRoot)) named.insert(std::move(file));
    }
  }
  return named;
}

// Returns the folder prefix of the service root: that of the shortest path that ends in
// "redfish/v1/index.json", or else of the shortest index.json.
std::optional<std::string> RootPrefix(const std::vector<ArchiveFile>& files) {
  std::optional<std::string> marked;
  std::optional<std::string> plain;
  for (const ArchiveFile& file : files) {
    const std::string_view path = file.path;
    if (path != kIndexFile && !path.ends_with("/index.json")) continue;
    const std::string folder(path.substr(0, path.size() - kIndexFile.size()));
    const bool at_marker = folder == kMarker || folder.ends_with("/redfish/v1/");
    std::optional<std::string>& best = at_marker ? marked : plain;
    if (!best || folder.size() < best->size()) best = folder;
  }
  return marked ? marked : plain;
}

absl::StatusOr<Json> ObjectOf(const std::string& source, const ArchiveFile& file) {
  Json body = content::ParseJson(file.bytes);
  if (body.is_object()) return body;
  return runtime::DataLoss("capture " + source + ": " + file.path + " is no JSON object");
}

// Adds the registries and schemas whose files lie beside the tree of `index.json`, where a resource
// names them.
absl::Status AddNamedFiles(const std::string& source, const Archive& tree,
                           const std::string& prefix, Capture::Resources& resources) {
  const std::set<std::string> named = NamedFiles(resources);
  for (const ArchiveFile& file : tree.files) {
    const std::string_view path = file.path;
    if (!path.starts_with(prefix) || FileName(file.path) == kIndexFile) continue;
    const std::string uri =
        CanonicalUri(std::string(kServiceRoot) + "/" + std::string(path.substr(prefix.size())));
    if (!named.contains(uri) || resources.contains(uri)) continue;
    SHOAL_ASSIGN_OR_RETURN(Json body, ObjectOf(source, file));
    resources.emplace(uri, std::move(body));
  }
  return absl::OkStatus();
}

absl::StatusOr<Capture::Resources> ParseResources(const std::string& source, const Archive& tree) {
  const std::optional<std::string> prefix = RootPrefix(tree.files);
  if (!prefix) return runtime::DataLoss("capture " + source + " has no index.json");
  Capture::Resources resources;
  // The pages by PageKey; a page's folder has a name such as "Sensors?$skip=50".
  Capture::Resources pages;
  for (const ArchiveFile& file : tree.files) {
    const std::string_view path = file.path;
    if (!path.starts_with(*prefix)) continue;
    const std::string_view below = path.substr(prefix->size());
    if (below != kIndexFile && !below.ends_with("/index.json")) continue;
    SHOAL_ASSIGN_OR_RETURN(Json body, ObjectOf(source, file));
    const std::string_view folder = below.substr(0, below.size() - kIndexFile.size());
    const std::string uri = std::string(kServiceRoot) + "/" + std::string(folder);
    if (uri.find('?') != std::string::npos) {
      pages.emplace(PageKey(uri.substr(0, uri.size() - 1)), std::move(body));
    } else {
      resources.emplace(CanonicalUri(uri), std::move(body));
    }
  }
  SHOAL_RETURN_IF_ERROR(AddNamedFiles(source, tree, *prefix, resources));
  if (pages.empty()) return resources;
  for (auto& [uri, body] : resources) {
    AppendPages(body, [&](std::string_view page) -> const Json* {
      const auto found = pages.find(PageKey(page));
      return found == pages.end() ? nullptr : &found->second;
    });
  }
  return resources;
}

std::string DigestOf(const Capture::Resources& resources) {
  std::string all;
  for (const auto& [uri, body] : resources) {
    all += uri;
    all += '\n';
    all += content::CanonicalJson(body);
    all += '\n';
  }
  return content::Sha256Hex(all);
}

bool IsErrorBody(const Json& body) {
  const auto error = body.find("error");
  return error != body.end() && error->is_object() && !body.contains("@odata.id");
}

}  // namespace

Capture::Capture(std::string name, Resources resources)
    : name_(std::move(name)), resources_(std::move(resources)) {
  DropErrors();
  service_root_ = Find(kServiceRoot);
  CountDangling();
  ListTypes();
}

void Capture::DropErrors() {
  error_count_ = static_cast<std::int64_t>(
      std::erase_if(resources_, [](const auto& entry) { return IsErrorBody(entry.second); }));
}

void Capture::CountDangling() {
  dangling_count_ = static_cast<std::int64_t>(DanglingMembers(resources_).size());
}

void Capture::ListTypes() {
  for (const auto& [uri, resource] : resources_) {
    std::string type = TextAt(resource, "@odata.type");
    std::string name = type.substr(0, type.find('.'));
    types_.try_emplace(std::move(name), std::move(type));
  }
}

std::string_view Capture::TypeOfFirst(std::string_view type) const {
  const auto found = types_.find(type);
  return found == types_.end() ? std::string_view() : found->second;
}

const Json* Capture::Find(std::string_view uri) const {
  const auto found = resources_.find(uri);
  return found == resources_.end() ? nullptr : &found->second;
}

absl::StatusOr<std::shared_ptr<const Capture>> Capture::Load(const std::string& path) {
  if (const std::optional<VariantName> variant = ParseVariantName(path)) {
    SHOAL_ASSIGN_OR_RETURN(const auto original, Load(variant->capture));
    return MakeVariant(*original, variant->seed);
  }
  SHOAL_ASSIGN_OR_RETURN(const Archive tree, ReadArchive(path, ".json"));
  return FromArchive(tree, path);
}

absl::StatusOr<std::shared_ptr<const Capture>> Capture::FromArchive(const Archive& tree,
                                                                    const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(Resources resources, ParseResources(path, tree));
  const std::shared_ptr<Capture> capture(new Capture(ArchiveName(path), std::move(resources)));
  if (capture->service_root_ == nullptr) {
    return runtime::DataLoss("capture " + path + " has no service root");
  }
  capture->digest_ =
      tree.bytes.empty() ? DigestOf(capture->resources_) : content::Sha256Hex(tree.bytes);
  return capture;
}

absl::StatusOr<std::shared_ptr<const Capture>> Capture::FromResources(std::string name,
                                                                      Resources resources) {
  Resources canonical;
  for (auto& [uri, body] : resources) {
    if (!body.is_object()) {
      return runtime::DataLoss("capture " + name + ": " + uri + " is no JSON object");
    }
    canonical.emplace(CanonicalUri(uri), std::move(body));
  }
  const std::shared_ptr<Capture> capture(new Capture(std::move(name), std::move(canonical)));
  if (capture->service_root_ == nullptr) {
    return runtime::DataLoss("capture " + capture->name_ + " has no service root");
  }
  capture->digest_ = DigestOf(capture->resources_);
  return capture;
}

}  // namespace shoal::redfish
