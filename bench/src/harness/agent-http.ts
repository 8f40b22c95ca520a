// Simulated agents that run nothing: each takes one job after the other until there are none.
import { Agent, request } from 'node:http'

const connections = new Agent({ keepAlive: true })

/** One request of the agent API. Throws if it is refused. */
export function callAgentApi<T>(
  address: string,
  token: string,
  method: string,
  path: string,
  sent: { json?: unknown; gzipped?: Buffer; connection?: Agent } = {},
): Promise<T> {
  const body = sent.gzipped ?? Buffer.from(sent.json === undefined ? '' : JSON.stringify(sent.json))
  const headers = {
    Authorization: `Token ${token}`,
    'Content-Length': body.length,
    ...(sent.gzipped === undefined ? {} : { 'Content-Encoding': 'gzip' }),
  }
  return new Promise((resolve, reject) => {
    const asked = request(
      `${address}/v3/${path}`,
      { method, agent: sent.connection ?? connections, headers },
      (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('error', reject)
        answer.on('end', () => {
          const text = Buffer.concat(parts).toString()
          if (answer.statusCode === 200) resolve(JSON.parse(text) as T)
          else reject(new Error(`${method} ${path}: ${answer.statusCode} ${text}`))
        })
      },
    )
    asked.on('error', reject)
    asked.end(body)
  })
}

export interface Session {
  id: string
  token: string
  heartbeatSeconds: number
}

export async function connectAgent(address: string, registrationToken: string): Promise<Session> {
  const json = { name: 'bench-%random', meta_data: ['queue=default'], features: [] }
  const { id, access_token, heartbeat_interval } = await callAgentApi<{
    id: string
    access_token: string
    heartbeat_interval: number
  }>(address, registrationToken, 'POST', 'register', { json })
  await callAgentApi(address, access_token, 'POST', 'connect')
  return { id, token: access_token, heartbeatSeconds: heartbeat_interval }
}
