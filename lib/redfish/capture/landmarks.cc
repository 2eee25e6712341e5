// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/landmarks.h"

#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

const Json* At(const Capture& capture, const std::string& uri, std::string_view pointer) {
  const Json* body = capture.Find(uri);
  return body == nullptr ? nullptr : Resolve(*body, pointer);
}

// Returns the first member of the collection, which is where the service root says or else in its
// usual place.
std::string FirstMember(const Capture& capture, std::string_view collection) {
  const Json* link = Resolve(capture.service_root(), "/" + std::string(collection));
  std::string uri = link == nullptr ? std::string() : LinkTarget(*link);
  if (uri.empty()) uri = std::string(kServiceRoot) + "/" + std::string(collection);
  return FirstLinkTarget(At(capture, uri, "/Members"));
}

std::string IfPresent(const Capture& capture, std::string uri) {
  return capture.Find(uri) == nullptr ? std::string() : uri;
}

}  // namespace

Landmarks FindLandmarks(const Capture& capture) {
  Landmarks found;
  found.system = IfPresent(capture, FirstMember(capture, "Systems"));
  found.chassis = IfPresent(capture, FirstLinkTarget(At(capture, found.system, "/Links/Chassis")));
  found.manager =
      IfPresent(capture, FirstLinkTarget(At(capture, found.system, "/Links/ManagedBy")));
  if (found.manager.empty()) found.manager = IfPresent(capture, FirstMember(capture, "Managers"));
  if (const Json* link = At(capture, found.manager, "/NetworkProtocol")) {
    found.network_protocol = IfPresent(capture, LinkTarget(*link));
  }
  return found;
}

}  // namespace shoal::redfish
