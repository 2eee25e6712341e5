// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>

#include "redfish/capture/variant.h"

namespace shoal::redfish {
namespace {

namespace fs = std::filesystem;

// 1980-01-01, a date that every archive format can represent.
constexpr std::time_t kTime = 315'532'800;

struct CloseArchive {
  void operator()(archive* handle) const { archive_read_free(handle); }
};
struct CloseWriter {
  void operator()(archive* handle) const { archive_write_free(handle); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

std::string_view WithoutDot(std::string_view path) {
  while (path.substr(0, 2) == "./") path.remove_prefix(2);
  return path;
}

absl::Status Corrupt(const std::string& path, archive* handle) {
  const char* reason = archive_error_string(handle);
  return runtime::DataLoss("archive " + path +
                           " is corrupt: " + (reason != nullptr ? reason : "unknown error"));
}

absl::StatusOr<std::string> ReadEntry(const std::string& path, archive* handle,
                                      std::size_t remaining, std::size_t max_bytes) {
  std::string bytes;
  char buffer[65536];
  for (;;) {
    const la_ssize_t count = archive_read_data(handle, buffer, sizeof(buffer));
    if (count < 0) return Corrupt(path, handle);
    if (count == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(count));
    if (bytes.size() > remaining) {
      return runtime::DataLoss("archive " + path + " unpacks to more than " +
                               std::to_string(max_bytes) + " bytes");
    }
  }
}

absl::Status Unpack(const std::string& path, std::string_view suffix, std::size_t max_bytes,
                    Archive& result) {
  const std::unique_ptr<archive, CloseArchive> handle(archive_read_new());
  archive_read_support_filter_all(handle.get());
  archive_read_support_format_tar(handle.get());
  if (archive_read_open_memory(handle.get(), result.bytes.data(), result.bytes.size()) !=
      ARCHIVE_OK) {
    return Corrupt(path, handle.get());
  }
  std::size_t remaining = max_bytes;
  for (;;) {
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(handle.get(), &entry);
    if (status == ARCHIVE_EOF) return absl::OkStatus();
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return Corrupt(path, handle.get());
    const char* name = archive_entry_pathname(entry);
    if (name == nullptr || archive_entry_filetype(entry) != AE_IFREG) continue;
    const std::string_view relative = WithoutDot(name);
    if (!relative.ends_with(suffix)) continue;
    SHOAL_ASSIGN_OR_RETURN(std::string bytes, ReadEntry(path, handle.get(), remaining, max_bytes));
    remaining -= bytes.size();
    result.files.push_back({std::string(relative), std::move(bytes)});
  }
}

absl::StatusOr<Archive> ReadFolder(const std::string& path, std::string_view suffix) {
  Archive result;
  std::error_code error;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    if (!it->is_regular_file(error)) continue;
    const std::string relative = it->path().lexically_relative(path).generic_string();
    if (!relative.ends_with(suffix)) continue;
    SHOAL_ASSIGN_OR_RETURN(std::string bytes, ReadWholeFile(it->path().string()));
    result.files.push_back({relative, std::move(bytes)});
  }
  if (error) return runtime::DataLoss("folder " + path + " is unreadable: " + error.message());
  std::sort(result.files.begin(), result.files.end(),
            [](const ArchiveFile& a, const ArchiveFile& b) { return a.path < b.path; });
  return result;
}

la_ssize_t AppendTo(archive*, void* bytes, const void* data, std::size_t size) {
  static_cast<std::string*>(bytes)->append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

bool WriteEntry(archive* writer, const ArchiveFile& file) {
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  archive_entry_set_pathname_utf8(entry.get(), file.path.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(file.bytes.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), kTime, 0);
  return archive_write_header(writer, entry.get()) == ARCHIVE_OK &&
         archive_write_data(writer, file.bytes.data(), file.bytes.size()) ==
             static_cast<la_ssize_t>(file.bytes.size());
}

}  // namespace

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string ArchiveName(const std::string& path) {
  if (const std::optional<VariantName> variant = ParseVariantName(path)) {
    return ToText({.capture = ArchiveName(variant->capture), .seed = variant->seed});
  }
  std::string name = fs::path(path).lexically_normal().filename().string();
  if (name.empty()) name = fs::path(path).lexically_normal().parent_path().filename();
  for (const std::string_view suffix : {".tar.xz", ".txz", ".tar"}) {
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

absl::StatusOr<std::string> PackArchive(std::vector<ArchiveFile> files,
                                        const PackObserver& observer) {
  std::sort(files.begin(), files.end(),
            [](const ArchiveFile& a, const ArchiveFile& b) { return a.path < b.path; });
  std::string bytes;
  const std::unique_ptr<archive, CloseWriter> writer(archive_write_new());
  archive_write_set_format_pax_restricted(writer.get());
  archive_write_add_filter_xz(writer.get());
  archive_write_set_filter_option(writer.get(), "xz", "compression-level", "9");
  archive_write_set_filter_option(writer.get(), "xz", "threads", "1");
  bool written =
      archive_write_open(writer.get(), &bytes, nullptr, &AppendTo, nullptr) == ARCHIVE_OK;
  std::int64_t packed = 0;
  for (const ArchiveFile& file : files) {
    written = written && WriteEntry(writer.get(), file);
    if (observer) observer(++packed, static_cast<std::int64_t>(files.size()));
  }
  if (written && archive_write_close(writer.get()) == ARCHIVE_OK) return bytes;
  const char* const reason = archive_error_string(writer.get());
  return runtime::Internal(std::string("cannot pack: ") + (reason ? reason : "unknown error"));
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return runtime::NotFound("no file " + path);
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file || file.bad()) return runtime::DataLoss("file " + path + " is unreadable");
  return bytes;
}

absl::StatusOr<Archive> ReadArchive(const std::string& path, std::string_view suffix,
                                    std::size_t max_bytes) {
  std::error_code error;
  if (!fs::exists(path, error)) return runtime::NotFound("nothing at " + path);
  if (fs::is_directory(path, error)) return ReadFolder(path, suffix);
  Archive result;
  SHOAL_ASSIGN_OR_RETURN(result.bytes, ReadWholeFile(path));
  if (result.bytes.empty()) return runtime::DataLoss("archive " + path + " is empty");
  SHOAL_RETURN_IF_ERROR(Unpack(path, suffix, max_bytes, result));
  return result;
}

}  // namespace shoal::redfish
