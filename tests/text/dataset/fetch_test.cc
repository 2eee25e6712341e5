// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/fetch.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/http/server.h"
#include "platform/http/stream_channel.h"
#include "platform/runtime/mutex.h"
#include "tests/platform/http/development_files.h"
#include "tests/text/dataset/small_dataset.h"
#include "text/dataset/mirror_index.h"

namespace shoal::dataset {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPiece = 500;

// A mirror of one dataset, "small", behind a web server with scripted failures.
class SmallMirror {
 public:
  explicit SmallMirror(http::ServerOptions options = {}) {
    BuildSmall(folder_, "data");
    archive_ = PackIntoMirror(folder_.At("data"), root(), "small", {}).value();
    REQUIRE(archive_.bytes > 4 * kPiece);
    scheme_ = options.certificate_file.empty() ? "http://" : "https://";
    options.max_stream_bytes = 2 * kPiece;
    server_ = http::Server::Create(std::move(options), [this](const http::ServerRequest& request) {
                return Answer(request);
              }).value();
  }

  std::string root() const { return folder_.At("mirror"); }
  const MirrorArchive& archive() const { return archive_; }
  FetchOptions Options(const std::string& destination) const {
    return {.mirror = scheme_ + server_->address(),
            .name = "small",
            .destination = folder_.At(destination),
            .piece_bytes = kPiece};
  }
  std::string PartOf(const std::string& destination) const {
    return folder_.At(destination) + "." + archive_.sha256.substr(0, 16) + ".part";
  }
  // Returns the requested ranges in order.
  std::vector<std::string> ranges() {
    const runtime::MutexLock lock(mutex_);
    return ranges_;
  }
  bool IsWhole(const std::string& destination) const {
    return ContentsOf(folder_.At(destination) + "/chunks.bin") ==
           ContentsOf(folder_.At("data/chunks.bin"));
  }
  const doubles::TemporaryFolder& folder() const { return folder_; }

  // How many ranged answers are complete before the next `cuts` answers are cut midway.
  std::atomic<int> whole_before_cuts = 0;
  std::atomic<int> cuts = 0;
  // How many ranged requests are answered 503.
  std::atomic<int> refusals = 0;
  std::atomic<bool> knows_ranges = true;
  std::atomic<bool> gives_other_range = false;

 private:
  http::ServerResponse Answer(const http::ServerRequest& request) {
    const std::string path = root() + std::string(request.target());
    if (!fs::exists(path)) return {.status = 404};
    std::string bytes = ContentsOf(path);
    const std::string range(request.Header("Range"));
    if (range.empty() || !knows_ranges) {
      return {.body = std::make_shared<const std::string>(std::move(bytes))};
    }
    {
      const runtime::MutexLock lock(mutex_);
      ranges_.push_back(range);
    }
    if (refusals > 0) {
      --refusals;
      return {.status = 503};
    }
    const std::size_t begin = std::stoul(range.substr(range.find('=') + 1));
    const std::size_t last = std::stoul(range.substr(range.find('-') + 1));
    const std::string piece = bytes.substr(begin, last + 1 - begin);
    http::ServerResponse response{.status = 206};
    http::AppendHeader(response.header_lines, "Content-Range",
                       "bytes " + std::to_string(begin + (gives_other_range ? 1 : 0)) + "-" +
                           std::to_string(begin + piece.size() - 1) + "/" +
                           std::to_string(bytes.size()));
    if (whole_before_cuts-- <= 0 && cuts > 0) {
      --cuts;
      // This exceeds the bytes that may wait, so the answer ends there.
      response.stream = [half = piece.substr(0, piece.size() / 2)](http::StreamWriter writer) {
        writer.Write(half);
        writer.Write(std::string(4 * kPiece, 'x'));
      };
    } else {
      response.body = std::make_shared<const std::string>(piece);
    }
    return response;
  }

  const doubles::TemporaryFolder folder_;
  MirrorArchive archive_;
  std::string scheme_;
  runtime::Mutex mutex_;
  std::vector<std::string> ranges_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<http::Server> server_;
};

}  // namespace

TEST_CASE("a dataset is fetched in pieces, and nothing but it is left") {
  SmallMirror mirror;
  std::vector<std::uint64_t> told;
  const auto manifest =
      FetchDataset(mirror.Options("out/"),
                   [&told](const FetchProgress& progress) { told.push_back(progress.bytes); });
  INFO(manifest.status().ToString());
  REQUIRE(manifest.ok());
  REQUIRE(mirror.IsWhole("out"));
  REQUIRE_FALSE(fs::exists(mirror.PartOf("out")));
  REQUIRE(mirror.ranges().size() == (mirror.archive().bytes + kPiece - 1) / kPiece);
  REQUIRE(mirror.ranges()[1] == "bytes=500-999");
  REQUIRE(told.size() == mirror.ranges().size());
  REQUIRE(told.back() == mirror.archive().bytes);
}

TEST_CASE("a connection that is cut midway is made again, and the piece asked for again") {
  SmallMirror mirror;
  mirror.whole_before_cuts = 2;
  mirror.cuts = 2;
  int breaks = 0;
  const auto manifest = FetchDataset(
      mirror.Options("out"), [&](const FetchProgress& progress) { breaks = progress.breaks; });
  INFO(manifest.status().ToString());
  REQUIRE(manifest.ok());
  REQUIRE(mirror.IsWhole("out"));
  REQUIRE(breaks == 2);
  const std::vector<std::string> ranges = mirror.ranges();
  REQUIRE(ranges[2] == "bytes=1000-1499");
  REQUIRE(ranges[3] == ranges[2]);
  REQUIRE(ranges[4] == ranges[2]);
  REQUIRE(ranges[5] == "bytes=1500-1999");
}

