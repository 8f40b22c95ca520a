// Receives the server's instructions: over the ping stream, or by polling if there is no stream or it is down.

import type { PingResponse } from '@millrace/protocol/agents.ts'
import type { StreamPingsResponse } from '@millrace/protocol/pings.ts'
import * as agents from '../api/agents.ts'
import type { Api } from '../http/call.ts'
import { untilSilence } from '../http/exchange.ts'
import { isPassing } from '../http/retry.ts'
import { keepHeaders, moveTo, openSession } from '../http/session.ts'
import type { PingMode } from '../settings.ts'
import type { Instruction, Mailbox } from './mailbox.ts'
import { followStream } from './stream.ts'

interface ChannelOptions {
  api: Api
  agentId: string
  pingIntervalSeconds: number
  mode: PingMode
  mailbox: Mailbox
  /** Ends the channel. */
  signal: AbortSignal
  /** Called with messages of the server for the agent's owner. */
  notify: (message: string) => void
}

interface Channel {
  /** Null after the timeout or another change. Throws if the server refuses the agent. */
  next(patienceMs: number): Promise<Instruction | null>
  /** Polls immediately. */
  pollNow(): void
  /**
   * Call it when the agent gave up a job that the server may still consider its own. The agent then pings, even with a
   * stream, until it gets a response. Only an idle agent pings, so the server takes the job back.
   */
  reportIdle(): void
}

/** How long to wait for the first message of a new stream before polling starts. */
const STREAM_START_MS = 1000

type StreamState = 'opening' | 'healthy' | 'unhealthy' | 'off'

export function openChannel(options: ChannelOptions): Channel {
  const { api, agentId, pingIntervalSeconds, mode, mailbox, signal, notify } = options
  const { clock, session } = api
  let stream: StreamState = mode === 'poll-only' ? 'off' : 'opening'
  let askAt = 0
  let knownEndpoint = ''
  let mustReportIdle = false

  if (mode !== 'poll-only') void follow()

  async function follow(): Promise<void> {
    const giveUpWaiting = setTimeout(() => {
      if (stream === 'opening') setStream('unhealthy')
    }, STREAM_START_MS)
    await followStream({
      session,
      agentId,
      clock,
      signal,
      onMessage: (message) => mailbox.put(instructionOf(message)),
      onHealth: (isHealthy) => setStream(isHealthy ? 'healthy' : 'unhealthy'),
    })
    clearTimeout(giveUpWaiting)
    setStream('off')
  }

  function setStream(state: StreamState): void {
    if (stream === state) return
    stream = state
    mailbox.wake()
  }

  const isListening = () => stream === 'opening' || stream === 'healthy' || mode === 'stream-only'

  /** Waits for the interval, pings, and puts the response into the mailbox. Ends early on another instruction. */
  async function poll(changed: Promise<void>): Promise<void> {
    const giveUp = new AbortController()
    const interrupted = changed.then(() => giveUp.abort())
    await Promise.race([clock.sleep(askAt - clock.now(), giveUp.signal), interrupted])
    if (giveUp.signal.aborted || signal.aborted) return
    const interval = pingIntervalSeconds * 1000
    askAt = clock.now() + interval + clock.random() * interval
    const silence = untilSilence(giveUp.signal)
    try {
      mailbox.put(readPing(await ping(AbortSignal.any([giveUp.signal, silence]))))
      mustReportIdle = false
    } catch (error) {
      if (!giveUp.signal.aborted && !isPassing(error)) throw error
    } finally {
      giveUp.abort()
    }
  }

  async function ping(giveUp: AbortSignal): Promise<PingResponse> {
    const answer = await agents.ping({ ...api, signal: giveUp })
    const { endpoint = '' } = answer
    if (endpoint === '' || endpoint === knownEndpoint || endpoint === session.endpoint) return answer
    knownEndpoint = endpoint
    try {
      const there = { ...api, session: openSession(endpoint, session.token, session.headers), signal: giveUp }
      const second = await agents.ping(there)
      moveTo(session, endpoint)
      return second
    } catch {
      notify(`The server wants us to move to ${endpoint}, but it does not answer there.`)
      return answer
    }
  }

  function readPing(answer: PingResponse): Instruction {
    keepHeaders(session, answer.request_headers)
    if (answer.message !== undefined && answer.message !== '') notify(answer.message)
    if (answer.action === 'disconnect') return { kind: 'disconnect', reason: answer.message ?? '' }
    if (answer.action === 'pause') return { kind: 'pause', reason: answer.message ?? '' }
    return answer.job ? { kind: 'job', jobId: answer.job.id } : { kind: 'idle' }
  }

  return {
    pollNow() {
      askAt = 0
    },
    reportIdle() {
      mustReportIdle = mode !== 'stream-only'
    },
    async next(patienceMs) {
      const taken = mailbox.take()
      if (taken) return taken
      if (mode === 'stream-only' && stream === 'off') throw new Error('The server has no ping stream.')
      const patience = new AbortController()
      const changed = Promise.race([mailbox.changed(), clock.sleep(patienceMs, patience.signal)])
      await (isListening() && !mustReportIdle ? changed : poll(changed))
      patience.abort()
      return mailbox.take()
    },
  }
}

function instructionOf(message: StreamPingsResponse): Instruction {
  switch (message.action) {
    case 'resume':
      return { kind: 'idle' }
    case 'job':
      return { kind: 'job', jobId: message.job_id }
    case 'pause':
      return { kind: 'pause', reason: message.reason }
    case 'disconnect':
      return { kind: 'disconnect', reason: message.reason }
  }
}
