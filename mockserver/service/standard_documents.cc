// SPDX-License-Identifier: Apache-2.0
#include "mockserver/service/standard_documents.h"

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>

#include "platform/runtime/check.h"
#include "platform/runtime/zstd_frame.h"
#include "redfish/capture/archive.h"

namespace shoal::mockserver {
namespace {

using Entry = StandardDocuments::Entry;

constexpr std::string_view kSchemaFolder = "/redfish/v1/Schemas/";
constexpr std::string_view kRegistries = "/redfish/v1/Registries/";
constexpr int kCompression = 3;

// Splits a name into "ComputerSystem" and "v1_24_0", or "Base" and "1.22.1". The version is empty
// when the name has none.
std::pair<std::string_view, std::string_view> Split(std::string_view versioned) {
  const std::size_t dot = versioned.find('.');
  if (dot == std::string_view::npos) return {versioned, {}};
  return {versioned.substr(0, dot), versioned.substr(dot + 1)};
}

// Returns "v1" for "v1_24_0", and "1" for "1.22.1".
std::string_view Major(std::string_view version) {
  return version.substr(0, version.find_first_of("._"));
}

std::string FileName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Entry EntryFor(const std::string& file, std::string uri) {
  std::string versioned = file.substr(0, file.rfind('.'));
  std::string name(Split(versioned).first);
  return {std::move(name), std::move(versioned), std::move(uri)};
}

// Documents whose names are in lower case describe the schema languages, not resources.
bool IsOfResources(const Entry& entry) {
  return !entry.name.empty() && std::isupper(static_cast<unsigned char>(entry.name[0])) != 0;
}

void Sort(std::vector<Entry>& entries) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.name, a.versioned) < std::tie(b.name, b.versioned);
  });
}

// The versions of a schema are in one file and the list of them in another. The last entry of a
// name is the versioned one.
void KeepLastOfName(std::vector<Entry>& entries) {
  const auto first = std::unique(entries.rbegin(), entries.rend(),
                                 [](const Entry& a, const Entry& b) { return a.name == b.name; });
  entries.erase(entries.begin(), first.base());
}

std::string_view UriOf(const std::vector<Entry>& entries, std::string_view versioned) {
  const auto [name, version] = Split(versioned);
  const auto found = std::lower_bound(
      entries.begin(), entries.end(), name,
      [](const Entry& entry, std::string_view wanted) { return entry.name < wanted; });
  if (found == entries.end() || found->name != name) return {};
  const std::string_view hosted = Split(found->versioned).second;
  const bool fits = version.empty() || Major(version) == Major(hosted);
  return fits ? std::string_view(found->uri) : std::string_view();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const StandardDocuments>> StandardDocuments::Load(
    const StandardDocumentsOptions& options) {
  const auto documents = std::make_shared<StandardDocuments>();
  SHOAL_RETURN_IF_ERROR(documents->AddCsdl(options.csdl));
  SHOAL_RETURN_IF_ERROR(documents->AddJsonSchemas(options.json_schema));
  SHOAL_RETURN_IF_ERROR(documents->AddRegistries(options.registries));
  Sort(documents->schemas_);
  Sort(documents->registries_);
  KeepLastOfName(documents->schemas_);
  return documents;
}

absl::Status StandardDocuments::AddCsdl(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const redfish::Archive archive, redfish::ReadArchive(path, ".xml"));
  for (const redfish::ArchiveFile& file : archive.files) {
    Add(std::string(kSchemaFolder) + FileName(file.path), file.bytes, kXmlType);
  }
  return absl::OkStatus();
}

absl::Status StandardDocuments::AddJsonSchemas(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const redfish::Archive archive, redfish::ReadArchive(path, ".json"));
  for (const redfish::ArchiveFile& file : archive.files) {
    const std::string name = FileName(file.path);
    Entry entry = EntryFor(name, std::string(kSchemaFolder) + name);
    Add(entry.uri, file.bytes, kJsonType);
    if (IsOfResources(entry)) schemas_.push_back(std::move(entry));
  }
  return absl::OkStatus();
}

absl::Status StandardDocuments::AddRegistries(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const redfish::Archive archive, redfish::ReadArchive(path, ".json"));
  for (const redfish::ArchiveFile& file : archive.files) {
    const std::string name = FileName(file.path);
    Entry entry = EntryFor(name, {});
    entry.uri = std::string(kRegistries) + entry.versioned + "/" + name;
    Add(entry.uri, file.bytes, kJsonType);
    registries_.push_back(std::move(entry));
  }
  return absl::OkStatus();
}

void StandardDocuments::Add(std::string uri, const std::string& bytes,
                            std::string_view content_type) {
  auto frame = runtime::PackFrame(bytes, kCompression);
  SHOAL_CHECK(frame.ok());
  Packed packed{.bytes = *std::move(frame), .size = bytes.size(), .content_type = content_type};
  packed_bytes_ += packed.bytes.size();
  documents_.emplace(std::move(uri), std::move(packed));
}

Document StandardDocuments::Find(std::string_view uri) const {
  const auto found = documents_.find(uri);
  if (found == documents_.end()) return {};
  const Packed& packed = found->second;
  auto bytes = runtime::UnpackFrame(packed.bytes, packed.size);
  SHOAL_CHECK(bytes.ok());
  return {std::make_shared<const std::string>(*std::move(bytes)), packed.content_type};
}

std::string_view StandardDocuments::SchemaUri(std::string_view odata_type) const {
  if (odata_type.starts_with('#')) odata_type.remove_prefix(1);
  const std::size_t type = odata_type.rfind('.');
  return type == std::string_view::npos ? std::string_view()
                                        : UriOf(schemas_, odata_type.substr(0, type));
}

std::string_view StandardDocuments::RegistryUri(std::string_view registry) const {
  return UriOf(registries_, registry);
}

}  // namespace shoal::mockserver
