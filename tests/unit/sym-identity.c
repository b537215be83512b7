/* Prints a file's identity as a capture records it: "MAJOR MINOR INODE GENERATION", the last 0 if unknown. */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	uint32_t generation[2] = { 0 };
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return 1;
	if (ioctl(fd, FS_IOC_GETVERSION, generation) != 0)
		generation[0] = 0;
	printf("%u %u %ju %" PRIu32 "\n", major(st.st_dev), minor(st.st_dev), (uintmax_t)st.st_ino, generation[0]);
	return 0;
}
