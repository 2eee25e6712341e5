// SPDX-License-Identifier: Apache-2.0
// A host with one lamp, whose answers to requests that change something are scripted.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/http/server.h"

namespace shoal::operate {

inline const std::string kLamp = "/redfish/v1/Lamp";

class Lamp {
 public:
  // What happens to a request: whether it takes effect, and its status; 0 means no answer.
  struct Reaction {
    bool acts = true;
    int status = 204;
  };

  // The reactions to the first requests; later ones act and are answered 204.
  explicit Lamp(std::vector<Reaction> script = {})
      : script_(std::move(script)), server_(http::Server::Create({}, [this](const auto& request) {
                                              return Handle(request);
                                            }).value()) {}

  const std::string& address() const { return server_->address(); }
  void Set(const std::string& state) {
    const std::lock_guard lock(mutex_);
    state_ = state;
    ++version_;
  }
  std::string state() {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  // Returns the requests that would change something, as "PATCH "2"" with their If-Match.
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  http::ServerResponse Handle(const http::ServerRequest& request) {
    const std::lock_guard lock(mutex_);
    if (request.method() == "GET") {
      if (request.target() != kLamp) return {.status = 404};
      const nlohmann::json body = {{"@odata.id", kLamp}, {"State", state_}};
      return {.header_lines = "ETag: \"" + std::to_string(version_) + "\"\r\n",
              .body = std::make_shared<const std::string>(body.dump())};
    }
    const std::size_t number = requests_.size();
    requests_.push_back(std::string(request.method()) + " " +
                        std::string(request.Header("If-Match")));
    const Reaction reaction = number < script_.size() ? script_[number] : Reaction();
    if (reaction.acts) {
      state_ = "On";
      ++version_;
    }
    if (reaction.status == 0) return {.dropped = true};
    return {.status = reaction.status};
  }

  const std::vector<Reaction> script_;
  std::mutex mutex_;
  std::string state_ = "Off";
  int version_ = 1;
  std::vector<std::string> requests_;
  // The last member, as its thread uses those above.
  const std::unique_ptr<http::Server> server_;
};

}  // namespace shoal::operate
