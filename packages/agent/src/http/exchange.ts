// One HTTP request and its complete response, over kept-alive connections. Never follows a redirect.

import { setMaxListeners } from 'node:events'
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http'
import { httpsConnections, openHttpsRequest } from './https.ts'

/** The limits of a request. */
export interface Wait {
  /** Until the whole answer. */
  answerMs?: number
  /** Without any byte in either direction. Then there is no limit for the whole. */
  stallMs?: number
}

interface Exchange {
  method: string
  url: URL
  headers: Record<string, string>
  body: Buffer
  wait: Wait
  signal?: AbortSignal | undefined
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/** No response, or only part of one. */
export class NoAnswer extends Error {
  readonly code: string
  constructor(message: string, code: string) {
    super(message)
    this.name = 'NoAnswer'
    this.code = code
  }
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024

const httpConnections = new HttpAgent({ keepAlive: true })

/** When this process last received an answer. */
let heardAt = 0

const silence = new EventTarget()
setMaxListeners(0, silence)

/**
 * Aborts when a request had no answer in time and no other request had one since it began: then the network dropped
 * packets, and other connections may have died with it.
 */
export function untilSilence(end: AbortSignal): AbortSignal {
  const controller = new AbortController()
  silence.addEventListener('silence', () => controller.abort(), { once: true, signal: end })
  return controller.signal
}

function reportSilence(): void {
  // Later requests open new connections.
  for (const { freeSockets } of [httpConnections, ...httpsConnections()])
    for (const socket of Object.values(freeSockets).flatMap((sockets) => sockets ?? [])) socket.destroy()
  silence.dispatchEvent(new Event('silence'))
}

/** Throws NoAnswer for every network error. */
export async function exchange(asked: Exchange): Promise<Answer> {
  try {
    return await attempt(asked)
  } catch (error) {
    // The server may close an idle connection just as it is reused. The other idle ones are then closed too.
    if (!(error instanceof StaleConnection)) throw error
    return await attempt(asked, { agent: false })
  }
}

/** Starts a request and returns immediately; for streams in either direction. */
export function openRequest(url: URL, options: RequestOptions): ClientRequest {
  if (url.protocol === 'https:') return openHttpsRequest(url, options)
  return httpRequest(url, { agent: httpConnections, ...options })
}

class StaleConnection extends NoAnswer {}

function attempt(
  { method, url, headers, body, wait, signal }: Exchange,
  connection: RequestOptions = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sized =
      method === 'GET' || method === 'DELETE'
        ? headers
        : { ...headers, 'Content-Length': String(body.length) }
    const request = openRequest(url, { method, headers: sized, ...connection })
    const startedAt = performance.now()
    const giveUp = () => {
      if (heardAt < startedAt) reportSilence()
      request.destroy(new NoAnswer('no answer in time', 'ETIMEDOUT'))
    }
    const timer = wait.answerMs === undefined ? undefined : setTimeout(giveUp, wait.answerMs)
    // Node counts bytes that the network takes as activity.
    if (wait.stallMs !== undefined) request.setTimeout(wait.stallMs, giveUp)
    const abort = () => request.destroy(new NoAnswer('given up', 'ABORT_ERR'))
    const cleanUp = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    let hasAnswer = false
    const fail = (error: Error) => {
      cleanUp()
      const code = codeOf(error)
      const isStale = request.reusedSocket && !hasAnswer && (code === 'ECONNRESET' || code === 'EPIPE')
      reject(isStale ? new StaleConnection(error.message, code) : new NoAnswer(error.message || code, code))
    }
    request.on('error', fail)
    request.on('response', (response) => {
      hasAnswer = true
      heardAt = performance.now()
      readAll(response, MAX_ANSWER_BYTES).then((bytes) => {
        cleanUp()
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: bytes })
      }, fail)
    })
    if (signal?.aborted === true) abort()
    else signal?.addEventListener('abort', abort)
    request.end(body)
  })
}

export async function readAll(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of response as AsyncIterable<Buffer>) {
    size += part.length
    if (size > maxBytes) throw new NoAnswer('the answer is too large', 'EMSGSIZE')
    parts.push(part)
  }
  return Buffer.concat(parts)
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'EUNKNOWN'
}
