// Which limit of storage or memory explains that samples wait for something else than a core. Of what
// follows, from memory_short to requests_limited, one holds at most, so that every such wait has one name.
#pragma once

#include <optional>
#include <string>

#include "diagnose/situation.h"

namespace fullbore::diagnose {

bool waits_for_storage(const Situation& situation);  // the loop waits while samples are made, or may be
bool reads_from_device(const Situation& situation);  // bytes come from a device and not from the page cache
bool memory_short(const Situation& situation);       // the job's own memory does not fit
bool network_reads(const Situation& situation);      // the data lie behind a network or a FUSE file system
bool set_thrashes(const Situation& situation);       // later passes read from the device what the first one read
bool reads_amplified(const Situation& situation);    // the device reads far more than the samples have
bool neighbour_reads(const Situation& situation);    // others take most of a device that gives no more
bool requests_limited(const Situation& situation);   // small requests, at their limit or slow one by one
bool at_request_limit(const Situation& situation);   // ... of the control group

// The first pass read from the device, later ones from the page cache.
bool warmed_up(const Situation& situation);
// Something is used up: more readers at once would share it.
bool storage_exhausted(const Situation& situation);
// That, or each read takes so long that one reader can only wait for it.
bool storage_explains(const Situation& situation);

// "nfs4", "fuse.s3fs": file systems whose files lie on another machine, or behind a program.
bool is_network_mount(const std::string& type);
// A library that fetches over the network, called by the dataset: "requests", "boto3"; "" if none was seen.
std::string remote_library(const Situation& situation);
// Bytes that one pass over the data reads; nullopt where its length or bytes are not known.
std::optional<double> set_bytes(const Situation& situation);
// Bytes that the device reads per byte that a sample has or asks for.
std::optional<double> amplification(const Situation& situation);
// Bytes per request of the device.
std::optional<double> request_bytes(const Situation& situation);

}  // namespace fullbore::diagnose
