// SPDX-License-Identifier: Apache-2.0
#include "text/intent/intent_parser.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/doubles/temporary_folder.h"
#include "tests/text/intent/shipped_parser.h"

namespace shoal::intent {
namespace {

using Json = nlohmann::json;

Intent ParseOn(const char* capture, const std::string& text) {
  return *ParserOf(capture).Parse(text);
}

TEST_CASE("Sentences of the evaluation become what their episodes require") {
  int exact = 0;
  int all = 0;
  for (const char* capture : redfish::kShipped) {
    const auto suite = redfish::LoadGoals("data/goals").value();
    const auto applied = redfish::ApplyGoals(suite, redfish::Shipped(capture)).value();
    for (const auto& goal : applied) {
      for (std::uint64_t number = 0; number < 6; ++number, ++all) {
        const auto episode = goal->DrawEpisode(4, number, redfish::Split::kEvaluate).value();
        const Intent intent = ParseOn(capture, episode.text);
        bool same = intent.goal == goal->goal().name() && intent.requirement &&
                    intent.requirement->json() == episode.watch->ToJson().at("predicate");
        for (const auto& [name, value] : intent.values) {
          const auto drawn = episode.values.find(name);
          same = same && drawn != episode.values.end() && drawn->second == value;
        }
        exact += same ? 1 : 0;
        if (!same) {
          UNSCOPED_INFO(capture << ": " << episode.text << " => " << ToJson(intent).dump());
        }
      }
    }
  }
  INFO(exact << " of " << all);
  REQUIRE(exact >= 0.95 * all);
}

TEST_CASE("A sentence without a goal, a value or an offer is refused with the reason") {
  const auto refusal = [](const char* capture, const char* text) {
    const Intent intent = ParseOn(capture, text);
    REQUIRE_FALSE(intent.requirement.has_value());
    return intent.refusal;
  };
  REQUIRE(refusal("dell-r750", "make me a coffee").find("no goal") != std::string::npos);
  REQUIRE(refusal("dell-r750", "").find("no words") != std::string::npos);
  REQUIRE(refusal("dell-r750", "set the asset tag").find("AssetTag") != std::string::npos);
  REQUIRE(refusal("openbmc-stock", "set the asset tag to RACK-17-00042").find("openbmc-stock") !=
          std::string::npos);
}

TEST_CASE("A sentence that is not UTF-8 is refused before it is read") {
  const std::string sentence = "boot once from http://h/caf\xe9.iso";
  const std::vector<Intent> intents = *ParserOf("dell-r750").ParseGoals(sentence);
  REQUIRE(intents.size() == 1);
  REQUIRE(intents.front().refusal == "the sentence is not UTF-8");
  REQUIRE(intents.front().values.empty());
  REQUIRE(ParserOf("dell-r750").ParseGoals("boot once from http://h/caf\u00e9.iso").ok());
}

TEST_CASE("A query behind an image's name is no part of it") {
  const std::string url = "http://h.example/flash-2.19.bin?next=a/b&v=3.4";
  const Intent intent = ParseOn("dell-r750", "update the BIOS with " + url + " and restart");
  INFO(ToJson(intent).dump());
  REQUIRE(intent.values.at("ImageURI") == url);
  REQUIRE(intent.values.at("Version") == "2.19");
}

TEST_CASE("A sentence is put into the capture's own terms") {
  const Intent intent = ParseOn("dell-r750", "put RACK-17-00042 on the server as its asset tag");
  REQUIRE(intent.refusal.empty());
  REQUIRE(intent.goal_id == 4);
  REQUIRE(intent.values == redfish::Values{{"AssetTag", "RACK-17-00042"}});
  REQUIRE(intent.score > 0.9);
  const Json first = ToJson(intent).at("predicates").at(0).at("in");
  REQUIRE(first.at("uri") == "/redfish/v1/Systems/System.Embedded.1");
  REQUIRE(first.at("pointer") == "/AssetTag");
  REQUIRE(first.at("values") == Json::array({"RACK-17-00042"}));
}

TEST_CASE("Only the protocols that a sentence names are required") {
  const Intent intent = ParseOn("dell-r750", "disable IPMI on the BMC");
  REQUIRE(intent.targets == std::set<std::string>{"ipmi"});
  REQUIRE(ToJson(intent).at("predicates").size() == 1);
  REQUIRE_FALSE(ParseOn("dell-r750", "enable Telnet on the BMC").refusal.empty());
}

TEST_CASE("Parsing is deterministic and takes any bytes") {
  const std::string text = "boot once from the network, then normally";
  REQUIRE(ToJson(ParseOn("dell-r750", text)) == ToJson(ParseOn("dell-r750", text)));
  std::string bytes;
  for (int i = 1; i < 256; ++i) bytes += static_cast<char>(i);
  REQUIRE(ParserOf("dell-r750").Parse(bytes).ok());
  std::string names;
  for (int i = 0; i < 500; ++i) names += " operator user x" + std::to_string(i);
  REQUIRE(ParserOf("dell-r750").Parse(names).ok());
}

TEST_CASE("A wrong [sentence] of a goal is refused, naming goal and key") {
  const doubles::TemporaryFolder folder;
  const auto refuse = [&](const std::string& sentence) {
    const std::string path = folder.Write(
        "own.toml",
        "id = 1\nname = \"a\"\ntrain = [\"x\"]\nevaluate = [\"y\"]\n[[situations]]\nname = \"s\"\n"
        "optimum = 1\n[sentence]\n" +
            sentence);
    const auto rules = GoalSentence::Read(*redfish::Goal::Load(path).value());
    REQUIRE(rules.status().code() == absl::StatusCode::kInvalidArgument);
    return runtime::Message(rules.status());
  };
  REQUIRE(refuse("about = 3\n").find("\"about\"") != std::string::npos);
  REQUIRE(refuse("abuot = [\"x\"]\n").find("\"abuot\"") != std::string::npos);
  REQUIRE(refuse("[sentence.values.X]\nkind = \"poem\"\n").find("\"poem\"") != std::string::npos);
  REQUIRE(refuse("[sentence.targets.t]\nstate = \"up\"\n").find("\"state\"") != std::string::npos);
}

}  // namespace
TEST_CASE("A thing that nobody knows is no server, but may stand beside one") {
  const IntentParser& parser = ParserOf("dell-r750");
  for (const char* text :
       {"Turn on the dishwasher", "Is Secure Boot enabled?", "light the candles"}) {
    const Intent intent = *parser.Parse(text);
    INFO(text << " => " << intent.goal);
    REQUIRE_FALSE(intent.refusal.empty());
  }
  for (const char* text :
       {"Shut the server down gracefully, the fan is to be replaced", "Turn on the R750"}) {
    const Intent intent = *parser.Parse(text);
    INFO(text << " => " << intent.refusal);
    REQUIRE(intent.refusal.empty());
  }
}

TEST_CASE("What has another goal's form of value is no other goal") {
  const IntentParser& parser = ParserOf("dell-r750");
  REQUIRE_FALSE(parser.Parse("turn on http://a.example/x.iso")->refusal.empty());
  REQUIRE_FALSE(parser.Parse("start Boot0003 now")->refusal.empty());
  const Intent attribute = *parser.Parse("After a power failure it should come up: AcPwrRcvry On");
  REQUIRE(attribute.goal == "bios_attribute");
}

TEST_CASE("Words of the language are no names where a name is near") {
  const Intent intent = *ParserOf("dell-r750")
                             .Parse(
                                 "gone1 has retired so remove him, role2 shall be operator, back3 "
                                 "came back from parental leave "
                                 "so enable his account, and 5 wrong attempts lock the account");
  INFO(ToJson(intent).dump());
  REQUIRE(intent.values ==
          redfish::Values{{"Rogue", "gone1"}, {"Auditor", "role2"}, {"Keeper", "back3"}});
}

TEST_CASE("A wish for later, or on a condition, is refused") {
  for (const char* const text :
       {"If the inlet temperature exceeds 35 degrees, shut the node down gracefully.",
        "Once the pump has been swapped, power the node back on.",
        "Power the server on when I'm done with the cables",
        "Please switch the server on tomorrow morning at seven.",
        "In case the customer says yes, power on his server.", "Turn on our server tomorrow",
        "Tomorrow shut the server down gracefully", "Start the server on Monday at seven",
        "As soon as he has confirmed, shut the server down gracefully.",
        "When the leak is repaired, power the server on.",
        "Hello, when the backup finishes, shut the server down gracefully.",
        "Shut the server down gracefully as soon as the backup is done.",
        "The server is off, please start it tomorrow.",
        "Should the OS hang, boot the server from the network once."}) {
    INFO(text);
    REQUIRE(ParseOn("dell-r750", text).refusal == "it is to happen later, or on a condition");
  }
  for (const char* const text :
       {"If it is possible, power the server on.", "Could you power the server on if it's off?",
        "We need it tomorrow, so please power the server on.",
        "As soon as you can, power the server on.",
        "When the power failed last night the server went down, please power it on.",
        "Power the server on before the audit tomorrow"}) {
    INFO(text);
    REQUIRE(ParseOn("dell-r750", text).goal == "power_on");
    REQUIRE(ParseOn("dell-r750", text).refusal.empty());
  }
}

TEST_CASE("What a clause only tells is neither a goal nor in the way of one") {
  REQUIRE(
      ParseOn("dell-r750",
              "The fan noise is driving the neighbours mad, so power the server down gracefully.")
          .refusal.empty());
  REQUIRE_FALSE(ParseOn("dell-r750", "turn the fan on").refusal.empty());
  const auto goals =
      *ParserOf("dell-r750")
           .ParseGoals(
               "My machine reboots under load and won't start again. Flash BIOS 2.19.1 from "
               "http://images.example/bios-2.19.1.bin.");
  REQUIRE(goals.size() == 1);
  REQUIRE(goals.front().goal == "firmware_update");
}

TEST_CASE("A session's administrator may be anybody who stands as one") {
  const auto admin = [](const std::string& who) {
    return ParseOn("dell-r750", "Log in " + who +
                                    ", set the asset tag to RCK-8 in that session and close all "
                                    "stale sessions.")
        .values.at("admin");
  };
  REQUIRE(admin("as chief with password Kp92$river") == "chief");
  REQUIRE(admin("as admin with password Kp92$river") == "admin");
  REQUIRE(admin("with password Kp92$river as labadmin") == "labadmin");
}

TEST_CASE("One value stands for both attributes of a list") {
  const Intent intent =
      ParseOn("hpe-dl380a-gen12", "Reset the BIOS to defaults, but turn off Sriov and WakeOnLan.");
  REQUIRE(intent.values == redfish::Values{{"First", "Sriov"},
                                           {"FirstTo", "Disabled"},
                                           {"Second", "WakeOnLan"},
                                           {"SecondTo", "Disabled"}});
}

TEST_CASE(
    "A value that must not be is the other one, and one that is told to be absent is no wish") {
  const auto value = [](const std::string& text) {
    const Intent intent = ParseOn("hpe-dl380a-gen12", text);
    return intent.values.contains("To") ? intent.values.at("To") : nlohmann::json();
  };
  REQUIRE(value("The BIOS attribute Sriov must not stay enabled.") == "Disabled");
  REQUIRE(value("In the BIOS Sriov should no longer be enabled but disabled.") == "Disabled");
  REQUIRE(value("Set the BIOS attribute Sriov to enabled, not disabled.") == "Enabled");
  REQUIRE(value("Please enable Sriov in the BIOS, it is not enabled yet.") == "Enabled");
  REQUIRE(value("Sriov is not enabled in the BIOS, please enable it.") == "Enabled");
  REQUIRE(value("The guests do not need it, disable Sriov in the BIOS.") == "Disabled");
  REQUIRE(value("Do not forget to disable Sriov in the BIOS.") == "Disabled");
}

TEST_CASE("A second attribute of which something else is said has no value of the first") {
  REQUIRE_FALSE(ParseOn("hpe-dl380a-gen12",
                        "Reset the BIOS to defaults and disable WakeOnLan, but leave Sriov alone.")
                    .refusal.empty());
}

TEST_CASE("The button of power is virtual, and no virtual disc") {
  const Intent intent =
      ParseOn("dmtf-catfish", "The node is off, press the virtual power button so that it runs.");
  INFO(ToJson(intent).dump());
  REQUIRE(intent.refusal.empty());
  REQUIRE(intent.goal == "power_on");
}

// Requires that no sentence is taken for a goal.
void RequireRefused(const char* capture, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const Intent intent = ParseOn(capture, text);
    INFO(text << " => " << ToJson(intent).dump());
    REQUIRE_FALSE(intent.refusal.empty());
  }
}

