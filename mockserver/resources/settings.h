// SPDX-License-Identifier: Apache-2.0
// Settings objects (DSP0266, "Settings resource"): what is written to one is pending, and becomes
// its resource's when the client wants it to (apply_time.h), mostly when the system boots next.
//
// BIOS attributes are judged by the service's attribute registry with what is pending and what is
// asked for taken as given; where a capture has no registry, by name and JSON type of the present
// value. One vendor's settings object lists what is pending alone, another's all attributes; each
// stays so. Only what was asked for since it was last applied is applied, not what else a capture
// had pending.
#pragma once

#include <string>
#include <vector>

#include "mockserver/resources/apply_time.h"
#include "mockserver/service/editor.h"
#include "mockserver/service/handler.h"

namespace shoal::mockserver {

// What is wrong with one attribute, in words of the message registry.
struct AttributeProblem {
  std::string name;
  std::string_view message;
};

// Whether PATCH of "Attributes" of this resource is a matter of settings: it is a BIOS or a BIOS's
// settings object.
bool HasBiosAttributes(const Editor& editor, ResourceId id);

// Judges `attributes`, an object, for the resource. All of the BIOS itself are not writable where
// it has a settings object.
std::vector<AttributeProblem> JudgeAttributes(const Editor& editor, ResourceId id,
                                              const Json& attributes);

// What was written at `pointers` of a settings object takes effect when `choice`, which is not
// refused, says; an earlier choice for the same object no longer counts.
void AwaitApplyTime(Editor& editor, ResourceId settings, const std::vector<std::string>& pointers,
                    const ApplyTimeChoice& choice);

// At the next boot of its system, and before what is pending then, the BIOS's attributes become
// what its registry calls their defaults; those without one, what they were captured with.
void AwaitDefaults(Editor& editor, ResourceId bios);

// When a system boots, what is pending becomes current, and @Redfish.Settings says when.
void AddSettings(HandlerTable& handlers);

}  // namespace shoal::mockserver
