// SPDX-License-Identifier: Apache-2.0
// Reads a mirror over HTTP on one connection, which is made again when it breaks.
//
// Not thread-safe. Blocks. Errors name the URL; they are those of http::ClientConnection, and by
// status: NOT_FOUND for 404, UNAVAILABLE for 429 and 5xx, FAILED_PRECONDITION for any other.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "platform/http/client_connection.h"
#include "platform/http/message.h"
#include "platform/http/url.h"
#include "platform/runtime/status.h"

namespace shoal::dataset {

class MirrorClient {
 public:
  struct Options {
    // The target is a folder and ends with '/'.
    http::Url url = {};
    // Null: no TLS.
    std::shared_ptr<boost::asio::ssl::context> tls = {};
    // The deadline of one request.
    std::chrono::milliseconds deadline{60'000};
    // The largest body; a larger one is RESOURCE_EXHAUSTED.
    std::int64_t max_body_bytes = 0;
  };

  // Bytes of a file.
  struct Piece {
    std::string bytes = {};
    // Where they stand. 0 where the server gave the whole file instead.
    std::uint64_t offset = 0;
  };

  explicit MirrorClient(const Options& options);

  absl::StatusOr<std::string> Read(const std::string& file);
  // From `begin` to before `end`, or to any byte between. DATA_LOSS where the server says that the
  // file has another size than `size`, or gives other bytes than those. REQUIRES: begin < end <=
  // size.
  absl::StatusOr<Piece> ReadPiece(const std::string& file, std::uint64_t begin, std::uint64_t end,
                                  std::uint64_t size);

 private:
  absl::StatusOr<http::ClientResponse> Ask(const std::string& file, http::Headers headers);

  const Options options_;
  boost::asio::io_context context_;
  http::ClientConnection connection_;
};

}  // namespace shoal::dataset