TEST_CASE("A shutdown by force is not graceful because something else is forbidden") {
  RequireRefused("dell-r750", {"Shut down by force with no delay permitted",
                               "Turn it off hard as soft off is forbidden",
                               "Shut the server down by force because waiting is not allowed",
                               "Shut the server down hard while no login is allowed",
                               "Power the server off by force and no questions are allowed"});
  REQUIRE(ParseOn("dell-r750", "Shut the server down, a forced stop is not permitted.").goal ==
          "graceful_off");
}

TEST_CASE("To repair a mirror is not to create one") {
  RequireRefused(
      "dell-r750",
      {"The failed disk of the mirrored pair has to be replaced",
       "Rebuild the mirror on the broken drive", "Exchange the failed disk in the RAID1",
       "Resync the mirror after the drive failed", "The mirror has a broken drive, rebuild it",
       "A disk of the mirror is broken and needs to be exchanged",
       "Bring the failed drive back into the mirror",
       "two drives form a mirror and one is defect, please rebuild it"});
  REQUIRE(
      ParseOn("dell-r750", "Scrap the stripe of the first two drives and rebuild it as a mirror.")
          .refusal.empty());
  const Intent intent =
      ParseOn("dell-r750",
              "A failed disk cost us the data, so make a RAID1 of the first two drives and delete "
              "the stripe.");
  REQUIRE(intent.refusal.empty());
  REQUIRE(intent.goal == "raid1");
}

