// SPDX-License-Identifier: Apache-2.0
#include "inference/client/act_client.h"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "platform/runtime/log.h"
#include "platform/runtime/mutex.h"
#include "platform/transport/server.h"
#include "platform/transport/server_stream.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/manual_clock.h"
#include "tests/inference/client/scripted_server.h"

namespace shoal::inference::client {
namespace {

using actor::test::Agree;
using actor::test::Scripted;
using actor::test::ScriptedServer;
using actor::test::SeenRow;

class Recorder final : public ActHandler {
 public:
  void OnConnected(std::uint64_t server_epoch, std::uint64_t connection) override {
    const runtime::MutexLock lock(mutex_);
    connection_ = connection;
    epochs_.push_back(server_epoch);
    changed_.NotifyAll();
  }
  void OnAnswers(std::vector<Answer> answers) override {
    const runtime::MutexLock lock(mutex_);
    for (Answer& answer : answers) answers_.push_back(std::move(answer));
    changed_.NotifyAll();
  }
  void OnDisconnected(const absl::Status& status) override {
    const runtime::MutexLock lock(mutex_);
    ends_.push_back(status);
    changed_.NotifyAll();
  }

  std::vector<Answer> AwaitAnswers(std::size_t count) {
    Await([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return answers_.size() >= count; });
    const runtime::MutexLock lock(mutex_);
    return answers_;
  }
  std::vector<std::uint64_t> AwaitEpochs(std::size_t count) {
    Await([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return epochs_.size() >= count; });
    const runtime::MutexLock lock(mutex_);
    return epochs_;
  }
  std::vector<absl::Status> AwaitEnds(std::size_t count) {
    Await([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return ends_.size() >= count; });
    const runtime::MutexLock lock(mutex_);
    return ends_;
  }

  std::uint64_t connection() const {
    const runtime::MutexLock lock(mutex_);
    return connection_;
  }

 private:
  void Await(const std::function<bool()>& condition) {
    const auto deadline = runtime::SystemClock().Now() + std::chrono::seconds(10);
    const runtime::MutexLock lock(mutex_);
    while (!condition()) {
      if (!changed_.WaitUntil(mutex_, deadline)) break;
    }
    REQUIRE(condition());
  }

  mutable runtime::Mutex mutex_;
  runtime::CondVar changed_;
  std::uint64_t connection_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::uint64_t> epochs_ ABSL_GUARDED_BY(mutex_);
  std::vector<Answer> answers_ ABSL_GUARDED_BY(mutex_);
  std::vector<absl::Status> ends_ ABSL_GUARDED_BY(mutex_);
};

// Takes streams and never answers.
class SilentServer final : public proto::Inference::CallbackService {
 public:
  explicit SilentServer(const std::string& listen) {
    auto server = transport::Server::Create({.listen = listen}, {this});
    REQUIRE(server.ok());
    server_ = *std::move(server);
  }
  ~SilentServer() override { server_->Shutdown(std::chrono::milliseconds(0)); }

  const std::string& address() const { return server_->address(); }
  // How many streams have said hello.
  int greetings() const { return greetings_; }

 private:
  class Stream final : public transport::ServerStream<proto::ActRequest, proto::ActReply> {
   public:
    explicit Stream(SilentServer& owner)
        : ServerStream(transport::ServerStreamOptions{.window = 64}, owner.registry_),
          owner_(owner) {}

   private:
    void OnMessage(proto::ActRequest&& /*request*/) override {
      ++owner_.greetings_;
      Release();
    }
    SilentServer& owner_;
  };
  grpc::ServerBidiReactor<proto::ActRequest, proto::ActReply>* Act(
      grpc::CallbackServerContext*) override {
    return std::make_shared<Stream>(*this)->Start();
  }

