// SPDX-License-Identifier: Apache-2.0
#include "redfish/discovery/links.h"

#include <set>
#include <utility>

#include "redfish/capture/uri.h"

namespace shoal::discovery {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kNextLink = "@odata.nextLink";

bool IsLink(std::string_view name) {
  return name == "@odata.id" || name == "Uri" || name == "@Redfish.ActionInfo" ||
         name.ends_with(kNextLink);
}

class Collector {
 public:
  explicit Collector(std::string_view address) : address_(address) {}

  void Visit(const Json& value) {
    if (value.is_array()) {
      for (const Json& item : value) Visit(item);
    } else if (value.is_object()) {
      for (const auto& [name, member] : value.items()) {
        if (member.is_string() && IsLink(name)) {
          Add(member.get_ref<const std::string&>(), name.ends_with(kNextLink));
        } else {
          Visit(member);
        }
      }
    }
  }
  std::vector<Link> Take() { return std::move(links_); }

 private:
  void Add(std::string_view text, bool is_page) {
    std::string uri = redfish::CanonicalUri(OwnPath(text, address_));
    if (!redfish::IsAtOrBelow(uri, redfish::kServiceRoot)) return;
    std::string target = is_page ? PageTarget(text, address_) : uri;
    if (seen_.insert(target).second) links_.push_back({std::move(uri), std::move(target)});
  }

  const std::string_view address_;
  std::set<std::string> seen_;
  std::vector<Link> links_;
};

}  // namespace

std::string_view OwnPath(std::string_view uri, std::string_view address) {
  const std::size_t scheme = uri.find("://");
  if (scheme == std::string_view::npos) return uri.starts_with("//") ? std::string_view() : uri;
  const std::string_view rest = uri.substr(scheme + 3);
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return {};
  const std::string_view authority = rest.substr(0, slash);
  const std::string_view host = address.substr(0, address.rfind(':'));
  return authority == address || authority == host ? rest.substr(slash) : std::string_view();
}

std::string PageTarget(std::string_view text, std::string_view address) {
  const std::string_view whole = OwnPath(text, address);
  const std::string_view path = whole.substr(0, whole.find('#'));
  std::string target = redfish::CanonicalUri(path);
  if (const std::size_t query = path.find('?'); query != std::string_view::npos) {
    target += path.substr(query);
  }
  return target;
}

std::vector<Link> LinksIn(const Json& body, std::string_view address) {
  Collector collector(address);
  collector.Visit(body);
  return collector.Take();
}

}  // namespace shoal::discovery