TEST_CASE("What is virtual is no server") {
  RequireRefused("dmtf-catfish",
                 {"Start the virtual console", "boot the virtual floppy",
                  "Start the virtual keyboard of the server", "Launch the virtual KVM",
                  "Start the virtual server", "Switch on virtualization on the server"});
}

TEST_CASE("A word with a number behind a hyphen may be a password") {
  const Intent intent = ParseOn(
      "dell-r750", "kim is prompted to change Welcome-1, replace it by Lisbon-25 and sign in");
  INFO(ToJson(intent).dump());
  REQUIRE(intent.values.at("other:Password") == "Welcome-1");
  REQUIRE(intent.values.at("Password") == "Lisbon-25");
}

TEST_CASE("The user at whom a clause of deletion points back is the one to delete") {
  const Intent intent = ParseOn(
      "dmtf-catfish",
      "Nobody in the warehouse has heard of legacy_cron, so away with that one. Make simonp "
      "Operator, enable metrics9, lock accounts after five failures.");
  INFO(ToJson(intent).dump());
  REQUIRE(intent.values.at("Rogue") == "legacy_cron");
}

TEST_CASE("A misspelt word that is left is no user to delete") {
  const std::string rest =
      " Make simonp Operator, enable metrics9, lock accounts after five failures.";
  RequireRefused(
      "dmtf-catfish",
      {"Away with the obsolte account." + rest, "Nobody needs the unkown one any more." + rest,
       "One user has to go, the oldst." + rest, "Somebody has to go, acordingly do that." + rest});
}

