// SPDX-License-Identifier: Apache-2.0
// Volumes of a storage subsystem: created from drives, and deleted, as tasks (tasks.h).
//
//   POST <Storage>/Volumes
//   {"RAIDType": "RAID1", "Links": {"Drives": [{"@odata.id": D0}, {"@odata.id": D1}]},
//    "CapacityBytes"?, "Name"?, "@Redfish.OperationApplyTime"?, and whatever the schema takes}
//
// The older "VolumeType" and "Drives" are accepted as well. The answer is 400 for a RAID type that
// no controller lists (where any lists some) or that does not fit the number of drives, and for a
// drive that does not exist or belongs to another subsystem. It is 409 ResourceInUse for a drive
// that is already part of a volume; the task fails the same way when another task has taken the
// drive meanwhile. Without CapacityBytes the volume takes the whole capacity.
//
// A raw device, a volume that stands for a single drive, does not occupy its drive and cannot be
// deleted (405).
//
// Deleting usually has no body, so it waits for a boot where the collection supports only OnReset.
// Volume.Initialize and Volume.CheckConsistency are tasks without a lasting effect.
//
// Drive.SecureErase is a task that removes the volumes of which the drive was part.
// Storage.ResetToDefaults with ResetAll removes all volumes except raw devices and restores the
// subsystem's captured properties; with PreserveVolumes it only restores the properties.
// Storage.SetEncryptionKey sets EncryptionMode to UseLocalKey; the key is not kept.
//
// "Exactly one RAID1 volume on D0 and D1" is a predicate over the collection: {"some": {"members":
// U, "holds": RAIDType equals RAID1, Links/Drives contains both}}, and {"not": {"some":
// ..RAID0..}}.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddVolumes(HandlerTable& handlers);

}  // namespace shoal::mockserver
