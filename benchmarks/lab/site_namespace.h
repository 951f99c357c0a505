// The namespaces of one site: network, mounts, host name and IPC. Nothing of them has a name in the file system: they
// live as long as a descriptor or a process holds them.
//
// Threads: one thread at a time, of a process that has no other threads (the kernel asks for that).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "runtime/base/fd.h"

namespace isthmus::lab {

struct SiteNamespaceSpec {
  int site = 0;
  int mtu = 1500;
  std::vector<std::string> site_names;  // of all sites
  std::vector<std::string> site_hosts;  // their addresses, as this site reaches them
  std::string congestion;               // empty: as the host has it
  bool loopback_hostname = false;       // the site's own name means 127.0.1.1, as Debian writes it
  gid_t group = 0;                      // may use ping without a privilege
  std::string scratch_directory;        // where the text of /etc/hosts is written, once per site
};

class SiteNamespace {
 public:
  // Made by a short-lived child, so that the caller stays where it is. Refuses when the congestion control that it
  // reads back is not the one that was asked for.
  static Result<SiteNamespace> create(const SiteNamespaceSpec& spec);

  // Moves the calling process in.
  Status enter() const;

  Fd take_tun() { return std::move(tun_); }
  const std::string& congestion() const { return congestion_; }
  const std::string& warning() const { return warning_; }  // what could not be had, or empty

 private:
  SiteNamespace() = default;

  std::string congestion_;
  std::string warning_;
  Fd tun_, network_, host_name_, ipc_, mounts_, root_, working_directory_;
};

// Makes a user namespace in which this process, with its own ids, may make the others. Only for a process that is not
// root.
Status enter_user_namespace();

}  // namespace isthmus::lab