TEST_CASE("A slip of the finger beside a clear cue is no user to delete") {
  const std::string rest =
      ", make simonp Operator, enable metrics9, lock accounts after 5 failures";
  RequireRefused("dmtf-catfish", {"throw out the intrudr" + rest, "delete the obsolte one" + rest});
  REQUIRE(ParseOn("dmtf-catfish", "delete quorl" + rest).values.at("Rogue") == "quorl");
}

TEST_CASE("In a list of users a word of the language may be one, but none that is to be deleted") {
  const std::string list = ", make simonp Operator, enable sunset, lock out after 5 failed logins.";
  const Intent intent = ParseOn("dmtf-catfish", "Users: delete user x7" + list);
  INFO(ToJson(intent).dump());
  REQUIRE(intent.values ==
          redfish::Values{{"Rogue", "x7"}, {"Auditor", "simonp"}, {"Keeper", "sunset"}});
  RequireRefused("dmtf-catfish", {"Users: delete rivers" + list, "Users: delete hackers" + list});
}

TEST_CASE("What a user is or does is no user") {
  const Intent intent =
      ParseOn("dmtf-catfish",
              "The zabbix4 login is demanding a password change. Log in with Fjord-11x, replace it "
              "by Tundra-22y, and log in again.");
  INFO(ToJson(intent).dump());
  REQUIRE(intent.values.at("UserName") == "zabbix4");
}

