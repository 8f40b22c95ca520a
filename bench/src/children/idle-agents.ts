// Idle agents as the server sees them: each has one connection for its ping stream, which it reopens when it ends, and
// another one for its heartbeats. Sends a message when all have opened their streams.
import { Agent, request } from 'node:http'
import { STREAM_PINGS_PATH } from '@millrace/protocol/pings.ts'
import { encodeRequest } from '@millrace/agent/worker/frames.ts'
import { callAgentApi, connectAgent, type Session } from '../harness/agent-http.ts'
import { send } from '../../../testbed/dist/children.js'

const { BENCH_URL: url = '', BENCH_TOKEN: token = '', BENCH_AGENTS = '0' } = process.env
const count = Number(BENCH_AGENTS)
const registeringAtOnce = 20

let registered = 0
/** Heartbeats without an answer. */
let failed = 0

await Promise.all(
  Array.from({ length: registeringAtOnce }, async () => {
    while (registered < count) {
      registered++
      const agent = await connectAgent(url, token)
      void keepBeating(agent)
      await openStream(agent)
    }
  }),
)
send('ready')
process.on('message', () => send(failed))

async function keepBeating({ token: session, heartbeatSeconds }: Session): Promise<void> {
  const connection = new Agent({ keepAlive: true, maxSockets: 1 })
  // Heartbeats of agents that have run for long are spread evenly.
  let waitMs = Math.random() * heartbeatSeconds * 1000
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    waitMs = heartbeatSeconds * 1000
    const json = { sent_at: new Date().toISOString() }
    await callAgentApi(url, session, 'POST', 'heartbeat', { json, connection }).catch(() => failed++)
  }
}

/** Resolves with the first message. Like a runner, it tries again a moment after an error. */
function openStream(agent: Session): Promise<void> {
  const body = encodeRequest(agent.id)
  const headers = {
    Authorization: `Token ${agent.token}`,
    'Content-Type': 'application/grpc',
    'Content-Length': body.length,
    TE: 'trailers',
  }
  return new Promise((resolve, reject) => {
    const asked = request(new URL(STREAM_PINGS_PATH, url), { method: 'POST', agent: false, headers })
    const again = () => setTimeout(() => void openStream(agent).then(resolve, reject), Math.random() * 1000)
    asked.once('error', again)
    asked.on('response', (answer) => {
      asked.off('error', again)
      asked.on('error', () => {})
      if (answer.statusCode !== 200) reject(new Error(`The stream was answered with ${answer.statusCode}.`))
      answer.once('data', () => resolve())
      answer.on('error', () => {})
      answer.on('close', () => void openStream(agent))
      answer.resume()
    })
    asked.end(body)
  })
}
