// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/mirror_client.h"

#include <utility>

namespace shoal::dataset {
namespace {

constexpr std::chrono::seconds kConnectDeadline{10};

http::ClientOptions ConnectionOptions(const MirrorClient::Options& options) {
  return {.address = http::Format(options.url.address),
          .connect_deadline = kConnectDeadline,
          .request_deadline = options.deadline,
          .max_body_bytes = options.max_body_bytes,
          .tls = options.tls};
}

std::string RangeText(std::uint64_t begin, std::uint64_t end) {
  return std::to_string(begin) + "-" + std::to_string(end - 1);
}

}  // namespace

MirrorClient::MirrorClient(const Options& options)
    : options_(options),
      context_(1),
      connection_(context_.get_executor(), ConnectionOptions(options)) {}

absl::StatusOr<http::ClientResponse> MirrorClient::Ask(const std::string& file,
                                                       http::Headers headers) {
  const std::string url = options_.url.Origin() + options_.url.target + file;
  absl::StatusOr<http::ClientResponse> result =
      absl::DeadlineExceededError(url + ": no answer within the deadline");
  context_.restart();
  connection_.Send({.target = options_.url.target + file, .headers = std::move(headers)},
                   [&](absl::StatusOr<http::ClientResponse> response) {
                     result = std::move(response);
                     context_.stop();
                   });
  context_.run();
  if (!result.ok()) return runtime::Annotate(result.status(), url);
  const int status = result->status;
  if (status == 200 || status == 206) return result;
  const std::string message = url + ": the server answers with status " + std::to_string(status);
  if (status == 404) return runtime::NotFound(message);
  if (status == 429 || status >= 500) return runtime::Unavailable(message);
  return runtime::FailedPrecondition(message);
}

absl::StatusOr<std::string> MirrorClient::Read(const std::string& file) {
  SHOAL_ASSIGN_OR_RETURN(http::ClientResponse response, Ask(file, {}));
  return std::move(response.body);
}

absl::StatusOr<MirrorClient::Piece> MirrorClient::ReadPiece(const std::string& file,
                                                            std::uint64_t begin, std::uint64_t end,
                                                            std::uint64_t size) {
  http::Headers headers;
  headers.Add("Range", "bytes=" + RangeText(begin, end));
  SHOAL_ASSIGN_OR_RETURN(http::ClientResponse response, Ask(file, std::move(headers)));
  const std::uint64_t got = response.body.size();
  const bool whole = response.status == 200;
  const std::string range(response.headers.Find("Content-Range"));
  const std::string expected =
      "bytes " + RangeText(begin, begin + got) + "/" + std::to_string(size);
  const bool is_right = whole ? got == size : got > 0 && got <= end - begin && range == expected;
  if (is_right) return Piece{.bytes = std::move(response.body), .offset = whole ? 0 : begin};
  return runtime::DataLoss(options_.url.Origin() + options_.url.target + file + " at byte " +
                           std::to_string(begin) + ": the server gives " + std::to_string(got) +
                           " bytes" + (range.empty() ? "" : " as \"" + range + "\"") +
                           " of a file of " + std::to_string(size));
}

}  // namespace shoal::dataset
