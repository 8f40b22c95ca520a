import type {
  HeartbeatRequest,
  HeartbeatResponse,
  PauseRequest,
  PingResponse,
  RegisterRequest,
  RegisterResponse,
  StopRequest,
} from '@millrace/protocol/agents.ts'
import { ask, send } from '../http/call.ts'
import type { Api } from '../http/call.ts'

export function register(api: Api, json: RegisterRequest): Promise<RegisterResponse> {
  return ask(api, 'register', { method: 'POST', path: 'register', json })
}

export async function connect(api: Api): Promise<void> {
  await send(api, 'connect', { method: 'POST', path: 'connect' })
}

export async function disconnect(api: Api): Promise<void> {
  await send(api, 'disconnect', { method: 'POST', path: 'disconnect' })
}

export function ping(api: Api): Promise<PingResponse> {
  return ask(api, 'ping', { method: 'GET', path: 'ping' })
}

export function heartbeat(api: Api): Promise<HeartbeatResponse> {
  const json: HeartbeatRequest = { sent_at: new Date(api.clock.now()).toISOString() }
  return ask(api, 'heartbeat', { method: 'POST', path: 'heartbeat', json })
}

export async function stop(api: Api, json: StopRequest): Promise<void> {
  await send(api, 'agentControl', { method: 'POST', path: 'stop', json })
}

export async function pause(api: Api, json: PauseRequest): Promise<void> {
  await send(api, 'agentControl', { method: 'POST', path: 'pause', json })
}

export async function resume(api: Api): Promise<void> {
  await send(api, 'agentControl', { method: 'POST', path: 'resume' })
}
