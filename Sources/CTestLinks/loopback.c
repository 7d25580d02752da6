#include "CTestLinks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static ssize_t ask(int fd, const void *request, size_t request_size, void *answer, size_t room)
{
    size_t received = 0;
    ssize_t piece = send(fd, request, request_size, MSG_NOSIGNAL);
    if (piece >= 0 && (size_t)piece != request_size)
        return -EMSGSIZE;
    while (piece >= 0 && received < room) {
        piece = recv(fd, (char *)answer + received, room - received, 0);
        if (piece == 0)
            return (ssize_t)received;
        if (piece > 0)
            received += (size_t)piece;
    }
    return piece < 0 ? -errno : -EMSGSIZE;
}

ssize_t ifct_tcp_ask(uint16_t port, const void *request, size_t request_size, void *answer, size_t room)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    struct sockaddr_in peer = {
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    struct timeval patience = {.tv_sec = 2};
    ssize_t result = -1;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0
        || connect(fd, (struct sockaddr *)&peer, sizeof(peer)) < 0)
        result = -errno;
    else
        result = ask(fd, request, request_size, answer, room);
    close(fd);
    return result;
}
