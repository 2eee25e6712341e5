// SPDX-License-Identifier: Apache-2.0
#include "replay/durability/payload_files.h"

#include <fcntl.h>
#include <rocksdb/file_system.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal::replay::durability {
namespace {

using rocksdb::FSRandomAccessFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

// A smaller read costs little in any case, and its pages may have neighbours that are read next.
constexpr std::size_t kLargeRead = std::size_t{32} << 10;

// What cachestat(2) takes and gives. The C library has no function for it.
struct FileRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
struct CachedPages {
  std::uint64_t cached = 0;
  std::uint64_t dirty = 0;
  std::uint64_t written = 0;
  std::uint64_t evicted = 0;
  std::uint64_t recently_evicted = 0;
};
constexpr long kCacheStat = 451;

// Returns whether the page cache has all of this part of a file. A kernel that cannot tell has
// nothing.
bool IsCached(int file, std::uint64_t offset, std::size_t bytes) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  FileRange range{.offset = offset, .bytes = bytes};
  CachedPages pages;
  if (::syscall(kCacheStat, file, &range, &pages, 0U) != 0) return false;
  return pages.cached == (offset + bytes - 1) / page - offset / page + 1;
}

// Returns the number of bytes that were read, which is less than asked for at the file's end alone,
// or nothing if that failed.
std::optional<std::size_t> ReadThroughCache(int file, std::uint64_t offset, std::size_t bytes,
                                            char* to) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t read = ::pread(file, to + done, bytes - done, static_cast<off_t>(offset + done));
    if (read < 0) return std::nullopt;
    if (read == 0) break;
    done += static_cast<std::size_t>(read);
  }
  return done;
}

class PayloadFile final : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  // Owns `cached`, the same file.
  PayloadFile(std::unique_ptr<FSRandomAccessFile>&& direct, int cached)
      : FSRandomAccessFileOwnerWrapper(std::move(direct)), cached_(cached) {}
  ~PayloadFile() override { ::close(cached_); }

  IOStatus Read(std::uint64_t offset, std::size_t bytes, const IOOptions& options,
                rocksdb::Slice* result, char* scratch, IODebugContext* debug) const override {
    const bool cached_first = bytes < kLargeRead || IsCached(cached_, offset, bytes);
    if (cached_first && ReadCached(offset, bytes, result, scratch)) return IOStatus::OK();
    // This one tells why something fails.
    IOStatus status =
        FSRandomAccessFileOwnerWrapper::Read(offset, bytes, options, result, scratch, debug);
    if (status.ok() || cached_first) return status;
    return ReadCached(offset, bytes, result, scratch) ? IOStatus::OK() : status;
  }
  IOStatus MultiRead(rocksdb::FSReadRequest* requests, std::size_t count, const IOOptions& options,
                     IODebugContext* debug) override {
    for (std::size_t i = 0; i < count; ++i) {
      rocksdb::FSReadRequest& request = requests[i];
      request.status =
          Read(request.offset, request.len, options, &request.result, request.scratch, debug);
    }
    return IOStatus::OK();
  }

 private:
  bool ReadCached(std::uint64_t offset, std::size_t bytes, rocksdb::Slice* result,
                  char* scratch) const {
    const auto read = ReadThroughCache(cached_, offset, bytes, scratch);
    if (read) *result = rocksdb::Slice(scratch, *read);
    return read.has_value();
  }

  const int cached_;
};

class DirectPayloads final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "DirectPayloads"; }

  IOStatus NewRandomAccessFile(const std::string& name, const rocksdb::FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file,
                               IODebugContext* debug) override {
    file->reset();
    if (std::string_view(name).ends_with(".blob")) *file = OpenTwice(name, options, debug);
    if (*file != nullptr) return IOStatus::OK();
    return FileSystemWrapper::NewRandomAccessFile(name, options, file, debug);
  }
  // FileSystemWrapper does not pass these two on.
  rocksdb::Status RegisterDbPaths(const std::vector<std::string>& paths) override {
    return target()->RegisterDbPaths(paths);
  }
  rocksdb::Status UnregisterDbPaths(const std::vector<std::string>& paths) override {
    return target()->UnregisterDbPaths(paths);
  }

 private:
  // Returns null if the file cannot be read past the page cache.
  std::unique_ptr<FSRandomAccessFile> OpenTwice(const std::string& name,
                                                rocksdb::FileOptions options,
                                                IODebugContext* debug) {
    options.use_direct_reads = true;
    std::unique_ptr<FSRandomAccessFile> direct;
    if (!FileSystemWrapper::NewRandomAccessFile(name, options, &direct, debug).ok()) return nullptr;
    const int cached = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (cached < 0) return nullptr;
    // As RocksDB does with files that it reads through the page cache.
    ::posix_fadvise(cached, 0, 0, POSIX_FADV_RANDOM);
    return std::make_unique<PayloadFile>(std::move(direct), cached);
  }
};

}  // namespace

std::unique_ptr<rocksdb::Env> WithDirectPayloads(rocksdb::Env* env) {
  return rocksdb::NewCompositeEnv(std::make_shared<DirectPayloads>(env->GetFileSystem()));
}

}  // namespace shoal::replay::durability