TEST_CASE("A sentence that takes itself back asks for nothing") {
  RequireRefused("dell-r750", {"Power it on, no wait, never mind", "Shut it down. Oh, forget it.",
                               "Was the server powered on last night? No action is needed."});
}

TEST_CASE("A second command is in the way of a goal") {
  RequireRefused("dell-r750",
                 {"Shut the server down gracefully and after that reboot it",
                  "Boot from the network at all future boots", "Set Secure Boot = Disabled"});
}

TEST_CASE("A switch that has lost a letter turns off") {
  const Intent intent = ParseOn("dell-r750", "switch of LogicalProc please");
  INFO(ToJson(intent).dump());
  REQUIRE(intent.values == redfish::Values{{"Attribute", "LogicalProc"}, {"To", "Disabled"}});
}

TEST_CASE("A service that is mentioned twice is wanted as one of the mentions says") {
  const Intent intent =
      ParseOn("dell-r750", "We are without a clock, so use time.lab.example as NTP server.");
  INFO(ToJson(intent).dump());
  REQUIRE(intent.refusal.empty());
  REQUIRE(intent.values.at("NTPServers") == "time.lab.example");
}

TEST_CASE("A command for a service is not undone by a mention of how it was") {
  RequireRefused(
      "dell-r750",
      {"Switch IPMI back on, IPMI off was a mistake", "Enable IPMI, turning IPMI off was wrong",
       "IPMI should be on, IPMI off broke our monitoring",
       "Enable telnet; telnet off does not work for us",
       "Please reopen Telnet; Telnet closed is a nuisance",
       "Bring IPMI back, disabling IPMI was an error", "Do not disable IPMI, IPMI is to stay on",
       "Telnet was disabled, enable Telnet again",
       "Disable NTP, do not use time.lab.example as NTP server",
       "Run it without NTP and never use time.lab.example as NTP server"});
  for (const char* const text :
       {"Disable IPMI, IPMI on was a mistake", "IPMI is still on, please turn IPMI off.",
        "Somebody switched IPMI on, turn IPMI off again."}) {
    const Intent intent = ParseOn("dell-r750", text);
    INFO(text << " => " << intent.refusal);
    REQUIRE(intent.refusal.empty());
    REQUIRE(intent.targets == std::set<std::string>{"ipmi"});
  }
}

TEST_CASE("A pronoun is no user") {
  REQUIRE_FALSE(ParseOn("dell-r750", "Create an operator account for us with password Grip+Lift12")
                    .refusal.empty());
}

