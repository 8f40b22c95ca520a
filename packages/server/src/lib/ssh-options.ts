// How the server connects with ssh: to an address that was checked, without questions, with the operator's keys or one of ours.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface SshTarget {
  host: string
  /** null: the usual one. */
  port: string | null
  /** The one of `host` that was checked. */
  address: string
  /** null: the operator's keys. */
  keyFile: string | null
}

export const sshOptions = ({ host, port, address, keyFile }: SshTarget): string[] => [
  ...(keyFile === null ? [] : ['-F', '/dev/null', '-i', keyFile]),
  ...[
    'BatchMode=yes',
    'StrictHostKeyChecking=accept-new',
    'ConnectTimeout=10',
    `HostName=${address}`,
    // As ssh names it in known_hosts: servers at other ports of the host have other keys.
    `HostKeyAlias=${port === null || port === '22' ? host : `[${host}]:${port}`}`,
    'ServerAliveInterval=15',
    ...(keyFile === null ? [] : ['IdentitiesOnly=yes', 'IdentityAgent=none']),
  ].flatMap((option) => ['-o', option]),
]

/** A file that ssh reads before it has signed in. */
export async function writeKeyFile(
  privateKey: string,
): Promise<{ keyFile: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-key-'))
  const keyFile = join(folder, 'key')
  await writeFile(keyFile, privateKey, { mode: 0o600 })
  return { keyFile, remove: () => rm(folder, { recursive: true, force: true }) }
}
