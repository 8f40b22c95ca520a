// Lists the branches and tags of a repository with git. Everybody who may edit a pipeline chooses the address, so it is
// checked first, and git connects to the checked address only.
import { spawn } from 'node:child_process'
import { realpath } from 'node:fs/promises'
import { isIP } from 'node:net'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isInRanges } from '../lib/ip-ranges.ts'
import { findReachable, unreachable, type Resolve } from '../lib/reachable.ts'
import { sshOptions, writeKeyFile } from '../lib/ssh-options.ts'

interface LsRemoteOptions {
  /** Ranges that may be reached although they are not public, separated by spaces. */
  allow: string
  /** Directories whose repositories may be read. */
  directories: readonly string[]
  /** Whether ssh may use the keys of this process's user; false when absent. */
  mayUseSshKeys?: boolean
  /** A private key for ssh, instead of those. */
  sshKey?: string | null
  /** Sent over TLS, or to an address that `allow` names. */
  credentials: { username: string; password: string } | null
  resolve?: Resolve
  timeoutMs?: number
}

export type RemoteRefs =
  | {
      ok: true
      refs: Map<string, string>
      /** The objects of annotated tags, by refs. */
      tagObjects: Map<string, string>
    }
  | {
      ok: false
      reason: string
      /** The host has not answered at all, or too slowly. */
      isSilent?: boolean
    }

const mostOutputBytes = 32 * 1024 * 1024
const keptErrorBytes = 4096

export async function lsRemote(repository: string, options: LsRemoteOptions): Promise<RemoteRefs> {
  const key = options.sshKey ? await writeKeyFile(options.sshKey) : null
  try {
    const remote = await findRemote(repository, options, key?.keyFile ?? null)
    if ('reason' in remote) return { ok: false, reason: remote.reason }
    const result = await runGit(remote, options.timeoutMs ?? 20_000)
    if (result.ok) {
      const { output } = result
      return { ok: true, refs: readRefs(output), tagObjects: readTagObjects(output) }
    }
    return remote.withholds ? { ...result, reason: `${result.reason} ${notOverHttp}` } : result
  } finally {
    await key?.remove()
  }
}

/** Commits by refs; for an annotated tag, the commit it points to. */
export function readRefs(output: string): Map<string, string> {
  return new Map(readLines(output).map(({ ref, object }) => [ref, object]))
}

/** The line of a tag's object comes before the one of its commit. */
function readTagObjects(output: string): Map<string, string> {
  const lines = readLines(output)
  return new Map(
    lines.flatMap(({ ref, isPeeled }, index) => {
      const before = lines[index - 1]
      return isPeeled && before?.ref === ref ? [[ref, before.object] as const] : []
    }),
  )
}

const readLines = (output: string) =>
  output.split('\n').flatMap((line) => {
    const match =
      /^(?!0+\t)([0-9a-f]{40}|[0-9a-f]{64})\t(refs\/(?:heads\/[^\s^]+$|tags\/[^\s^]+))(\^\{\})?$/.exec(line)
    return match === null
      ? []
      : [{ ref: match[2] ?? '', object: match[1] ?? '', isPeeled: match[3] !== undefined }]
  })

const notOverHttp =
  'The credentials of the connection were not sent: over plain http they go only to addresses that MILLRACE_OUTBOUND_ALLOW names.'

interface Remote {
  /** There are credentials, but not for this address. */
  withholds?: boolean
  url: string
  protocol: string
  config: Record<string, string>
  env: Record<string, string>
}

async function findRemote(
  repository: string,
  options: LsRemoteOptions,
  keyFile: string | null,
): Promise<Remote | { reason: string }> {
  const url = readUrl(repository)
  if (url === null) return findDirectory(repository, options.directories)
  if (!/^[a-z0-9.-]+$/i.test(url.hostname))
    return { reason: 'The address of the repository has no usable host.' }
  const address = await findReachable(url.hostname, options.allow, options.resolve)
  if (address === null) return { reason: unreachable(url.hostname) }
  const protocol = url.protocol.slice(0, -1)
  if (protocol === 'ssh' && keyFile === null && options.mayUseSshKeys !== true) return { reason: noSshKeys }
  if (protocol === 'ssh') {
    return viaSsh(repository, { host: url.hostname, port: url.port || null, address, keyFile })
  }
  if (protocol === 'git') {
    const there = new URL(url)
    there.hostname = isIP(address) === 6 ? `[${address}]` : address
    return { url: there.href, protocol, config: {}, env: {} }
  }
  return viaHttp(url, address, options)
}

/** `git@host:path` is ssh; null: not the address of a host. */
function readUrl(repository: string): URL | null {
  const scp = /^(?:([\w.-]+)@)?([\w.-]+):(?!\/\/|:)/.exec(repository)
  if (scp !== null && !repository.includes('://')) {
    return new URL(`ssh://${scp[1] === undefined ? '' : `${scp[1]}@`}${scp[2]}/`)
  }
  const url = URL.canParse(repository) ? new URL(repository) : null
  return url !== null && ['https:', 'http:', 'ssh:', 'git:'].includes(url.protocol) ? url : null
}