TEST_CASE("A token without words may end a sentence") {
  for (const char* const mark : {" /", " &", " -", " = "}) {
    REQUIRE_FALSE(
        ParseOn("dell-r750", std::string("Power the server on tomorrow") + mark).refusal.empty());
  }
}

TEST_CASE("Who is on a server says nothing of what an attribute is to be") {
  const Intent intent = ParseOn("hpe-dl380a-gen12", "can we turn Numa off? nobody is on it");
  REQUIRE(intent.refusal.empty());
  REQUIRE(intent.values.at("To") == "Disabled");
}

TEST_CASE("In a list with letters nobody is deleted for what the item before says") {
  const Intent intent =
      ParseOn("dmtf-catfish",
              "Users: a) olduser9 - delete b) maria5 - Operator c) spare3 - enable d) lockout - 5");
  REQUIRE(intent.values.at("Rogue") == "olduser9");
  REQUIRE(intent.values.at("Auditor") == "maria5");
  REQUIRE(intent.values.at("Keeper") == "spare3");
}

TEST_CASE("Attributes that are to be set back do not ask for the defaults of all others") {
  const Intent intent =
      ParseOn("hpe-dl380a-gen12", "Set Numa back to Disabled and set Sriov back to Disabled.");
  REQUIRE_FALSE(intent.refusal.empty());
}

TEST_CASE("A sentence that wants nothing changed is refused") {
  for (const char* text : {"explain how RAID1 works", "leave the locator LED as it is",
                           "keep the server powered on"}) {
    INFO(text);
    REQUIRE_FALSE(ParserOf("dell-r750").Parse(text)->refusal.empty());
  }
}

std::vector<std::string> GoalsOf(const char* capture, const std::string& text) {
  const std::vector<Intent> intents = *ParserOf(capture).ParseGoals(text);
  std::vector<std::string> goals;
  for (const Intent& intent : intents) {
    INFO(text << ": " << ToJson(intent).dump());
    REQUIRE(intent.refusal.empty());
    goals.push_back(intent.goal);
  }
  return goals;
}

TEST_CASE("A sentence asks for several goals where each of its parts asks for one") {
  using Goals = std::vector<std::string>;
  const std::string iso = "http://images.example/install.iso";
  REQUIRE(GoalsOf("dell-r750", "RAID1 on both disks, Secure Boot on, boot once from the ISO " +
                                   iso + " by virtual media and eject it.") ==
          Goals{"raid1", "secure_boot_chain", "iso_boot"});
  REQUIRE(GoalsOf("hpe-dl380a-gen12",
                  "hi, please mirror the first two drives and then turn on Secure Boot, thanks") ==
          Goals{"raid1", "secure_boot_chain"});
  const std::vector<Intent> tagged =
      *ParserOf("dell-r750")
           .ParseGoals("Set the asset tag of the system to DC-17-042 and power the server on.");
  REQUIRE(tagged.size() == 2);
  REQUIRE(tagged[0].values.at("AssetTag") == Json("DC-17-042"));
  REQUIRE(tagged[0].text == "Set the asset tag of the system to DC-17-042");
  REQUIRE(tagged[1].goal == "power_on");
  REQUIRE(GoalsOf("dell-r750",
                  "Set the asset tag of the system to DC-17-042, power the server on, and "
                  "light its locator LED.") == Goals{"asset_tag", "power_on", "locate"});
}

