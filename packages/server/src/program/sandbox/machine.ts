// Reads what the sandbox of a job depends on.
import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { programPackages } from '../../hosted/runner.ts'
import type { MachineFacts, SystemEntry } from './view.ts'

/** Without /opt if one of the server's `own` folders is there: it often has whole installations. */
export async function readMachine(
  common: string,
  inherited: Record<string, string>,
  own: readonly string[],
): Promise<MachineFacts> {
  const system = readdirSync('/')
    .filter((name) => /^(usr|bin|sbin|lib.*|etc|opt|nix)$/.test(name))
    .filter((name) => name !== 'opt' || !own.some((path) => isWithin(path, '/opt')))
    .sort()
    .map((name): SystemEntry => {
      const path = `/${name}`
      return lstatSync(path).isSymbolicLink()
        ? { path, kind: 'link', target: readlinkSync(path) }
        : { path, kind: 'folder' }
    })
  const folders = system.filter(({ kind }) => kind === 'folder').map(({ path }) => path)
  const isThere = (path: string) => folders.some((folder) => isWithin(path, folder))
  const needed = [...nodeInstallation(), ...linkedSettings(), ...certificates(inherited)]
  const alsoRead = [...new Set(needed)].filter((path) => existsSync(path) && !isThere(path))
  const packages = [...(await programPackages())]
  const program = packages.map(([name, folder]) => [name, realpathSync(folder)] as const)
  return { common, system, alsoRead, program }
}

export const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.replace(/\/?$/, '/'))

/** Not the whole prefix, because that may be a home. */
function nodeInstallation(): string[] {
  const node = process.execPath
  if (basename(dirname(node)) !== 'bin') return [node]
  const prefix = dirname(dirname(node))
  return ['bin', 'lib/node_modules', 'include/node'].map((name) => join(prefix, name))
}

/** Files of /etc that are links to somewhere else, such as /run/systemd/resolve. */
function linkedSettings(): string[] {
  const names = ['resolv.conf', 'hosts', 'nsswitch.conf', 'passwd', 'group', 'localtime']
  return names.flatMap((name) => {
    try {
      return [realpathSync(join('/etc', name))]
    } catch {
      return []
    }
  })
}

const certificates = (inherited: Record<string, string>): string[] =>
  ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'].flatMap((name) => inherited[name] ?? [])
