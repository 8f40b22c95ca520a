// Pauses, resumes and stops agents.
import type { Agent } from '@millrace/server/wire.ts'
import { print } from '../../command.ts'
import { Refused } from '../../refused.ts'
import { listAll, openApi, type Api } from '../api.ts'
import type { ClientOptions } from '../command.ts'
import { oneLine } from '../text.ts'

export interface PauseOptions extends ClientOptions {
  note?: string
  minutes?: number
}

export async function pauseAgents(names: readonly string[], options: PauseOptions): Promise<void> {
  const { note, minutes } = options
  await actOn(names, options, 'pause', 'is paused', {
    ...(note === undefined ? {} : { note }),
    ...(minutes === undefined ? {} : { timeout_in_minutes: minutes }),
  })
}

export async function resumeAgents(names: readonly string[], options: ClientOptions): Promise<void> {
  await actOn(names, options, 'resume', 'takes jobs again')
}

export async function stopAgents(
  names: readonly string[],
  options: ClientOptions & { force?: true },
): Promise<void> {
  const done = options.force ? 'stops, and its job is canceled' : 'stops after its job'
  await actOn(names, options, 'stop', done, { force: options.force ?? false })
}

/** All names are looked up before anything is changed. */
async function actOn(
  names: readonly string[],
  options: ClientOptions,
  action: string,
  done: string,
  body?: object,
): Promise<void> {
  const api = await openApi(options)
  const agents = await Promise.all(names.map((name) => findAgent(api, name)))
  for (const { id } of agents) await api.put(`agents/${id}/${action}`, body)
  const changed = await Promise.all(agents.map(({ id }) => api.get<Agent>(`agents/${id}`)))
  print(options, changed, changed.map(({ name }) => `${oneLine(name)} ${done}.`).join('\n'))
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

async function findAgent(api: Api, given: string): Promise<Agent> {
  if (UUID.test(given)) return api.get<Agent>(`agents/${given}`)
  const agents = await listAll(api.pages<Agent>(`agents?name=${encodeURIComponent(given)}`))
  const [only, ...others] = agents
  if (only !== undefined && others.length === 0) return only
  if (only !== undefined) {
    throw new Refused(
      `Several agents are called ${given}: name one by its id, ${agents.map(({ id }) => id).join(' or ')}.`,
    )
  }
  const connected = await listAll(api.pages<Agent>('agents'), 21)
  const known = connected.slice(0, 20).map(({ name }) => oneLine(name))
  const more = connected.length > known.length ? ', and more: see millrace agent list' : ''
  throw new Refused(
    known.length === 0
      ? `There is no agent ${given}: no agent is connected.`
      : `There is no connected agent ${given}, but ${known.join(', ')}${more}.`,
  )
}