  std::atomic<int> greetings_ = 0;
  transport::StreamRegistry registry_;
  std::unique_ptr<transport::Server> server_;
};

ActClientOptions Options(const std::string& address) {
  ActClientOptions options{.address = address};
  proto::ObservationSpec* observation = options.spec.add_observations();
  observation->set_name("numeric");
  observation->set_dtype(proto::FLOAT32);
  observation->add_shape(2);
  options.spec.add_content_fields("body");
  options.spec.mutable_action()->mutable_candidates();
  options.min_backoff = std::chrono::milliseconds(10);
  return options;
}

std::shared_ptr<const CandidateList> Candidates(const std::string& prefix) {
  return std::make_shared<const CandidateList>(
      std::vector<ContentReference>{ContentOf(prefix + " a"), ContentOf(prefix + " b")});
}

Row MakeRow(std::uint64_t environment, std::uint64_t sequence, const std::string& body) {
  Row row{.environment_id = environment, .incarnation = 5, .sequence = sequence};
  const std::array<float, 2> state = {1.0F, static_cast<float>(environment)};
  row.observation.assign(reinterpret_cast<const char*>(state.data()), sizeof(state));
  row.contents = {ContentOf(body)};
  row.catalog = Candidates("service");
  return row;
}

void SendAll(ActClient& client, std::vector<Row> rows, std::uint64_t connection = 1) {
  REQUIRE(client.Send(rows, connection).ok());
}

void AwaitCount(const ActClient& client, proto::RowStatus status, std::uint64_t count) {
  REQUIRE(doubles::Eventually([&] { return client.status_counts()[status] >= count; }));
}

// Waits until the client, which alone has the clock, has waited so many times more.
void AwaitWaits(const doubles::ManualClock& clock, std::uint64_t more) {
  const std::uint64_t before = clock.waits();
  REQUIRE(doubles::Eventually([&] { return clock.waits() >= before + more; }));
}

// Returns environment and sequence of the rows that a server saw, in order.
std::vector<std::pair<std::uint64_t, std::uint64_t>> Order(const ScriptedServer& server) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> order;
  for (const SeenRow& row : server.rows()) order.emplace_back(row.environment_id, row.sequence);
  return order;
}

TEST_CASE("Each row is answered once with what the server said") {
  ScriptedServer server([](const SeenRow& row) {
    return Scripted{.action = static_cast<std::int64_t>(row.environment_id) * 10};
  });
  Recorder recorder;
  ActClient client(Options(server.address()), recorder);
  REQUIRE(recorder.AwaitEpochs(1).front() == 1);
  SendAll(client, {MakeRow(3, 0, "x"), MakeRow(4, 0, "y")});
  const auto answers = recorder.AwaitAnswers(2);
  REQUIRE(answers.size() == 2);
  for (const Answer& answer : answers) {
    REQUIRE(answer.outcome == Answer::Outcome::kAction);
    REQUIRE(answer.action == static_cast<std::int64_t>(answer.environment_id) * 10);
    REQUIRE(answer.policy_step == 2);
  }
  const auto rows = server.rows();
  REQUIRE(rows[1].observation == std::vector<float>{1.0F, 4.0F});
  REQUIRE(rows[1].content_keys[0] == content::KeyOf("y").AsBytes());
  REQUIRE(rows[1].catalog_key == Candidates("service")->key().AsBytes());
}

TEST_CASE("A text and a catalog cross a stream once") {
  ScriptedServer server(Agree);
  Recorder recorder;
  ActClient client(Options(server.address()), recorder);
  recorder.AwaitEpochs(1);
  for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
    SendAll(client, {MakeRow(1, sequence, "same"), MakeRow(2, sequence, "same")});
  }
  recorder.AwaitAnswers(6);
  std::multiset<std::string> texts;
  for (const auto& [key, text] : server.contents()) texts.insert(text);
  REQUIRE(texts == std::multiset<std::string>{"same", "service a", "service b"});
  REQUIRE(server.catalogs() == 1);
}

TEST_CASE("NEED_CONTENT brings the same sequence again, with the text") {
  std::atomic<int> refusals = 1;
  ScriptedServer server([&](const SeenRow& row) {
    if (row.sequence == 1 && refusals-- > 0) {
      return Scripted{.status = proto::ROW_NEED_CONTENT, .missing_keys = {row.content_keys[0]}};
    }
    return Scripted{};
  });
  Recorder recorder;
  ActClient client(Options(server.address()), recorder);
  recorder.AwaitEpochs(1);
  SendAll(client, {MakeRow(1, 0, "forgotten")});
  recorder.AwaitAnswers(1);
  SendAll(client, {MakeRow(1, 1, "forgotten")});
  const auto answers = recorder.AwaitAnswers(2);
  REQUIRE(answers[1].outcome == Answer::Outcome::kAction);
  const auto rows = server.rows();
  REQUIRE(rows.size() == 3);
  REQUIRE(rows[2].sequence == 1);
  int times = 0;
  for (const auto& [key, text] : server.contents()) times += text == "forgotten" ? 1 : 0;
  REQUIRE(times == 2);
  REQUIRE(client.status_counts()[proto::ROW_NEED_CONTENT] == 1);
}

