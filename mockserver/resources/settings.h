// SPDX-License-Identifier: Apache-2.0
// Settings objects (DSP0266, "Settings resource"). A value that is written to a settings object is
// pending, and is applied to the active resource when the client wants it (apply_time.h), usually
// at the next boot of the system.
//
// BIOS attributes are judged by the service's attribute registry, taking pending and requested
// values as given; where a capture has no registry, they are judged by name and by the JSON type of
// the present value. Some vendors' settings objects list only pending attributes, others list all;
// each keeps its form. Only values that were written since the last application are applied, not
// what a capture already had pending.
#pragma once

#include <string>
#include <vector>

#include "mockserver/resources/apply_time.h"
#include "mockserver/service/editor.h"
#include "mockserver/service/handler.h"

namespace shoal::mockserver {

// A wrong attribute, and the name of the message of the registry about it.
struct AttributeProblem {
  std::string name;
  std::string_view message;
};

// Returns whether the resource is a BIOS or its settings object, so that PATCH of its "Attributes"
// follows the rules of settings.
bool HasBiosAttributes(const Editor& editor, ResourceId id);

// Judges `attributes`, an object, for the resource. The attributes of a BIOS that has a settings
// object are all not writable.
std::vector<AttributeProblem> JudgeAttributes(const Editor& editor, ResourceId id,
                                              const Json& attributes);

// Schedules the values at `pointers` of a settings object to take effect as `choice` says. It
// replaces an earlier choice for the same object. REQUIRES: `choice` has no refusal.
void AwaitApplyTime(Editor& editor, ResourceId settings, const std::vector<std::string>& pointers,
                    const ApplyTimeChoice& choice);

// Resets the BIOS's attributes at the next boot of its system, before pending values are applied:
// to their defaults in the registry or, for attributes without one, to their captured values.
void AwaitDefaults(Editor& editor, ResourceId bios);

// Applies pending values when a system boots, and writes the time into @Redfish.Settings.
void AddSettings(HandlerTable& handlers);

}  // namespace shoal::mockserver
