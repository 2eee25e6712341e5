// SPDX-License-Identifier: Apache-2.0
#include "replay/durability/payload_files.h"

#include <fcntl.h>
#include <rocksdb/file_system.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/runtime/random.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::replay::durability {
namespace {

constexpr std::size_t kFileBytes = std::size_t{1} << 20;
constexpr std::size_t kAlignment = 4096;

std::string Noise(std::size_t size) {
  runtime::Random random(1);
  std::string noise(size, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  return noise;
}

std::unique_ptr<rocksdb::FSRandomAccessFile> OpenFile(rocksdb::Env& env, const std::string& name) {
  std::unique_ptr<rocksdb::FSRandomAccessFile> file;
  REQUIRE(env.GetFileSystem()->NewRandomAccessFile(name, {}, &file, nullptr).ok());
  return file;
}

// Memory that can be read into past the page cache.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t size)
      : bytes_(static_cast<char*>(std::aligned_alloc(kAlignment, size))) {}
  ~AlignedBytes() { std::free(bytes_); }
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;
  char* get() const { return bytes_; }

 private:
  char* const bytes_;
};

// Returns what the file has there.
std::string ReadAt(const rocksdb::FSRandomAccessFile& file, std::uint64_t offset,
                   std::size_t size) {
  const AlignedBytes scratch(size);
  rocksdb::Slice result;
  REQUIRE(file.Read(offset, size, {}, &result, scratch.get(), nullptr).ok());
  return result.ToString();
}

// Removes the file's pages from the page cache, and returns how many of them are still there.
std::size_t PagesAfterForgetting(const std::string& name, bool forget) {
  const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(file >= 0);
  if (forget) {
    ::fsync(file);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  }
  void* const mapped = ::mmap(nullptr, kFileBytes, PROT_READ, MAP_SHARED, file, 0);
  REQUIRE(mapped != MAP_FAILED);
  std::vector<unsigned char> pages(kFileBytes / static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  REQUIRE(::mincore(mapped, kFileBytes, pages.data()) == 0);
  ::munmap(mapped, kFileBytes);
  ::close(file);
  return static_cast<std::size_t>(
      std::ranges::count_if(pages, [](unsigned char page) { return (page & 1) != 0; }));
}

TEST_CASE("payloads are read whole whether or not the page cache has them") {
  const doubles::TemporaryFolder folder;
  const std::string noise = Noise(kFileBytes);
  const std::string name = folder.Write("000001.blob", noise);
  const auto env = WithDirectPayloads(rocksdb::Env::Default());
  const auto file = OpenFile(*env, name);
  const auto read_all = [&] {
    for (const std::size_t size : {std::size_t{4096}, std::size_t{65536}, std::size_t{126976}}) {
      for (std::size_t at = 0; at < kFileBytes; at += size) {
        REQUIRE(ReadAt(*file, at, size) == noise.substr(at, size));
      }
    }
  };
  read_all();
  PagesAfterForgetting(name, true);
  read_all();
}

TEST_CASE("several payloads that are read at once are the same, also behind the file's end") {
  const doubles::TemporaryFolder folder;
  const std::string noise = Noise(kFileBytes - 1000);
  const std::string name = folder.Write("000001.blob", noise);
  const auto env = WithDirectPayloads(rocksdb::Env::Default());
  const auto file = OpenFile(*env, name);
  constexpr std::size_t kSize = 131072;
  const AlignedBytes scratch(2 * kSize);
  std::vector<rocksdb::FSReadRequest> requests(2);
  for (std::size_t i = 0; i < 2; ++i) {
    requests[i].offset = kFileBytes - (2 - i) * kSize;
    requests[i].len = kSize;
    requests[i].scratch = scratch.get() + i * kSize;
  }
  REQUIRE(file->MultiRead(requests.data(), 2, {}, nullptr).ok());
  for (std::size_t i = 0; i < 2; ++i) {
    REQUIRE(requests[i].status.ok());
    REQUIRE(requests[i].result.ToString() == noise.substr(requests[i].offset, kSize));
  }
}

TEST_CASE("what a large read takes from the disk does not come into the page cache") {
  const doubles::TemporaryFolder folder;
  const std::string name = folder.Write("000001.blob", Noise(kFileBytes));
  const auto env = WithDirectPayloads(rocksdb::Env::Default());
  const auto file = OpenFile(*env, name);
  const int direct = ::open(name.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  REQUIRE(file->use_direct_io() == (direct >= 0));
  if (direct >= 0) ::close(direct);
  if (direct < 0 || PagesAfterForgetting(name, true) > 0) {
    WARN("the folder's file system has no reads past the page cache, or is in memory");
    return;
  }
  ReadAt(*file, 0, kFileBytes);
  REQUIRE(PagesAfterForgetting(name, false) == 0);
}

TEST_CASE("a small read brings its own page into the page cache, and no other") {
  const doubles::TemporaryFolder folder;
  const std::string name = folder.Write("000001.blob", Noise(kFileBytes));
  const auto env = WithDirectPayloads(rocksdb::Env::Default());
  const auto file = OpenFile(*env, name);
  if (!file->use_direct_io() || PagesAfterForgetting(name, true) > 0) {
    WARN("the folder's file system has no reads past the page cache, or is in memory");
    return;
  }
  ReadAt(*file, 0, kAlignment);
  REQUIRE(PagesAfterForgetting(name, false) == 1);
}

TEST_CASE("only files of payloads are read past the page cache") {
  const doubles::TemporaryFolder folder;
  const auto env = WithDirectPayloads(rocksdb::Env::Default());
  for (const char* const name : {"000002.sst", "000003.log", "MANIFEST-000004"}) {
    const std::string path = folder.Write(name, Noise(kFileBytes));
    REQUIRE_FALSE(OpenFile(*env, path)->use_direct_io());
  }
}

// Remembers which paths are in use.
class PathsInUse final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "PathsInUse"; }
  rocksdb::Status RegisterDbPaths(const std::vector<std::string>& added) override {
    paths.insert(paths.end(), added.begin(), added.end());
    return rocksdb::Status::OK();
  }
  rocksdb::Status UnregisterDbPaths(const std::vector<std::string>& removed) override {
    for (const std::string& path : removed) std::erase(paths, path);
    return rocksdb::Status::OK();
  }

  std::vector<std::string> paths;
};

TEST_CASE("a file system is told which paths a database uses, and which no more") {
  const auto used = std::make_shared<PathsInUse>(rocksdb::Env::Default()->GetFileSystem());
  const auto used_env = rocksdb::NewCompositeEnv(used);
  const auto env = WithDirectPayloads(used_env.get());
  REQUIRE(env->GetFileSystem()->RegisterDbPaths({"a", "b"}).ok());
  REQUIRE(used->paths == std::vector<std::string>{"a", "b"});
  REQUIRE(env->GetFileSystem()->UnregisterDbPaths({"a"}).ok());
  REQUIRE(used->paths == std::vector<std::string>{"b"});
}

// Knows no reads past its page cache.
class PlainFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "PlainFileSystem"; }
  rocksdb::IOStatus NewRandomAccessFile(const std::string& name,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext* debug) override {
    if (options.use_direct_reads) return rocksdb::IOStatus::InvalidArgument("no O_DIRECT here");
    return FileSystemWrapper::NewRandomAccessFile(name, options, file, debug);
  }
};

