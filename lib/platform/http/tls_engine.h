// SPDX-License-Identifier: Apache-2.0
// The server's end of one TLS connection, without the socket: it takes the peer's bytes and
// produces the bytes to send.
//
// Not thread-safe. It holds output that was not taken yet. It reads input in place, so that nothing
// is copied that OpenSSL does not copy itself.
#pragma once

#include <openssl/ssl.h>

#include <absl/functional/function_ref.h>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace shoal::http {

class TlsEngine {
 public:
  enum class Step {
    kDone,
    // More bytes are needed from the peer.
    kMore,
    // The peer has said that it sends nothing more.
    kClosed,
    // The peer's bytes are not TLS, or an unsupported kind; the output holds the alert.
    kFailed,
  };

  // Borrows `context`.
  explicit TlsEngine(SSL_CTX* context);
  TlsEngine(const TlsEngine&) = delete;
  TlsEngine& operator=(const TlsEngine&) = delete;

  // Supplies bytes from the peer. They must stay in place until Handshake or Read returns kMore or
  // has_input() is false. REQUIRES: the same holds for the previous bytes.
  void Feed(std::string_view bytes);
  Step Handshake();
  // Decrypts into `room`, which is not empty; on kDone, `bytes` is the number of bytes written to
  // it.
  Step Read(char* room, std::size_t size, std::size_t& bytes);
  // Returns whether Read can proceed without another Feed.
  bool has_input() const;

  // A sink sends as many of `bytes` as it can and returns their number.
  using Sink = absl::FunctionRef<std::size_t(std::string_view bytes)>;
  // Encrypts `plain`; returns false when the connection cannot be written to. The first record is
  // offered to `sink` unless output waits already. The bytes that `sink` leaves, and further
  // records, wait for TakeOutput.
  bool Write(std::string_view plain, Sink sink);
  // Leaves all output for TakeOutput.
  bool Write(std::string_view plain);
  // Says that nothing more will be written.
  void Close();
  // The number of bytes that TakeOutput would return. Callers bound it while they read, since a
  // peer can provoke output.
  std::size_t waiting_output() const { return wire_.output.size(); }
  // Replaces the content of `bytes` by the bytes to send now. Pass the same string each time: its
  // memory is used again while it is small.
  void TakeOutput(std::string& bytes);

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  // The input and output of ssl_.
  struct Wire {
    std::string_view input;
    std::string output;
    // The sink of the current Write; null once the sink was offered a record.
    const Sink* sink = nullptr;
  };
  static const BIO_METHOD* WireMethod();
  Step Outcome(int result) const;

  // The wire must outlive ssl_.
  Wire wire_;
  std::unique_ptr<SSL, Free> ssl_;
};

}  // namespace shoal::http
