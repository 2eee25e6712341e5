// SPDX-License-Identifier: Apache-2.0
#include "mockserver/resources/boot_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

struct QueuedBoot {
  ResourceId system = 0;
  std::string key;
  std::function<void(Editor&)> run;
};

struct BootQueue {
  std::vector<QueuedBoot> entries;
};

bool CanBoot(const Editor& editor, ResourceId system) {
  return editor.Read(system, "/Actions/#ComputerSystem.Reset") != nullptr;
}

void RunBootQueue(Editor& editor, ResourceId system, Json& /*boot*/) {
  if (editor.FindNotes<BootQueue>() == nullptr) return;
  std::vector<QueuedBoot>& entries = editor.Notes<BootQueue>().entries;
  const auto due =
      std::stable_partition(entries.begin(), entries.end(),
                            [system](const QueuedBoot& one) { return one.system != system; });
  const std::vector<QueuedBoot> taken(std::make_move_iterator(due),
                                      std::make_move_iterator(entries.end()));
  entries.erase(due, entries.end());
  for (const QueuedBoot& entry : taken) entry.run(editor);
}

}  // namespace

void OnNextBoot(Editor& editor, ResourceId system, std::string key,
                std::function<void(Editor&)> run) {
  ForgetNextBoot(editor, key);
  editor.Notes<BootQueue>().entries.push_back({system, std::move(key), std::move(run)});
}

void ForgetNextBoot(Editor& editor, std::string_view key) {
  std::erase_if(editor.Notes<BootQueue>().entries,
                [key](const QueuedBoot& entry) { return entry.key == key; });
}

void AddBootQueue(HandlerTable& handlers) { handlers.OnBoot(BootStage::kUp, &RunBootQueue); }

std::optional<ResourceId> SystemOf(const Editor& editor, ResourceId id) {
  const World& world = editor.world();
  std::string_view uri = editor.Uri(world.ActiveOf(id).value_or(id));
  while (!uri.empty()) {
    const auto above = editor.Find(uri);
    // A system's settings object is a ComputerSystem, too.
    const bool is_system = above.has_value() && editor.IsA(*above, "ComputerSystem") &&
                           !world.ActiveOf(*above).has_value();
    if (is_system && CanBoot(editor, *above)) return above;
    uri = uri.substr(0, uri.rfind('/'));
  }
  const auto root = editor.Find(redfish::kServiceRoot);
  const auto systems = root ? editor.Linked(*root, "/Systems") : std::nullopt;
  if (!systems) return std::nullopt;
  const std::vector<ResourceId> members = editor.Members(*systems);
  const auto boots = std::find_if(members.begin(), members.end(),
                                  [&](ResourceId system) { return CanBoot(editor, system); });
  if (boots != members.end()) return *boots;
  return members.empty() ? std::nullopt : std::optional(members.front());
}

}  // namespace shoal::mockserver