TEST_CASE("A server that never has room for a content gets the row refused, not a loop") {
  ScriptedServer server([](const SeenRow& row) {
    return Scripted{.status = proto::ROW_NEED_CONTENT, .missing_keys = {row.content_keys[0]}};
  });
  Recorder recorder;
  ActClient client(Options(server.address()), recorder);
  recorder.AwaitEpochs(1);
  SendAll(client, {MakeRow(1, 0, "x")});
  REQUIRE(recorder.AwaitAnswers(1).front().outcome == Answer::Outcome::kInvalid);
}

TEST_CASE("A row that the server was too busy for is sent again") {
  std::atomic<int> refusals = 2;
  ScriptedServer server([&](const SeenRow&) {
    return Scripted{.status = refusals-- > 0 ? proto::ROW_OVERLOADED : proto::ROW_OK};
  });
  Recorder recorder;
  ActClient client(Options(server.address()), recorder);
  recorder.AwaitEpochs(1);
  SendAll(client, {MakeRow(1, 0, "x")});
  REQUIRE(recorder.AwaitAnswers(1).front().outcome == Answer::Outcome::kAction);
  REQUIRE(server.rows().size() == 3);
}

TEST_CASE("When the stream ends every pending row fails once, and a new epoch is seen") {
  auto server = std::make_unique<ScriptedServer>(
      [](const SeenRow&) { return Scripted{.status = proto::ROW_OVERLOADED}; }, 1);
  const std::string address = server->address();
  Recorder recorder;
  ActClientOptions options = Options(address);
  options.overload_delay = std::chrono::hours(1);
  ActClient client(options, recorder);
  recorder.AwaitEpochs(1);
  SendAll(client, {MakeRow(1, 0, "x"), MakeRow(2, 0, "x")});
  REQUIRE(server->Await([](const auto& rows) { return rows.size() == 2; }));
  server.reset();
  recorder.AwaitEnds(1);
  std::vector<Row> late = {MakeRow(3, 7, "x")};
  REQUIRE(absl::IsUnavailable(client.Send(late, recorder.connection())));
  REQUIRE(late.size() == 1);
  const auto answers = recorder.AwaitAnswers(2);
  std::set<std::uint64_t> lost;
  for (const Answer& answer : answers) {
    REQUIRE(answer.outcome == Answer::Outcome::kLost);
    REQUIRE(answer.row.contents.size() == 1);
    REQUIRE(lost.insert(answer.environment_id).second);
  }
  REQUIRE(lost == std::set<std::uint64_t>{1, 2});

  ScriptedServer next(Agree, 2, address);
  REQUIRE(recorder.AwaitEpochs(2).back() == 2);
  SendAll(client, {MakeRow(1, 1, "x")}, recorder.connection());
  REQUIRE(recorder.AwaitAnswers(3).back().outcome == Answer::Outcome::kAction);
  REQUIRE(next.contents().size() == 3);
}

// A client whose first attempt found no server at `address`, and whose second one is under way. Its
// clock stands still otherwise, and with it every pause.
struct ClientOfAbsentServer {
  ClientOfAbsentServer() {
    REQUIRE(absl::IsUnavailable(recorder.AwaitEnds(1).front()));
    AwaitWaits(clock, 2);
    Pass(options.min_backoff);
  }
  void Pass(std::chrono::milliseconds time) {
    clock.Advance(time);
    AwaitWaits(clock, 20);
  }

  const std::string address = ScriptedServer(Agree).address();
  const ActClientOptions options = Options(address);
  Recorder recorder;
  doubles::ManualClock clock;
  ActClient client{options, recorder, clock};
};

TEST_CASE("A client finds a server that was away without a further pause") {
  ClientOfAbsentServer absent;
  absent.Pass(absent.options.start_timeout);
  const ScriptedServer server(Agree, 1, absent.address);
  REQUIRE(absent.recorder.AwaitEpochs(1).front() == 1);
  REQUIRE(absent.recorder.AwaitEnds(1).size() == 1);
}

TEST_CASE("A server that says no welcome has the whole start timeout, also if it was away") {
  ClientOfAbsentServer absent;
  const SilentServer server(absent.address);
  REQUIRE(doubles::Eventually([&] { return server.greetings() > 0; }));
  absent.Pass(absent.options.start_timeout);
  REQUIRE(absent.recorder.AwaitEnds(1).size() == 1);
  absent.clock.Advance(absent.options.start_timeout);
  REQUIRE(runtime::Message(absent.recorder.AwaitEnds(2)[1]) == "no welcome in time");
}

