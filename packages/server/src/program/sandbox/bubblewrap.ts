// Makes a sandbox with bubblewrap.
import { dirname } from 'node:path'
import type { Owner } from '../../db/embedded/privileges.ts'
import { asUser } from './as-user.ts'
import type { JobView, Mount } from './view.ts'

/** The command line in front of a program. `user` is null without root: the program then runs as the user of this process. */
export function bubblewrap({ mounts }: JobView, user: Owner | null): string[] {
  // With root the program gets another user instead.
  const mapped = user === null ? ['--unshare-user'] : []
  const options = mounts.flatMap((mount) => [...makeParents(mount.to), ...optionsOf(mount)])
  const closed = ['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', '/', '--']
  return ['bwrap', ...mapped, ...separate, ...options, ...closed, ...(user === null ? [] : asUser(user))]
}

const separate = ['--unshare-pid', '--unshare-ipc', '--as-pid-1', '--die-with-parent']

/** Bubblewrap makes missing folders for its own user only. */
const makeParents = (path: string): string[] =>
  parentsOf(path).flatMap((parent) => ['--perms', '0755', '--dir', parent])

function parentsOf(path: string): string[] {
  const parent = dirname(path)
  return parent === '/' ? [] : [...parentsOf(parent), parent]
}

function optionsOf(mount: Mount): string[] {
  switch (mount.kind) {
    case 'shared': {
      const flag = `${mount.access === 'read' ? '--ro-bind' : '--bind'}${mount.isOptional ? '-try' : ''}`
      return [flag, mount.from, mount.to]
    }
    case 'link':
      return ['--symlink', mount.target, mount.to]
    case 'memory':
      return `--perms ${mount.mode} --size ${mount.megabytes * 1024 * 1024} --tmpfs ${mount.to}`.split(' ')
    case 'processes':
      return ['--proc', mount.to]
    case 'devices':
      return ['--dev', mount.to]
  }
}