TEST_CASE("where a file system knows no reads past its page cache, payloads are read through it") {
  const doubles::TemporaryFolder folder;
  const std::string noise = Noise(kFileBytes);
  const std::string name = folder.Write("000001.blob", noise);
  const auto plain = rocksdb::NewCompositeEnv(
      std::make_shared<PlainFileSystem>(rocksdb::Env::Default()->GetFileSystem()));
  const auto env = WithDirectPayloads(plain.get());
  const auto file = OpenFile(*env, name);
  REQUIRE_FALSE(file->use_direct_io());
  REQUIRE(ReadAt(*file, 0, kFileBytes) == noise);
}

// Opens files to be read past its page cache, and refuses to read them so.
class RefusingFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "RefusingFileSystem"; }
  rocksdb::IOStatus NewRandomAccessFile(const std::string& name,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext* debug) override {
    rocksdb::FileOptions plain = options;
    plain.use_direct_reads = false;
    std::unique_ptr<rocksdb::FSRandomAccessFile> opened;
    rocksdb::IOStatus status = FileSystemWrapper::NewRandomAccessFile(name, plain, &opened, debug);
    if (status.ok()) *file = std::make_unique<File>(std::move(opened), refused);
    return status;
  }

  // The number of reads that were refused.
  int refused = 0;

 private:
  class File final : public rocksdb::FSRandomAccessFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSRandomAccessFile>&& file, int& refused)
        : FSRandomAccessFileOwnerWrapper(std::move(file)), refused_(refused) {}
    rocksdb::IOStatus Read(std::uint64_t, std::size_t, const rocksdb::IOOptions&, rocksdb::Slice*,
                           char*, rocksdb::IODebugContext*) const override {
      ++refused_;
      return rocksdb::IOStatus::InvalidArgument("no O_DIRECT here");
    }

   private:
    int& refused_;
  };
};

TEST_CASE("a large read that is refused past the page cache goes through it") {
  const doubles::TemporaryFolder folder;
  const std::string noise = Noise(kFileBytes);
  const std::string name = folder.Write("000001.blob", noise);
  const auto refusing =
      std::make_shared<RefusingFileSystem>(rocksdb::Env::Default()->GetFileSystem());
  const auto refusing_env = rocksdb::NewCompositeEnv(refusing);
  const auto env = WithDirectPayloads(refusing_env.get());
  const auto file = OpenFile(*env, name);
  if (PagesAfterForgetting(name, true) > 0) WARN("the folder is in memory, so nothing is refused");
  REQUIRE(ReadAt(*file, 0, kFileBytes) == noise);
  REQUIRE((refusing->refused == 1 || PagesAfterForgetting(name, true) > 0));
}

TEST_CASE("a file of payloads that is not there is told") {
  const doubles::TemporaryFolder folder;
  const auto env = WithDirectPayloads(rocksdb::Env::Default());
  std::unique_ptr<rocksdb::FSRandomAccessFile> file;
  REQUIRE(env->GetFileSystem()
              ->NewRandomAccessFile(folder.At("000001.blob"), {}, &file, nullptr)
              .IsPathNotFound());
  REQUIRE(file == nullptr);
}

}  // namespace
}  // namespace shoal::replay::durability
