// The ping stream: the server pushes instructions to an agent. A stream is healthy after its first message. A stream that
// ends normally is reopened immediately, one that fails after a growing delay.

import type { IncomingMessage } from 'node:http'
import { STREAM_PINGS_PATH } from '@millrace/protocol/pings.ts'
import type { StreamPingsResponse } from '@millrace/protocol/pings.ts'
import type { Clock } from '../clock.ts'
import { openRequest, untilSilence } from '../http/exchange.ts'
import type { Session } from '../http/session.ts'
import { USER_AGENT } from '../version.ts'
import { createFrameReader, encodeRequest } from './frames.ts'

interface StreamOptions {
  session: Session
  agentId: string
  clock: Clock
  signal: AbortSignal
  onMessage: (message: StreamPingsResponse) => void
  onHealth: (isHealthy: boolean) => void
}

type StreamEnd = 'stopped' | 'unsupported'

/** Refusals that are not worth a retry, in HTTP and gRPC codes. */
const UNSUPPORTED_STATUSES = new Set([401, 403, 404])
const UNSUPPORTED_CODES = new Set(['7', '12', '16'])
const LONGEST_WAIT_SECONDS = 64
/** Reopening the stream detects a connection that died silently. */
const STREAM_MS = 60_000

/** Runs until the signal aborts, or until the server answers that it has no such stream. */
export async function followStream(options: StreamOptions): Promise<StreamEnd> {
  const { clock, signal, onHealth } = options
  let windowSeconds = 1
  while (!signal.aborted) {
    const end = await readStream(options)
    if (end.kind === 'unsupported') return 'unsupported'
    if (end.hadMessage) windowSeconds = 1
    if (end.kind === 'clean' && end.hadMessage) continue
    onHealth(false)
    await clock.sleep(clock.random() * windowSeconds * 1000, signal)
    windowSeconds = Math.min(LONGEST_WAIT_SECONDS, windowSeconds * 2)
  }
  return 'stopped'
}

interface ReadEnd {
  kind: 'clean' | 'failed' | 'unsupported'
  hadMessage: boolean
}

function readStream({ session, agentId, signal, onMessage, onHealth }: StreamOptions): Promise<ReadEnd> {
  return new Promise((resolve) => {
    let hadMessage = false
    let isCut = false
    const body = encodeRequest(agentId)
    const request = openRequest(new URL(STREAM_PINGS_PATH, session.endpoint), {
      method: 'POST',
      agent: false,
      headers: {
        ...session.headers,
        'User-Agent': USER_AGENT,
        Authorization: `Token ${session.token}`,
        'Content-Type': 'application/grpc',
        'Content-Length': body.length,
        'Accept-Encoding': 'identity',
        TE: 'trailers',
      },
    })
    const cut = () => {
      isCut = true
      request.destroy()
    }
    const timer = setTimeout(cut, STREAM_MS)
    signal.addEventListener('abort', cut)
    const over = new AbortController()
    untilSilence(over.signal).addEventListener('abort', cut)
    const finish = (kind: ReadEnd['kind']) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', cut)
      over.abort()
      request.destroy()
      resolve({ kind, hadMessage })
    }
    const read = createFrameReader()
    request.on('error', () => finish(isCut ? 'clean' : 'failed'))
    request.on('response', (response) => {
      const refused = refusalOf(response)
      if (refused) {
        finish(refused)
        return
      }
      response.on('data', (bytes: Buffer) => {
        try {
          for (const message of read(bytes)) {
            hadMessage = true
            onHealth(true)
            onMessage(message)
          }
        } catch {
          finish('failed')
        }
      })
      response.on('error', () => finish(isCut ? 'clean' : 'failed'))
      response.on('close', () => finish(isCut ? 'clean' : 'failed'))
      response.on('end', () => finish(endOf(response.trailers['grpc-status'] ?? '')))
    })
    request.end(body)
  })
}

function refusalOf(response: IncomingMessage): 'failed' | 'unsupported' | null {
  const { statusCode = 0, headers } = response
  if (UNSUPPORTED_STATUSES.has(statusCode)) return 'unsupported'
  const isGrpc = (headers['content-type'] ?? '').startsWith('application/grpc')
  if (statusCode !== 200 || !isGrpc) return 'failed'
  const code = headers['grpc-status']
  return code === undefined ? null : endOf(String(code)) === 'unsupported' ? 'unsupported' : null
}

function endOf(code: string): ReadEnd['kind'] {
  if (UNSUPPORTED_CODES.has(code)) return 'unsupported'
  return code === '0' ? 'clean' : 'failed'
}
