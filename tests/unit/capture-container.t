#!/bin/sh
# Paths of control groups as container runtimes make them, and the container of each
. "$(dirname "$0")/../lib/lib.sh"

id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
uid=12345678-9abc-def0-1234-56789abcdef0
uid_=12345678_9abc_def0_1234_56789abcdef0
short=0123456789ab

path() { is "$1" "$(echo "$2" | "$BUILD/tests/capture-container")" "$3"; }
path "docker, systemd" "/system.slice/docker-$id.scope" "docker $id pod= label=$short"
path "docker, cgroupfs" "/docker/$id" "docker $id pod= label=$short"
path "docker in docker" "/docker/ffff456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef/docker/$id" "docker $id pod= label=$short"
path "docker, a group inside" "/system.slice/docker-$id.scope/init.scope" "docker $id pod= label=$short"
path "docker, without root" "/user.slice/user-1000.slice/user@1000.service/user.slice/docker-$id.scope" "docker $id pod= label=$short"
path "containerd under Kubernetes, systemd" \
	"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod$uid_.slice/cri-containerd-$id.scope" \
	"containerd $id pod=$uid label=$short"
path "guaranteed" "/kubepods.slice/kubepods-pod$uid_.slice/cri-containerd-$id.scope" "containerd $id pod=$uid label=$short"
path "Kubernetes, cgroupfs" "/kubepods/besteffort/pod$uid/$id" "container $id pod=$uid label=$short"
path "Kubernetes, a pod of the node's own" "/kubepods/burstable/pod0123456789abcdef0123456789abcdef/$id" \
	"container $id pod=0123456789abcdef0123456789abcdef label=$short"
path "containerd, systemd's names in cgroupfs" \
	"/system.slice/containerd.service/kubepods-burstable-pod$uid_.slice:cri-containerd:$id" "containerd $id pod=$uid label=$short"
path "kind: Kubernetes in docker" \
	"/docker/ffff456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod$uid_.slice/cri-containerd-$id.scope" \
	"containerd $id pod=$uid label=$short"
path "nerdctl" "/system.slice/nerdctl-$id.scope" "containerd $id pod= label=$short"
path "containerd's default namespace" "/default/$id" "containerd $id pod= label=$short"
path "CRI-O" "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod$uid_.slice/crio-$id.scope" "cri-o $id pod=$uid label=$short"
path "CRI-O's monitor is none" "/kubepods.slice/kubepods-pod$uid_.slice/crio-conmon-$id.scope" \
	"none  pod=$uid label=/kubepods.slice/kubepods-pod$uid_.slice/crio-conmon-$id.scope"
path "podman" "/machine.slice/libpod-$id.scope" "podman $id pod= label=$short"
path "podman, its inner group" "/machine.slice/libpod-$id.scope/container" "podman $id pod= label=$short"
path "podman, without root" "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-$id.scope" "podman $id pod= label=$short"
path "podman's monitor is none" "/machine.slice/libpod-conmon-$id.scope" "none  pod= label=/machine.slice/libpod-conmon-$id.scope"
path "podman, cgroupfs" "/libpod_parent/libpod-$id" "podman $id pod= label=$short"
path "LXC" "/lxc.payload.web/system.slice/nginx.service" "lxc web pod= label=web"
path "LXC, version 1" "/lxc/web" "lxc web pod= label=web"
path "nspawn" "/machine.slice/machine-web.scope/payload" "nspawn web pod= label=web"
path "ECS" "/ecs/12345678/$id" "container $id pod= label=$short"
path "a service is none" "/system.slice/ssh.service" "none  pod= label=/system.slice/ssh.service"
path "63 digits are none" "/docker/${id%?}" "none  pod= label=/docker/${id%?}"
path "capitals are none" "/docker/ABCDEF6789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" \
	"none  pod= label=/docker/ABCDEF6789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
path "the root is none" "/" "none  pod= label=/"
path "nothing is none" "" "none  pod= label="
done_testing
