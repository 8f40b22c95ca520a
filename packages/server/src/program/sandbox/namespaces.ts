// Makes the same sandbox as bubblewrap.ts with the programs of util-linux.
import { dirname } from 'node:path'
import type { Owner } from '../../db/embedded/privileges.ts'
import { asUser } from './as-user.ts'
import type { JobView, Mount } from './view.ts'

/** The command line in front of a program. `user` is null without root: the program then runs as the user of this process. */
export function namespaces({ mounts }: JobView, user: Owner | null): string[] {
  const [uid, gid] = [process.geteuid?.() ?? 0, process.getegid?.() ?? 0]
  // From a nested namespace nothing can be unmounted or written that is not so in the outer one.
  const nested = ['unshare', '--user', '--map-user', String(uid), '--map-group', String(gid), '--']
  const last = user === null ? nested : asUser(user)
  const limit = ['setpriv', '--pdeathsig', 'KILL', '--no-new-privs', '--']
  const mapped = user === null ? ['--user', '--map-root-user'] : []
  const unshare = ['unshare', ...mapped, '--mount', '--pid', '--ipc', '--fork', '--kill-child', '--']
  return [...limit, ...unshare, '/bin/sh', '-c', script(mounts), 'millrace-job', ...last]
}

/**
 * Builds the new root in the folder `root` of the job's folder, then makes it the root. It is process 1, and becomes the
 * program.
 */
const script = (mounts: readonly Mount[]): string => `
set -eu
umask 022
path=$PATH
PATH=$PATH:/usr/sbin:/sbin:/usr/bin:/bin
job=$(pwd -P)
mount -t tmpfs -o size=4m,mode=0755,nosuid,nodev none root
cd root
mkdir -p ${foldersOf(mounts).map(quote).join(' ')}
# In a user namespace the kernel keeps noexec and ro of the mounts of the machine, and a remount must repeat them.
bind() {
  mount -o "rbind,$3,nosuid,nodev" "$1" ".$2" 2>/dev/null ||
    mount -o "remount,bind,$3,nosuid,nodev,noexec" ".$2" 2>/dev/null ||
    mount -o remount,bind,ro,nosuid,nodev ".$2" 2>/dev/null ||
    mount -o remount,bind,ro,nosuid,nodev,noexec ".$2"
}
bind_optional() {
  if [ -d "$1" ]; then
    mkdir -p ".$2"
  elif [ -e "$1" ]; then
    mkdir -p ".\${2%/*}"
    [ -e ".$2" ] || : >".$2"
  else
    return 0
  fi
  bind "$1" "$2" "$3"
}
# Only the topmost mount of a folder has become read-only.
protect() {
  while read -r _ _ _ _ point flags _; do
    case $point in *\\\\*) point=$(printf "$point") ;; esac
    case $point in "$job/root$1"/*) ;; *) continue ;; esac
    case ,$flags, in *,ro,*) continue ;; esac
    kept=
    case ,$flags, in *,noexec,*) kept=,noexec ;; esac
    mount -o "remount,bind,ro,nosuid,nodev$kept" "$point"
  done </proc/self/mountinfo
}
${mounts.map(linesOf).join('\n')}
mkdir .old
pivot_root . .old
cd /
umount -l /.old
rmdir /.old
mount -o remount,bind,ro,nosuid,nodev /dev
mount -o remount,bind,ro,nosuid,nodev /
file=$(command -v "$1")
shift
PATH=$path
exec "$file" "$@"
`

function linesOf(mount: Mount): string {
  const to = quote(mount.to)
  const inside = quote(`.${mount.to}`)
  switch (mount.kind) {
    case 'shared': {
      const from = mount.from.startsWith('/') ? quote(mount.from) : `"$job"/${quote(mount.from)}`
      const access = mount.access === 'read' ? 'ro' : 'rw'
      const bind = `${mount.isOptional ? 'bind_optional' : 'bind'} ${from} ${to} ${access}`
      return mount.access === 'read' ? `${bind}; protect ${to}` : bind
    }
    case 'link':
      return `ln -s ${quote(mount.target)} ${inside}`
    case 'memory':
      return `mount -t tmpfs -o size=${mount.megabytes}m,mode=${mount.mode},nosuid,nodev none ${inside}`
    case 'processes':
      return `mount -t proc -o nosuid,nodev,noexec proc ${inside}`
    case 'devices':
      return devices(inside)
  }
}

const devices = (dev: string): string => `
mount -t tmpfs -o size=1m,mode=0755,nosuid none ${dev}
mkdir ${dev}/pts ${dev}/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,nosuid,noexec devpts ${dev}/pts
for name in null zero full random urandom tty; do
  : >${dev}/$name
  mount --bind /dev/$name ${dev}/$name
done
ln -s pts/ptmx ${dev}/ptmx
ln -s /proc/self/fd ${dev}/fd
ln -s /proc/self/fd/0 ${dev}/stdin
ln -s /proc/self/fd/1 ${dev}/stdout
ln -s /proc/self/fd/2 ${dev}/stderr
`

/** What is made before anything is mounted. Folders in /dev are made there. */
const foldersOf = (mounts: readonly Mount[]): string[] =>
  mounts.flatMap((mount) => {
    if (mount.to.startsWith('/dev/') || (mount.kind === 'shared' && mount.isOptional)) return []
    return [mount.kind === 'link' ? `.${dirname(mount.to)}` : `.${mount.to}`]
  })

const quote = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`
