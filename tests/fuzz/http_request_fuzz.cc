// SPDX-License-Identifier: Apache-2.0
// Fuzzes RequestParser with the bytes of a peer in any pieces. It must not crash, its result must
// not depend on the pieces, and the requests that it accepts must keep to the limits.
//
// Input: four control bytes, then the peer's bytes. If the first control byte is odd, limits are so
// tight that inputs reach them. The other three are the sizes of the pieces, less one, in turn.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "platform/http/request_parser.h"

namespace shoal::http {
namespace {

constexpr std::size_t kControlBytes = 4;
constexpr std::int64_t kTight = 256;
const ServerOptions kDefaults;
const ServerOptions kTightOptions{
    .max_body_bytes = kTight, .max_header_bytes = kTight, .max_header_fields = 8};

using Pieces = std::array<std::size_t, kControlBytes - 1>;
using Progress = RequestParser::Progress;

void Require(bool condition) {
  if (!condition) std::abort();
}

// Returns a request as text after looking at every part of it.
std::string Describe(const RequestParser& parser, const ServerOptions& options) {
  const ServerRequest request = parser.request();
  Require(static_cast<std::int64_t>(request.body().size()) <= options.max_body_bytes);
  std::string text;
  for (const std::string_view part : {request.method(), request.target(), request.body(),
                                      request.Header("Host"), request.Header("Content-Type")}) {
    text.append(part).append("\n");
  }
  return text + (parser.keep_alive() ? "k" : "c") + (parser.is_head() ? "h" : "b") +
         (parser.is_http_10() ? "0" : "1");
}

// Parses until it needs more bytes. Returns false if the connection would be closed.
bool ParseAll(RequestParser& parser, const ServerOptions& options,
              std::vector<std::string>& requests) {
  for (;;) {
    const Progress progress = parser.Parse();
    if (progress == Progress::kRejected) {
      Require(parser.rejection().status >= 400 && parser.rejection().status < 600);
      return false;
    }
    if (progress != Progress::kWhole) return true;
    requests.push_back(Describe(parser, options));
    parser.Next();
    if (!parser.has_bytes()) return true;
  }
}

std::vector<std::string> Requests(std::string_view bytes, const Pieces& pieces,
                                  const ServerOptions& options) {
  RequestParser parser(options);
  std::vector<std::string> requests;
  for (std::size_t turn = 0; !bytes.empty(); ++turn) {
    const auto room = parser.Prepare();
    const std::size_t size = std::min({pieces[turn % pieces.size()], bytes.size(), room.size()});
    std::copy_n(bytes.data(), size, static_cast<char*>(room.data()));
    parser.Commit(size);
    bytes.remove_prefix(size);
    if (!ParseAll(parser, options, requests)) break;
  }
  return requests;
}

void Run(std::string_view input) {
  if (input.size() < kControlBytes) return;
  const bool tight = input[0] % 2 != 0;
  Pieces pieces;
  std::transform(input.begin() + 1, input.begin() + kControlBytes, pieces.begin(),
                 [](char c) { return std::size_t{1} + static_cast<unsigned char>(c); });
  const std::string_view bytes = input.substr(kControlBytes);
  const auto found = Requests(bytes, pieces, tight ? kTightOptions : kDefaults);
  if (tight) return;
  Pieces whole;
  whole.fill(bytes.size());
  Require(found == Requests(bytes, whole, kDefaults));
}

}  // namespace
}  // namespace shoal::http

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  shoal::http::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
