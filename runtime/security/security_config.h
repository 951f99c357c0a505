// SecurityConfig: what the options secret, secret_file, security and cipher amount to.
//
// Threads: any thread.
#pragma once

#include <optional>
#include <string_view>

#include "runtime/base/status.h"
#include "runtime/config/options.h"
#include "runtime/security/aead.h"
#include "runtime/security/job_secret.h"

namespace isthmus {

// How a process guards its traffic. Processes of a group have the same. On the wire: never renumber.
enum class SecurityLevel : std::uint8_t {
  kNone = 0,     // no secret, and nobody said that none is wanted: good for one site
  kOff = 1,      // plain on purpose
  kSecured = 2,  // control streams and what crosses sites
  kFull = 3,     // the links inside a site as well
};
std::string_view security_level_name(SecurityLevel level);  // "no job secret", "security off", ...

// "make one with ... or ...": for messages about a secret that is missing.
extern const std::string_view kWaysOutOfNoSecret;

struct SecurityConfig {
  SecurityLevel level = SecurityLevel::kNone;
  std::optional<JobSecret> secret;  // of kSecured and kFull
  CipherKind cipher = CipherKind::kAes256Gcm;
};

// invalid_argument: a secret or a file that cannot be used, two secrets, or security=on without one.
Result<SecurityConfig> load_security(const Options& options);

// The secret in a file, which must be regular, and of no use to group and others.
Result<JobSecret> read_secret_file(const std::string& path);

}  // namespace isthmus
