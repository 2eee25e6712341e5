// SPDX-License-Identifier: Apache-2.0
// Reads a mirror over HTTP on one connection, which is reopened when it breaks.
//
// Not thread-safe. Blocks. Errors name the URL. They are those of http::ClientConnection, and by
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
    // The URL of a folder; its target ends with '/'.
    http::Url url = {};
    // Null for no TLS.
    std::shared_ptr<boost::asio::ssl::context> tls = {};
    // The deadline of one request.
    std::chrono::milliseconds deadline{60'000};
    // The largest body; a larger one is RESOURCE_EXHAUSTED.
    std::int64_t max_body_bytes = 0;
  };

  // A range of a file's bytes.
  struct Piece {
    std::string bytes = {};
    // The offset of the bytes in the file; 0 where the server sent the whole file instead.
    std::uint64_t offset = 0;
  };

  explicit MirrorClient(const Options& options);

  absl::StatusOr<std::string> Read(const std::string& file);
  // Reads [begin, end), or a shorter range that begins at `begin`. Returns DATA_LOSS when the
  // server reports a file size other than `size`, or sends other bytes. REQUIRES: begin < end <=
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
