/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Network traffic: flows cut into fragments that arrive in any order, some with an attack in them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { MOST_FRAGMENTS = 16, SIGNATURES = 384, LONGEST_SIGNATURE = 16 };

/* A part of a flow's message. Nobody writes it while threads run. */
struct fragment {
  uint32_t flow;
  uint16_t index; /* in its flow */
  uint16_t count; /* of its flow */
  uint32_t length;
  const char *data; /* not ended by zero */
};

struct traffic {
  struct fragment *fragments; /* in the order of arrival */
  uint64_t fragment_count;
  char *data;
  bool *attacks; /* by flow */
  uint32_t flow_count;
  uint32_t longest; /* message, in bytes */
  char signatures[SIGNATURES][LONGEST_SIGNATURE + 1];
};

struct traffic_parameters {
  uint32_t flows;
  uint32_t longest; /* message, in bytes */
  uint32_t percent; /* of the flows with an attack */
};

void traffic_make(struct traffic *traffic, const struct traffic_parameters *parameters,
                  uint64_t seed);

/* Whether a message, which is made lower case, has one of the signatures in it. */
bool detect(const struct traffic *traffic, char *message, uint32_t length);