TEST_CASE("A server of another protocol version is refused, naming both ends and both versions") {
  ScriptedServer server(Agree, 1, "127.0.0.1:0", 7);
  Recorder recorder;
  ActClient client(Options(server.address()), recorder);
  const absl::Status end = recorder.AwaitEnds(1).front();
  REQUIRE(absl::IsFailedPrecondition(end));
  REQUIRE(runtime::Message(end).find(
              "inference server at " + server.address() + " speaks protocol 7, this actor speaks " +
              std::to_string(transport::kProtocolVersion)) != std::string::npos);
  REQUIRE(recorder.connection() == 0);
}

TEST_CASE("A row meant for a connection that has ended is not written to the next one") {
  auto server = std::make_unique<ScriptedServer>(Agree);
  const std::string address = server->address();
  Recorder recorder;
  ActClient client(Options(address), recorder);
  recorder.AwaitEpochs(1);
  const std::uint64_t old = recorder.connection();
  server.reset();
  recorder.AwaitEnds(1);
  ScriptedServer same(Agree, 1, address);
  recorder.AwaitEpochs(2);
  std::vector<Row> rows = {MakeRow(1, 1, "x")};
  REQUIRE(absl::IsUnavailable(client.Send(rows, old)));
  REQUIRE(rows.size() == 1);
  rows.insert(rows.begin(), MakeRow(1, 0, "x"));
  REQUIRE(recorder.connection() == old + 1);
  SendAll(client, std::move(rows), recorder.connection());
  recorder.AwaitAnswers(2);
  REQUIRE(Order(same) == decltype(Order(same)){{1, 0}, {1, 1}});
}

TEST_CASE("A row that waits to be sent again holds up the later ones of its environment alone") {
  std::atomic<int> refusals = 1;
  ScriptedServer server([&](const SeenRow& row) {
    if (row.environment_id != 1 || refusals-- <= 0) return Scripted{};
    return Scripted{.status = proto::ROW_OVERLOADED};
  });
  Recorder recorder;
  doubles::ManualClock clock;
  ActClientOptions options = Options(server.address());
  options.overload_delay = std::chrono::hours(1);
  ActClient client(options, recorder, clock);
  recorder.AwaitEpochs(1);
  SendAll(client, {MakeRow(1, 0, "x")});
  AwaitCount(client, proto::ROW_OVERLOADED, 1);
  SendAll(client, {MakeRow(1, 1, "x"), MakeRow(2, 0, "x")});
  REQUIRE(recorder.AwaitAnswers(1).front().environment_id == 2);
  clock.Advance(std::chrono::hours(1));
  recorder.AwaitAnswers(3);
  REQUIRE(Order(server) == decltype(Order(server)){{1, 0}, {2, 0}, {1, 0}, {1, 1}});
  REQUIRE(server.message_sizes().back() == 2);
}

TEST_CASE("More rows than the window are refused and stay with the caller") {
  ScriptedServer server([](const SeenRow&) { return Scripted{.status = proto::ROW_OVERLOADED}; });
  Recorder recorder;
  ActClientOptions options = Options(server.address());
  options.max_outstanding = 2;
  ActClient client(options, recorder);
  recorder.AwaitEpochs(1);
  std::vector<Row> rows = {MakeRow(1, 0, "x"), MakeRow(2, 0, "x"), MakeRow(3, 0, "x")};
  REQUIRE(absl::IsResourceExhausted(client.Send(rows, 1)));
  REQUIRE(rows.size() == 3);
  rows.pop_back();
  REQUIRE(client.Send(rows, 1).ok());
  REQUIRE(client.room() == 0);
}

TEST_CASE("A reply with arrays of different lengths is an error that names the array") {
  proto::RowReplies replies;
  replies.add_environment_ids(1);
  replies.add_sequences(0);
  REQUIRE(runtime::Message(ReadReplies(replies).status()).find("statuses") != std::string::npos);
  replies.add_statuses(proto::ROW_OK);
  REQUIRE(runtime::Message(ReadReplies(replies).status()).find("policy_epochs") !=
          std::string::npos);
  replies.add_policy_epochs(0);
  replies.add_policy_steps(0);
  REQUIRE(runtime::Message(ReadReplies(replies).status()).find("actions") != std::string::npos);
  replies.set_statuses(0, proto::ROW_RESUMED);
  REQUIRE(runtime::Message(ReadReplies(replies).status()).find("resumed") != std::string::npos);
  replies.add_resumed()->set_next_sequence(5);
  REQUIRE(ReadReplies(replies)->front().resumed->next_sequence == 5);
}

}  // namespace
}  // namespace shoal::inference::client
