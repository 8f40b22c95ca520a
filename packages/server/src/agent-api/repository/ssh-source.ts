// Reads a repository over ssh with the deploy key of its pipeline. Each request is a connection of its own, because version 2 of
// git's protocol keeps nothing between requests.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { Context } from '../../context.ts'
import { OutboundError } from '../../lib/outbound.ts'
import { findReachable, unreachable } from '../../lib/reachable.ts'
import type { SshAddress } from '../../lib/ssh-address.ts'
import { sshOptions, writeKeyFile } from '../../lib/ssh-options.ts'
import { isVersion2, splitAtFlush } from '../../source-hosts/pkt-lines.ts'

const answerMs = 30_000
/** A host that packs a large repository says nothing for a while. */
const silenceMs = 60_000
const mostAdvertisedBytes = 64 * 1024
const keptErrorBytes = 4096

export interface SshReading {
  address: SshAddress
  privateKey: string
}

/** What the host can do, in front of the answers to requests. */
interface Opened {
  advertised: Buffer
  /** Sends the request, and returns the answer, which fails when the host is silent for too long. */
  send(request: Buffer, longestMs?: number): Readable
  end(): void
}

export async function openSsh(
  ctx: Context,
  { address: { user, host, port, path }, privateKey }: SshReading,
  signal: AbortSignal,
): Promise<Opened> {
  const address = await findReachable(host, ctx.config.outboundAllow.join(' '))
  if (address === null) throw new OutboundError('refused', unreachable(host))
  const { keyFile, remove } = await writeKeyFile(privateKey)
  try {
    const child = spawn(
      'ssh',
      [
        ...sshOptions({ host, port, address, keyFile }),
        '-T',
        '-o',
        'SendEnv=GIT_PROTOCOL',
        ...(port === null ? [] : ['-p', port]),
        '--',
        user === null ? host : `${user}@${host}`,
        `git-upload-pack ${quote(path)}`,
      ],
      {
        stdio: ['pipe', 'pipe', 'pipe'],
        env: {
          PATH: process.env['PATH'] ?? '',
          HOME: process.env['HOME'] ?? '/',
          LC_ALL: 'C',
          GIT_PROTOCOL: 'version=2',
        },
      },
    )
    const end = () => void child.kill('SIGKILL')
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { once: true })
    const timer = setTimeout(end, answerMs)
    // A program that cannot be started ends with an error.
    const closed = once(child, 'close').catch(() => {})
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-keptErrorBytes)
    })
    // It may have ended.
    child.stdin.on('error', () => {})
    const failed = new Promise<never>((_, reject) => {
      child.on('error', (error) =>
        reject(new OutboundError('failed', `ssh cannot be started: ${error.message}`)),
      )
    })
    failed.catch(() => {})
    const output = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    const { advertised, rest } = await Promise.race([readAdvertised(output), failed]).finally(() =>
      clearTimeout(timer),
    )
    if (advertised === null || !isVersion2(advertised)) {
      end()
      await closed
      throw new OutboundError('failed', advertised === null ? explain(said) : tooOld)
    }
    return {
      advertised,
      end,
      send(request, longestMs = silenceMs) {
        child.stdin.end(request)
        return Readable.from(following(rest, output, { longestMs, end })).on('close', end)
      },
    }
  } finally {
    await remove()
  }
}

async function readAdvertised(
  output: AsyncIterator<Buffer>,
): Promise<{ advertised: Buffer | null; rest: Buffer }> {
  let read = Buffer.alloc(0)
  while (read.length <= mostAdvertisedBytes) {
    const split = splitAtFlush(read)
    if (split !== null) return { advertised: split[0], rest: split[1] }
    const { done, value } = await output.next()
    if (done === true) break
    read = Buffer.concat([read, value])
  }
  return { advertised: null, rest: read }
}

interface Silence {
  longestMs: number
  end(): void
}

/** The time counts only while the host is to send something, not while the job reads slowly. */
async function* following(
  first: Buffer,
  output: AsyncIterator<Buffer>,
  { longestMs, end }: Silence,
): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first
  for (;;) {
    let isSilent = false
    const timer = setTimeout(() => {
      isSilent = true
      end()
    }, longestMs)
    const { done, value } = await output.next().finally(() => clearTimeout(timer))
    if (isSilent) throw new OutboundError('failed', 'The host sent nothing for too long.')
    if (done === true) return
    yield value
  }
}

const quote = (path: string) => `'${path.replaceAll("'", String.raw`'\''`)}'`

const tooOld =
  'The ssh server does not use version 2 of git’s protocol; with OpenSSH, its configuration needs AcceptEnv GIT_PROTOCOL.'

/** The last line of what ssh said. */
function explain(said: string): string {
  const last = said.trim().split('\n').at(-1)?.slice(0, 300) ?? ''
  return `The deploy key did not open the repository: ${last || 'the connection ended without a word'}`
}
