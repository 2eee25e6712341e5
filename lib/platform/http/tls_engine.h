// SPDX-License-Identifier: Apache-2.0
// The server's end of one TLS connection without the connection: what the peer sent goes in, what
// is to be sent to it comes out.
//
// Not thread-safe. Holds what was written and not yet taken; what was fed it reads where it is, so
// that nothing is copied that OpenSSL does not copy itself.
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
    // More is needed from the peer.
    kMore,
    // The peer has said that nothing follows.
    kClosed,
    // What the peer sent is no TLS, or none that is taken; what is to be sent says so.
    kFailed,
  };

  // Borrows `context`.
  explicit TlsEngine(SSL_CTX* context);
  TlsEngine(const TlsEngine&) = delete;
  TlsEngine& operator=(const TlsEngine&) = delete;

  // Bytes from the peer, which stay where they are until Handshake or Read says kMore or
  // has_input() is false. REQUIRES: one of these was so of the bytes before.
  void Feed(std::string_view bytes);
  Step Handshake();
  // Plain text into `room`, which is not empty: `bytes` of it when kDone.
  Step Read(char* room, std::size_t size, std::size_t& bytes);
  // Whether Read has something to work on without another Feed.
  bool has_input() const;

  // Takes as many of `bytes` as it can, and says how many: those are sent.
  using Sink = absl::FunctionRef<std::size_t(std::string_view bytes)>;
  // False when the connection cannot be written to. The first record of what is to be sent is
  // offered to `sink` unless something waits; what it leaves, and what follows, waits for
  // TakeOutput.
  bool Write(std::string_view plain, Sink sink);
  // Leaves all of it for TakeOutput.
  bool Write(std::string_view plain);
  // Says that nothing more will be written.
  void Close();
  // Bytes that TakeOutput would give: what a peer provokes while it is read from must stay small.
  std::size_t waiting_output() const { return wire_.output.size(); }
  // What is to be sent now, in place of what `bytes` holds. Keep giving the same string: its room
  // is used again while it is small.
  void TakeOutput(std::string& bytes);

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  // What ssl_ reads and writes.
  struct Wire {
    std::string_view input;
    std::string output;
    // The sink of the Write that is under way; it is null once the sink was offered a record.
    const Sink* sink = nullptr;
  };
  static const BIO_METHOD* WireMethod();
  Step Outcome(int result) const;

  // Outlives ssl_.
  Wire wire_;
  std::unique_ptr<SSL, Free> ssl_;
};

}  // namespace shoal::http