const noSshKeys =
  'The ssh keys of the server belong to its operator. Make a deploy key for the pipeline, use an https address and connect the repository, or ask the operator to name this organization in MILLRACE_POLL_SSH_ORGANIZATIONS.'

function viaSsh(url: string, target: Parameters<typeof sshOptions>[0]): Remote {
  const command = ['ssh', ...sshOptions(target).map((option) => `'${option}'`)].join(' ')
  const env = { HOME: process.env['HOME'] ?? '/', GIT_SSH_COMMAND: command, GIT_SSH_VARIANT: 'ssh' }
  return { url, protocol: 'ssh', config: {}, env }
}

function viaHttp(url: URL, address: string, { credentials, allow }: LsRemoteOptions): Remote {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const shown = isIP(address) === 6 ? `[${address}]` : address
  const isSafe = url.protocol === 'https:' || isInRanges(address, allow)
  const sends = credentials !== null && isSafe && url.username === ''
  const pair = sends ? Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64') : ''
  return {
    url: url.href,
    protocol: url.protocol.slice(0, -1),
    withholds: credentials !== null && !isSafe,
    config: {
      'http.curloptResolve': `${url.hostname}:${port}:${shown}`,
      'http.followRedirects': 'false',
      ...(sends ? { 'http.extraHeader': `Authorization: Basic ${pair}` } : {}),
    },
    env: {},
  }
}

async function findDirectory(
  repository: string,
  directories: readonly string[],
): Promise<Remote | { reason: string }> {
  const refused = {
    reason:
      'The repository is not at an https, http, ssh or git address. The operator can allow directories with MILLRACE_POLL_DIRECTORIES.',
  }
  const path = repository.startsWith('file://') ? pathOf(repository) : repository
  if (!path.startsWith('/')) return refused
  // A link could lead out of the allowed directories.
  const real = await realpath(path).catch(() => null)
  const allowed = await Promise.all(directories.map((directory) => realpath(directory).catch(() => null)))
  const isWithin = allowed.some((directory) => directory !== null && real?.startsWith(directory + sep))
  if (real === null || !isWithin) return refused
  return { url: real, protocol: 'file', config: { 'safe.directory': '*' }, env: {} }
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url)
  } catch {
    return ''
  }
}

type Output = { ok: true; output: string } | { ok: false; reason: string; isSilent: boolean }

/** Git gets only PATH of the operator's environment, so it finds no passwords in their home. */
function runGit({ url, protocol, config, env }: Remote, timeoutMs: number): Promise<Output> {
  const settings = Object.entries({ 'credential.helper': '', ...config })
  const child = spawn('git', ['ls-remote', '--heads', '--tags', '--', url], {
    // In a process group of its own, so that the programs git starts end with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: '/dev/null',
      LC_ALL: 'C',
      GIT_TERMINAL_PROMPT: '0',
      GIT_ASKPASS: 'true',
      SSH_ASKPASS: 'true',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_ALLOW_PROTOCOL: protocol,
      GIT_CONFIG_COUNT: String(settings.length),
      ...Object.fromEntries(
        settings.flatMap(([key, value], index) => [
          [`GIT_CONFIG_KEY_${index}`, key],
          [`GIT_CONFIG_VALUE_${index}`, value],
        ]),
      ),
      ...env,
    },
  })
  return new Promise((done) => {
    const chunks: Buffer[] = []
    let size = 0
    let said = ''
    let refusal: string | null = null
    const stop = (reason: string) => {
      refusal ??= reason
      endGroup(child.pid)
    }
    let isSilent = false
    const timer = setTimeout(() => {
      isSilent = true
      stop(`No answer within ${timeoutMs / 1000} seconds.`)
    }, timeoutMs)
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > mostOutputBytes) stop('The repository has too many branches and tags.')
      else chunks.push(chunk)
    })
    child.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-keptErrorBytes)
    })
    child.on('error', (error) => stop(`git cannot be started: ${error.message}`))
    child.on('close', (code) => {
      clearTimeout(timer)
      const failure = refusal ?? (code === 0 ? null : explain(said))
      done(
        failure === null
          ? { ok: true, output: Buffer.concat(chunks).toString() }
          : { ok: false, reason: failure, isSilent },
      )
    })
  })
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The process has already ended.
  }
}

/** The last line of git's output, without a password. */
function explain(said: string): string {
  const lines = said
    .trim()
    .split('\n')
    .filter((line) => /^(fatal|error|ssh|.*denied)/i.test(line))
  // ssh has said why before.
  const last = lines.findLast((line) => !line.includes('Could not read from remote')) ?? lines.at(-1)
  const words = (last ?? said.trim().split('\n').at(-1) ?? '').replace(/:\/\/[^@/\s]*@/g, '://').slice(0, 300)
  return `git could not ask the repository: ${words || 'it did not say why'}`
}
