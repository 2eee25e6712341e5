// SPDX-License-Identifier: Apache-2.0
#include "mockserver/resources/boot_queue.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

struct Trace {
  std::string text;
};

void Queue(Editor& editor, ResourceId system, const std::string& key, const std::string& text) {
  OnNextBoot(editor, system, key, [text](Editor& later) { later.Notes<Trace>().text += text; });
}

}  // namespace

TEST_CASE("What waits for a boot runs once, in order, and only at its own system's") {
  for (const std::string& name : CaptureNames()) {
    Instance instance(WorldOf(name));
    Editor editor(instance);
    const std::string uri = LandmarksOf(instance.world()).system;
    const ResourceId system = *editor.Find(uri);
    Queue(editor, system, "a", "a1");
    Queue(editor, system, "b", "b");
    Queue(editor, system + 1, "other", "x");
    Queue(editor, system, "a", "a2");
    Queue(editor, system, "c", "c");
    ForgetNextBoot(editor, "c");
    OnNextBoot(editor, system, "again",
               [system](Editor& later) { Queue(later, system, "again", "later"); });
    REQUIRE(editor.Notes<Trace>().text.empty());
    REQUIRE(ResetOf(instance, uri, "ForceOff").status < 300);
    REQUIRE(editor.Notes<Trace>().text.empty());
    Boot(instance, uri);
    REQUIRE(editor.Notes<Trace>().text == "ba2");
    Boot(instance, uri);
    REQUIRE(editor.Notes<Trace>().text == "ba2later");
    Queue(editor, system, "a", "lost");
    REQUIRE(instance.Reset().ok());
    Boot(instance, uri);
    REQUIRE(Editor(instance).FindNotes<Trace>() == nullptr);
  }
}

TEST_CASE("A resource waits for the system that it is below, any other for the first") {
  for (const std::string& name : CaptureNames()) {
    Instance instance(WorldOf(name));
    const Editor editor(instance);
    const redfish::Landmarks landmarks = LandmarksOf(instance.world());
    const auto system = editor.Find(landmarks.system);
    REQUIRE(SystemOf(editor, *editor.Linked(*system, "/Bios")) == system);
    REQUIRE(SystemOf(editor, *editor.Find(landmarks.manager)) == system);
  }
}

}  // namespace shoal::mockserver