TEST_CASE("a fetch that broke is taken up by the next one where it ended") {
  SmallMirror mirror;
  mirror.whole_before_cuts = 2;
  mirror.cuts = 1;
  FetchOptions options = mirror.Options("out");
  options.retries = 0;
  const absl::Status broken = FetchDataset(options, {}).status();
  REQUIRE(absl::IsUnavailable(broken));
  REQUIRE(Says(broken, "after 1000 bytes of " + std::to_string(mirror.archive().bytes)));
  REQUIRE(fs::file_size(mirror.PartOf("out")) == 1000);
  REQUIRE_FALSE(fs::exists(options.destination));
  const std::size_t asked = mirror.ranges().size();
  REQUIRE(FetchDataset(options, {}).ok());
  REQUIRE(mirror.ranges()[asked] == "bytes=1000-1499");
  REQUIRE(mirror.IsWhole("out"));
}

TEST_CASE("a server that is busy is asked again, as often as it may be") {
  SmallMirror mirror;
  mirror.refusals = 2;
  FetchOptions options = mirror.Options("out");
  options.retries = 1;
  const absl::Status busy = FetchDataset(options, {}).status();
  REQUIRE(absl::IsUnavailable(busy));
  REQUIRE(Says(busy, "status 503"));
  mirror.refusals = 1;
  REQUIRE(FetchDataset(options, {}).ok());
}

TEST_CASE("a server that knows no ranges gives all at once") {
  SmallMirror mirror;
  mirror.knows_ranges = false;
  fs::create_directories(mirror.folder().At("sets"));
  mirror.folder().Write(
      fs::path(mirror.PartOf("sets/out")).lexically_relative(mirror.folder().path()),
      "an old part");
  REQUIRE(FetchDataset(mirror.Options("sets/out"), {}).ok());
  REQUIRE(mirror.IsWhole("sets/out"));
}

TEST_CASE("an archive with a wrong digest is thrown away, whole or resumed") {
  SmallMirror mirror;
  std::string bytes = ContentsOf(mirror.root() + "/small.tar.xz");
  bytes[700] = static_cast<char>(bytes[700] ^ 1);
  mirror.folder().Write("mirror/small.tar.xz", bytes);
  const absl::Status wrong = FetchDataset(mirror.Options("out"), {}).status();
  REQUIRE(absl::IsDataLoss(wrong));
  REQUIRE(Says(wrong, "SHA-256"));
  REQUIRE_FALSE(fs::exists(mirror.PartOf("out")));
  REQUIRE_FALSE(fs::exists(mirror.folder().At("out")));
  FetchOptions local = mirror.Options("out");
  local.mirror = mirror.root();
  REQUIRE(absl::IsDataLoss(FetchDataset(local, {}).status()));
}

TEST_CASE("a server that gives another range, or a file of another size, is named") {
  SmallMirror mirror;
  mirror.gives_other_range = true;
  const absl::Status other = FetchDataset(mirror.Options("out"), {}).status();
  REQUIRE(absl::IsDataLoss(other));
  REQUIRE(Says(other, "small.tar.xz at byte 0"));
  mirror.gives_other_range = false;
  mirror.folder().Write("mirror/small.tar.xz", std::string(mirror.archive().bytes + 1, 'x'));
  REQUIRE(absl::IsDataLoss(FetchDataset(mirror.Options("out"), {}).status()));
}

TEST_CASE("a mirror in a folder needs no server") {
  SmallMirror mirror;
  FetchOptions options = mirror.Options("out");
  options.mirror = mirror.root();
  REQUIRE(FetchDataset(options, {}).ok());
  REQUIRE(mirror.IsWhole("out"));
  REQUIRE(mirror.ranges().empty());
  REQUIRE(absl::IsAlreadyExists(FetchDataset(options, {}).status()));
  REQUIRE(absl::IsAlreadyExists(FetchDataset(mirror.Options("out"), {}).status()));
  REQUIRE(mirror.ranges().empty());
}

TEST_CASE("a mirror over TLS is believed when its authority is") {
  const http::DevelopmentFiles files;
  SmallMirror mirror(files.Options());
  FetchOptions options = mirror.Options("out");
  options.authority_file = files.certificate;
  const auto manifest = FetchDataset(options, {});
  INFO(manifest.status().ToString());
  REQUIRE(manifest.ok());
  options = mirror.Options("other");
  REQUIRE(absl::IsFailedPrecondition(FetchDataset(options, {}).status()));
}

TEST_CASE("what is not there is named") {
  SmallMirror mirror;
  FetchOptions options = mirror.Options("out");
  options.name = "large";
  REQUIRE(Says(FetchDataset(options, {}).status(), "there are: small"));
  fs::remove(mirror.root() + "/small.tar.xz");
  const absl::Status missing = FetchDataset(mirror.Options("out"), {}).status();
  REQUIRE(absl::IsNotFound(missing));
  REQUIRE(Says(missing, "small.tar.xz: the server answers with status 404"));
  mirror.folder().Write("mirror/mirror.json", "no index");
  REQUIRE(Says(FetchDataset(mirror.Options("out"), {}).status(), "mirror.json: "));
  options.mirror = "ftp://example.org";
  REQUIRE(absl::IsInvalidArgument(FetchDataset(options, {}).status()));
  options = mirror.Options("out");
  options.piece_bytes = 0;
  REQUIRE(absl::IsInvalidArgument(FetchDataset(options, {}).status()));
}

}  // namespace shoal::dataset
