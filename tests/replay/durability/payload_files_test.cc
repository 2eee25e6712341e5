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
  // Files that are in memory alone stay there.
  if (direct < 0 || PagesAfterForgetting(name, true) > 0) return;
  ReadAt(*file, 0, kFileBytes);
  REQUIRE(PagesAfterForgetting(name, false) == 0);
  ReadAt(*file, 0, kAlignment);
  REQUIRE(PagesAfterForgetting(name, false) > 0);
}

TEST_CASE("only files of payloads are read past the page cache") {
  const doubles::TemporaryFolder folder;
  const auto env = WithDirectPayloads(rocksdb::Env::Default());
  for (const char* const name : {"000002.sst", "000003.log", "MANIFEST-000004"}) {
    const std::string path = folder.Write(name, Noise(kFileBytes));
    REQUIRE_FALSE(OpenFile(*env, path)->use_direct_io());
  }
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
