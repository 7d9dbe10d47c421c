// A read-only FUSE file system that shows another folder through a server far away: opening and each read request take
// as long as told. Requests are served side by side, as a real server does.
//
//     slowfs FOLDER OPEN_US READ_US MOUNTPOINT [FUSE OPTIONS]
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char* folder;
static long open_us, read_us;

static void travel(long us) {
  struct timespec time = {us / 1000000, us % 1000000 * 1000};
  while (nanosleep(&time, &time) != 0 && errno == EINTR) {
  }
}

static void below(char* out, size_t size, const char* path) {
  snprintf(out, size, "%s%s", folder, path);
}

static int slow_getattr(const char* path, struct stat* out, struct fuse_file_info* info) {
  (void)info;
  char real[4096];
  below(real, sizeof real, path);
  return lstat(real, out) == 0 ? 0 : -errno;
}

static int slow_readdir(const char* path, void* buffer, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info* info,
                        enum fuse_readdir_flags flags) {
  (void)offset, (void)info, (void)flags;
  char real[4096];
  below(real, sizeof real, path);
  DIR* directory = opendir(real);
  if (directory == NULL) return -errno;
  for (struct dirent* entry; (entry = readdir(directory)) != NULL;) fill(buffer, entry->d_name, NULL, 0, 0);
  closedir(directory);
  return 0;
}

static int slow_open(const char* path, struct fuse_file_info* info) {
  travel(open_us);
  char real[4096];
  below(real, sizeof real, path);
  const int file = open(real, O_RDONLY);
  if (file < 0) return -errno;
  info->fh = (uint64_t)file;
  return 0;
}

static int slow_read(const char* path, char* out, size_t size, off_t offset, struct fuse_file_info* info) {
  (void)path;
  travel(read_us);
  const ssize_t got = pread((int)info->fh, out, size, offset);
  return got < 0 ? -errno : (int)got;
}

static int slow_release(const char* path, struct fuse_file_info* info) {
  (void)path;
  close((int)info->fh);
  return 0;
}

static const struct fuse_operations operations = {.getattr = slow_getattr,
                                                  .readdir = slow_readdir,
                                                  .open = slow_open,
                                                  .read = slow_read,
                                                  .release = slow_release};

int main(int count, char** arguments) {
  if (count < 5) {
    fprintf(stderr, "usage: %s FOLDER OPEN_US READ_US MOUNTPOINT [FUSE OPTIONS]\n", arguments[0]);
    return 2;
  }
  folder = arguments[1];
  open_us = atol(arguments[2]);
  read_us = atol(arguments[3]);
  arguments[3] = arguments[0];
  return fuse_main(count - 3, arguments + 3, &operations, NULL);
}
