#include "CTestLinks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* discard(9): a port nobody answers on. */
enum { DISCARD = 9 };

int ifct_tun_open(const char *name, bool tap, int index)
{
    struct ifreq request = {0};
    if (strlen(name) >= sizeof(request.ifr_name))
        return -ENAMETOOLONG;
    memcpy(request.ifr_name, name, strlen(name));
    request.ifr_flags = (short)((tap ? IFF_TAP : IFF_TUN) | IFF_NO_PI);
    /* Close on exec: a child that holds the descriptor would keep the link alive. */
    int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    unsigned wanted = (unsigned)index;
    if ((index != 0 && ioctl(fd, TUNSETIFINDEX, &wanted) < 0) || ioctl(fd, TUNSETIFF, &request) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}

int ifct_tun_hardware_address(int fd, uint8_t address[6])
{
    struct ifreq request = {0};
    if (ioctl(fd, SIOCGIFHWADDR, &request) < 0)
        return -errno;
    memcpy(address, request.ifr_hwaddr.sa_data, 6);
    return 0;
}

static struct sockaddr_in discard_at(uint32_t address)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons(DISCARD),
        .sin_addr.s_addr = htonl(address),
    };
}

int ifct_udp_open(const char *name, uint32_t address)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    struct sockaddr_in local = discard_at(address);
    int small = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name)) < 0
        || setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)) < 0
        || bind(fd, (struct sockaddr *)&local, sizeof(local)) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}

int ifct_udp_send(int fd, uint32_t address, const void *payload, size_t size)
{
    struct sockaddr_in peer = discard_at(address);
    ssize_t sent = sendto(fd, payload, size, MSG_NOSIGNAL, (struct sockaddr *)&peer, sizeof(peer));
    return sent < 0 ? -errno : (int)sent;
}