TEST_CASE("A sentence asks for one goal several times where the values differ") {
  const auto values = [](const std::string& text, const std::string& name) {
    std::vector<Json> all;
    const std::vector<Intent> intents = *ParserOf("dell-r750").ParseGoals(text);
    for (const Intent& intent : intents) {
      INFO(text << ": " << ToJson(intent).dump());
      REQUIRE(intent.refusal.empty());
      all.push_back(intent.values.at(name));
    }
    return all;
  };
  REQUIRE(values("Set the asset tag of the chassis to DC-17-042 and the asset tag of the system to "
                 "DC-17-043.",
                 "AssetTag") == std::vector<Json>{"DC-17-042", "DC-17-043"});
  REQUIRE(values("create operator kim042 with password Abc-12345 and create operator bob043 with "
                 "password Def-67890",
                 "UserName") == std::vector<Json>{"kim042", "bob043"});
  REQUIRE(values("set the BIOS attribute NumLock to On, and set the BIOS attribute "
                 "ProcVirtualization to Disabled",
                 "Attribute") == std::vector<Json>{"NumLock", "ProcVirtualization"});
}

TEST_CASE("A condition or a question in a text is not carried out") {
  for (const char* text : {"Is Secure Boot on? Set the asset tag of the system to DC-17-042.",
                           "Hi, after Secure Boot is turned on, set the asset tag to DC-17-042.",
                           "please, if Secure Boot is on, set the asset tag to DC-17-042",
                           "Once Secure Boot is enabled, set the asset tag to DC-17-042."}) {
    const std::vector<Intent> intents = *ParserOf("dell-r750").ParseGoals(text);
    INFO(text << ": " << ToJson(intents).dump());
    REQUIRE(intents.size() == 1);
  }
}

TEST_CASE("A part that holds a password which its goal does not take is no part") {
  const std::vector<Intent> intents =
      *ParserOf("dell-r750").ParseGoals("Secure Boot on, RAID1 on both disks nils.o:Fact-908-a");
  INFO(ToJson(intents).dump());
  REQUIRE(intents.size() == 1);
  REQUIRE_FALSE(intents.front().refusal.empty());
}

TEST_CASE("Sentences that ask for one goal are hardly ever divided") {
  int divided = 0;
  int all = 0;
  const auto suite = redfish::LoadGoals("data/goals").value();
  for (const char* capture : {"dell-r750", "hpe-dl380a-gen12"}) {
    const auto applied = redfish::ApplyGoals(suite, redfish::Shipped(capture)).value();
    for (const auto& goal : applied) {
      for (std::uint64_t number = 0; number < 10; ++number, ++all) {
        const auto split = number % 2 == 0 ? redfish::Split::kEvaluate : redfish::Split::kTrain;
        const auto episode = goal->DrawEpisode(5, number, split).value();
        const std::vector<Intent> intents = *ParserOf(capture).ParseGoals(episode.text);
        if (intents.size() == 1) continue;
        ++divided;
        UNSCOPED_INFO(goal->goal().name() << ": " << ToJson(intents).dump());
      }
    }
  }
  INFO(divided << " of " << all);
  REQUIRE(divided <= 0.01 * all);
}

TEST_CASE("A sentence of one goal is not divided, whatever its marks") {
  using Goals = std::vector<std::string>;
  REQUIRE(GoalsOf("dell-r750", "Hello, Telnet is open on the iDRAC. Please switch it off.") ==
          Goals{"protocol_hardening"});
  REQUIRE(GoalsOf("dell-r750",
                  "Delete the stripe, and create a mirror (RAID1) of the first two "
                  "drives.") == Goals{"raid1"});
  REQUIRE(GoalsOf("dell-r750", "Secure Boot on; restart as needed, please.") ==
          Goals{"secure_boot_chain"});
}

TEST_CASE(
    "A sentence with a part that no goal explains, a goal twice or two against each other is "
    "refused") {
  for (const char* text : {"RAID1 on both disks, Secure Boot on, and make me a coffee",
                           "power on the server and boot once from the ISO",
                           "RAID1 on both disks, Secure Boot on, RAID1 on the first two drives",
                           "power the server on, then shut it down gracefully"}) {
    const std::vector<Intent> intents = *ParserOf("dell-r750").ParseGoals(text);
    INFO(text << ": " << ToJson(intents).dump());
    REQUIRE(intents.size() == 1);
    REQUIRE_FALSE(intents.front().refusal.empty());
  }
}

}  // namespace shoal::intent
