// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/uri.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

// Returns the array index that `token` spells, or at least `size` when it spells none.
std::size_t ParseIndex(std::string_view token, std::size_t size) {
  std::size_t index = size;
  const auto result = std::from_chars(token.data(), token.data() + token.size(), index);
  if (result.ec != std::errc() || result.ptr != token.data() + token.size()) return size;
  return index;
}

std::string Unescaped(std::string_view token) {
  std::string text;
  text.reserve(token.size());
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escape = token[i] == '~' && i + 1 < token.size();
    if (escape && token[i + 1] == '1') {
      text += '/';
      ++i;
    } else if (escape && token[i + 1] == '0') {
      text += '~';
      ++i;
    } else {
      text += token[i];
    }
  }
  return text;
}

const Json* Step(const Json& value, std::string_view token) {
  if (value.is_object()) {
    const auto member = value.find(token);
    return member == value.end() ? nullptr : &*member;
  }
  if (value.is_array()) {
    const std::size_t index = ParseIndex(token, value.size());
    return index < value.size() ? &value[index] : nullptr;
  }
  return nullptr;
}

// Returns null when there is none.
const std::string* StringAt(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found != object.end() ? found->get_ptr<const std::string*>() : nullptr;
}

}  // namespace

bool IsCanonicalUri(std::string_view uri) {
  char last = '\0';
  for (const char c : uri) {
    if (c == '?' || c == '#' || (c == '/' && last == '/')) return false;
    last = c;
  }
  return last != '/' || uri.size() == 1;
}

std::string CanonicalUri(std::string_view uri) {
  // Most URIs are canonical already, since they come from bodies.
  if (IsCanonicalUri(uri)) return std::string(uri);
  if (const auto scheme = uri.find("://"); scheme != std::string_view::npos) {
    const auto path = uri.find('/', scheme + 3);
    uri = path == std::string_view::npos ? std::string_view() : uri.substr(path);
  }
  uri = uri.substr(0, uri.find_first_of("?#"));
  std::string canonical;
  canonical.reserve(uri.size());
  for (const char c : uri) {
    if (c == '/' && !canonical.empty() && canonical.back() == '/') continue;
    canonical += c;
  }
  if (canonical.size() > 1 && canonical.back() == '/') canonical.pop_back();
  return canonical;
}

bool IsAtOrBelow(std::string_view uri, std::string_view root) {
  return uri.starts_with(root) && (uri.size() == root.size() || uri[root.size()] == '/');
}

PointerWalk::PointerWalk(std::string_view pointer) : rest_(pointer == "/" ? "" : pointer) {}

bool PointerWalk::Next(std::string_view& token) {
  if (rest_.empty()) return false;
  rest_.remove_prefix(1);
  token = rest_.substr(0, rest_.find('/'));
  rest_.remove_prefix(token.size());
  if (token.find('~') != std::string_view::npos) {
    unescaped_ = Unescaped(token);
    token = unescaped_;
  }
  return true;
}

std::vector<std::string> PointerTokens(std::string_view pointer) {
  std::vector<std::string> tokens;
  PointerWalk walk(pointer);
  for (std::string_view token; walk.Next(token);) tokens.emplace_back(token);
  return tokens;
}

std::string AppendPointer(std::string_view pointer, std::string_view token) {
  std::string longer(pointer);
  longer += '/';
  for (const char c : token) {
    if (c == '~') {
      longer += "~0";
    } else if (c == '/') {
      longer += "~1";
    } else {
      longer += c;
    }
  }
  return longer;
}

const Json* Resolve(const Json& value, std::string_view pointer) {
  const Json* at = &value;
  PointerWalk walk(pointer);
  for (std::string_view token; at != nullptr && walk.Next(token);) at = Step(*at, token);
  return at;
}

bool Assign(Json& value, std::string_view pointer, Json leaf) {
  Json* at = &value;
  PointerWalk walk(pointer);
  for (std::string_view token; walk.Next(token);) {
    if (at->is_null()) *at = Json::object();
    if (at->is_object()) {
      const auto member = at->find(token);
      at = member != at->end() ? &*member : &(*at)[std::string(token)];
    } else if (at->is_array()) {
      const std::size_t index = ParseIndex(token, at->size());
      if (index >= at->size()) return false;
      at = &(*at)[index];
    } else {
      return false;
    }
  }
  *at = std::move(leaf);
  return true;
}

std::string TextAt(const Json& object, std::string_view name) {
  const std::string* const text = StringAt(object, name);
  return text == nullptr ? std::string() : *text;
}

std::int64_t IntegerAt(const Json& object, std::string_view name) {
  if (!object.is_object()) return 0;
  const auto found = object.find(name);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string LinkTarget(const Json& link) {
  const std::string* const uri = StringAt(link, "@odata.id");
  return uri == nullptr ? std::string() : CanonicalUri(*uri);
}

std::string FirstLinkTarget(const Json* links) {
  if (links == nullptr || !links->is_array() || links->empty()) return {};
  return LinkTarget(links->front());
}

std::vector<std::string> LinkTargets(const Json* links) {
  std::vector<std::string> targets;
  if (links == nullptr || !links->is_array()) return targets;
  for (const Json& link : *links) {
    std::string target = LinkTarget(link);
    if (!target.empty()) targets.push_back(std::move(target));
  }
  return targets;
}

std::vector<std::string> MemberUris(const Json& collection) {
  return LinkTargets(Resolve(collection, "/Members"));
}

}  // namespace shoal::redfish
