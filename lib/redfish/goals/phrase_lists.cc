// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/phrase_lists.h"

#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>

#include "redfish/capture/archive.h"

namespace shoal::redfish {
namespace {

absl::StatusOr<std::vector<PhrasePattern>> ReadList(const toml::node& node,
                                                    const PhrasePattern::Lists& lists) {
  std::vector<PhrasePattern> patterns;
  const toml::array* const array = node.as_array();
  if (array == nullptr || array->empty()) return runtime::InvalidArgument("needs texts");
  for (const toml::node& item : *array) {
    if (!item.is_string()) return runtime::InvalidArgument("needs texts");
    SHOAL_ASSIGN_OR_RETURN(PhrasePattern pattern,
                           PhrasePattern::Parse(item.as_string()->get(), lists));
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

std::string PathOf(const std::string& folder, const std::string& file) {
  return (std::filesystem::path(folder) / "phrasings" / file).string();
}

absl::StatusOr<toml::table> ReadTable(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  toml::parse_result parsed = toml::parse(std::string_view(text), path);
  if (parsed) return std::move(parsed).table();
  std::ostringstream reason;
  reason << parsed.error();
  return runtime::InvalidArgument("phrases " + path + ": " + reason.str());
}

}  // namespace

absl::StatusOr<PhrasePattern::Lists> LoadPhraseLists(const std::string& folder) {
  const std::string path = PathOf(folder, "lists.toml");
  const absl::StatusOr<toml::table> table = ReadTable(path);
  PhrasePattern::Lists lists;
  if (absl::IsNotFound(table.status())) return lists;
  if (!table.ok()) return table.status();
  // A table is sorted by key, and lists may name those that stand before them in the file.
  std::vector<std::pair<std::string, const toml::node*>> in_order;
  for (const auto& [key, value] : *table) in_order.emplace_back(key.str(), &value);
  std::sort(in_order.begin(), in_order.end(), [](const auto& a, const auto& b) {
    return a.second->source().begin.line < b.second->source().begin.line;
  });
  for (const auto& [name, node] : in_order) {
    auto list = ReadList(*node, lists);
    if (!list.ok()) {
      const std::string line = std::to_string(node->source().begin.line);
      return runtime::Annotate(list.status(), "phrases " + path + ":" + line + " \"" + name + "\"");
    }
    lists.emplace(name, *std::move(list));
  }
  return lists;
}

absl::StatusOr<std::vector<PhrasePattern>> LoadPhrases(const std::string& folder,
                                                       const std::string& file,
                                                       const std::string& key,
                                                       const PhrasePattern::Lists& lists) {
  const std::string path = PathOf(folder, file);
  SHOAL_ASSIGN_OR_RETURN(const toml::table table, ReadTable(path));
  const toml::node* const sentences = table.get(key);
  if (sentences == nullptr) {
    return runtime::InvalidArgument("phrases " + path + ": needs \"" + key + "\"");
  }
  auto patterns = ReadList(*sentences, lists);
  if (!patterns.ok()) {
    return runtime::Annotate(patterns.status(), "phrases " + path + " \"" + key + "\"");
  }
  return patterns;
}

}  // namespace shoal::redfish
