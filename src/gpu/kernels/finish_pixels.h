/* The finish kernel's work, without what makes it a kernel: 8-bit pixels to the type and layout of a model. Plain C, so
   that tests run the very code that a device does.

   Values come out of a table that the host made, so they are the host's to the last bit whatever the device computes.
 */
#pragma once

typedef __UINT8_TYPE__ Byte;
typedef __UINT32_TYPE__ Word;
typedef __SIZE_TYPE__ Count;
typedef Word Word2 __attribute__((vector_size(8), may_alias));
typedef Word Word4 __attribute__((vector_size(16), may_alias));
typedef Word Word1 __attribute__((may_alias));
typedef __UINT16_TYPE__ Half __attribute__((may_alias));

/* `in`: [samples, pixels, 3] on a 4-byte boundary. `out`: values of 1, 2 or 4 bytes on a 16-byte boundary, [samples, 3,
   pixels] if `planes`, else [samples, pixels, 3]. `table`: the bits of each of 256 values, for red, green and blue. */
struct FinishJob {
  const Byte* __restrict in;
  void* __restrict out;
  const Word* __restrict table;
  Count samples;
  Count pixels; /* of one sample */
  Word value_bytes;
  Word planes;
};

/* Values [at, at + 4), `at` a multiple of four, in one store; `step` apart in `value`. */
static inline void put_four(void* out, Count at, Word bytes, const Word* value, Word step) {
  const Word a = value[0], b = value[step], c = value[2 * step], d = value[3 * step];
  if (bytes == 4) {
    const Word4 four = {a, b, c, d};
    ((Word4*)out)[at / 4] = four;
  } else if (bytes == 2) {
    const Word2 two = {a | b << 16, c | d << 16};
    ((Word2*)out)[at / 4] = two;
  } else {
    ((Word1*)out)[at / 4] = a | b << 8 | c << 16 | d << 24;
  }
}

static inline void put_one(void* out, Count at, Word bytes, Word value) {
  if (bytes == 4)
    ((Word1*)out)[at] = value;
  else if (bytes == 2)
    ((Half*)out)[at] = (Half)value;
  else
    ((Byte*)out)[at] = (Byte)value;
}

/* Four pixels of one sample, which are twelve bytes. */
static inline void finish_four(const struct FinishJob* job, Count group) {
  const Word1* from = (const Word1*)job->in + 3 * group;
  const Word words[3] = {from[0], from[1], from[2]};
  Word value[12];
  for (Word k = 0; k < 12; ++k) value[k] = job->table[256 * (k % 3) + ((words[k / 4] >> (8 * (k % 4))) & 255)];
  if (job->planes) {
    const Count groups = job->pixels / 4, sample = group / groups, at = 4 * (group - sample * groups);
    for (Word c = 0; c < 3; ++c)
      put_four(job->out, (3 * sample + c) * job->pixels + at, job->value_bytes, value + c, 3);
  } else {
    for (Word k = 0; k < 12; k += 4) put_four(job->out, 12 * group + k, job->value_bytes, value + k, 1);
  }
}

static inline void finish_one(const struct FinishJob* job, Count pixel) {
  const Count sample = pixel / job->pixels, at = pixel - sample * job->pixels;
  for (Word c = 0; c < 3; ++c) {
    const Count place = job->planes ? (3 * sample + c) * job->pixels + at : 3 * pixel + c;
    put_one(job->out, place, job->value_bytes, job->table[256 * c + job->in[3 * pixel + c]]);
  }
}

/* Pixels that one thread makes. One where four of them may belong to two samples, or begin at an odd address. */
static inline Count finish_pixels_per_thread(Count pixels) {
  return pixels % 4 == 0 ? 4 : 1;
}

static inline void finish_thread(const struct FinishJob* job, Count thread) {
  const Count each = finish_pixels_per_thread(job->pixels);
  if (thread >= job->samples * job->pixels / each) return;
  if (each == 4)
    finish_four(job, thread);
  else
    finish_one(job, thread);
}
