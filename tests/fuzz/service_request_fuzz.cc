// SPDX-License-Identifier: Apache-2.0
// Fuzzes Instance::Handle with the parts of a request. No bytes may crash it, be answered with 500,
// or make it write invalid JSON, and no GET may change the tree.
//
// Input: one byte that chooses the method, then the URI, a newline, and the body. From 128 on, the
// byte says that the body is a form with the boundary "b". The service is dmtf-rackmount1 in its
// captured state before each input, and takes pushed images at /push.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "mockserver/instance/instance.h"
#include "redfish/capture/capture.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

// Reads files of the repository's root, where the fuzzer is started.
std::shared_ptr<const World> LoadWorld() {
  auto schema = redfish::Schema::Load("data/schema/redfish.schema.zst");
  auto capture = redfish::Capture::Load("data/captures/dmtf-rackmount1.tar.xz");
  Require(schema.ok() && capture.ok());
  redfish::Capture::Resources resources = (*capture)->resources();
  resources["/redfish/v1/UpdateService"]["MultipartHttpPushUri"] = "/push";
  capture = redfish::Capture::FromResources("pushed", std::move(resources));
  Require(capture.ok());
  return World::Create(*std::move(capture), *std::move(schema)).value();
}

void Run(std::string_view input) {
  static const std::shared_ptr<const World> kWorld = LoadWorld();
  if (input.empty()) return;
  const auto choice = static_cast<unsigned char>(input[0]);
  const auto method = static_cast<Method>(choice % 8);
  const std::string_view media = choice < 128 ? "" : "multipart/form-data; boundary=b";
  input.remove_prefix(1);
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string_view uri = input.substr(0, end);
  input.remove_prefix(std::min(input.size(), end + 1));

  Instance instance(kWorld);
  const Response response =
      instance.Handle({.method = method, .uri = uri, .body = input, .content_type = media});
  Require(response.status >= 200 && response.status < 600 && response.status != 500);
  Require(response.body == nullptr || Json::accept(*response.body));
  const bool reads = method == Method::kGet || method == Method::kHead;
  Require(!reads || instance.changed_resources() == 0);
  instance.Advance(std::chrono::hours(1));
}

}  // namespace
}  // namespace shoal::mockserver

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  shoal::mockserver::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
