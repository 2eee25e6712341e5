// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/sensor.h"

namespace shoal::mockserver {
namespace {

Response ResetMetrics(Editor& editor, const Call& call) {
  const ResourceId sensor = call.resource;
  const Json* const present = editor.Read(sensor, "/Reading");
  const Json reading = present == nullptr ? Json() : *present;
  for (const char* name : {"/PeakReading", "/LowestReading", "/AverageReading"}) {
    editor.SetPresent(sensor, name, reading);
  }
  for (const char* name : {"/PeakReadingTime", "/LowestReadingTime"}) {
    editor.SetPresent(sensor, name, editor.DateTime());
  }
  editor.Set(sensor, "/SensorResetTime", editor.DateTime());
  return Done(editor);
}

}  // namespace

void AddSensor(HandlerTable& handlers) { handlers.OnAction("Sensor.ResetMetrics", &ResetMetrics); }

}  // namespace shoal::mockserver
