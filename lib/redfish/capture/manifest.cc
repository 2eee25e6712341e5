// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "platform/content/parse_json.h"
#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "shoal-capture/1";

std::map<std::string, std::string> TextsAt(const Json& json, const char* name) {
  std::map<std::string, std::string> texts;
  const auto found = json.find(name);
  if (found == json.end() || !found->is_object()) return texts;
  for (const auto& [key, value] : found->items()) {
    if (value.is_string()) texts.emplace(key, value.get<std::string>());
  }
  return texts;
}

}  // namespace

Json ManifestEntry::ToJson() const {
  Json json = {{"status", status}, {"methods", methods}, {"ms", milliseconds}};
  if (!headers.empty()) json["headers"] = headers;
  if (!sha256.empty()) json["sha256"] = sha256;
  if (!note.empty()) json["note"] = note;
  return json;
}

ManifestEntry ManifestEntry::From(const Json& json) {
  ManifestEntry entry;
  entry.status = static_cast<int>(IntegerAt(json, "status"));
  if (const auto methods = json.find("methods"); methods != json.end() && methods->is_array()) {
    for (const Json& method : *methods) {
      if (method.is_string()) entry.methods.push_back(method.get<std::string>());
    }
  }
  entry.headers = TextsAt(json, "headers");
  if (const auto ms = json.find("ms"); ms != json.end() && ms->is_number()) {
    entry.milliseconds = ms->get<double>();
  }
  entry.sha256 = TextAt(json, "sha256");
  entry.note = TextAt(json, "note");
  return entry;
}

std::string Manifest::ToJson() const {
  Json entries = Json::object();
  for (const auto& [uri, entry] : resources) entries[uri] = entry.ToJson();
  Json json = {{"format", kFormat},     {"source", source},   {"finished", finished},
               {"redacted", redacted},  {"skipped", skipped}, {"resources", std::move(entries)},
               {"failed", Json(failed)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<Manifest> Manifest::Parse(std::string_view text) {
  const Json json = content::ParseJson(text);
  if (!json.is_object()) return runtime::DataLoss("the manifest is no JSON object");
  if (TextAt(json, "format") != kFormat) {
    return runtime::DataLoss(std::string("the manifest's format is not \"") + kFormat + "\"");
  }
  const auto resources = json.find("resources");
  if (resources == json.end() || !resources->is_object()) {
    return runtime::DataLoss("the manifest has no \"resources\"");
  }
  Manifest manifest{.source = TextAt(json, "source"),
                    .finished = TextAt(json, "finished"),
                    .redacted = IntegerAt(json, "redacted"),
                    .skipped = IntegerAt(json, "skipped")};
  for (const auto& [uri, entry] : resources->items()) {
    if (!entry.is_object()) return runtime::DataLoss("the manifest's \"" + uri + "\" is no object");
    manifest.resources.emplace(uri, ManifestEntry::From(entry));
  }
  for (auto& [uri, reason] : TextsAt(json, "failed")) manifest.failed.emplace(uri, reason);
  return manifest;
}

std::vector<std::string> MethodsIn(std::string_view allow) {
  std::vector<std::string> methods;
  std::string method;
  for (const char c : allow) {
    if (c >= 'A' && c <= 'Z') {
      method += c;
    } else if (!method.empty()) {
      methods.push_back(std::exchange(method, {}));
    }
  }
  if (!method.empty()) methods.push_back(std::move(method));
  std::sort(methods.begin(), methods.end());
  return methods;
}

absl::StatusOr<std::optional<FoundManifest>> FindManifest(const Archive& tree,
                                                          const std::string& source) {
  const ArchiveFile* uppermost = nullptr;
  for (const ArchiveFile& file : tree.files) {
    if (FileName(file.path) != kManifestFile) continue;
    if (uppermost == nullptr || file.path.size() < uppermost->path.size()) uppermost = &file;
  }
  if (uppermost == nullptr) return std::optional<FoundManifest>();
  auto manifest = Manifest::Parse(uppermost->bytes);
  if (!manifest.ok()) return runtime::Annotate(manifest.status(), source + ": " + uppermost->path);
  return std::optional<FoundManifest>(
      {*std::move(manifest),
       uppermost->path.substr(0, uppermost->path.size() - kManifestFile.size())});
}

}  // namespace shoal::redfish
