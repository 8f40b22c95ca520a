// Connects a new pipeline to the host of its repository: finds the repository through the organization's connections, creates the
// webhook, and waits for its first delivery.
import { setTimeout as pause } from 'node:timers/promises'
import type { Repository, RepositoryConnection, RepositoryHealth } from '@millrace/server/wire.ts'
import { Refused } from '../../refused.ts'
import { listAll, type Api } from '../api.ts'
import { RefusedByServer } from '../failures.ts'
import { oneLine } from '../text.ts'

/** `owner/name`, as the host shows it, is no address. */
const isFullName = (text: string) => /^[\w.-]+(?:\/[\w.-]+)+$/.test(text)

/** An address stays as it is. A full name is looked up at the hosts that the organization has connected. */
export async function findRepository(
  api: Api,
  given: string,
): Promise<Pick<Repository, 'clone_url' | 'default_branch'>> {
  if (!isFullName(given)) return { clone_url: given, default_branch: null }
  const connections = await listAll(api.pages<RepositoryConnection>('repository_connections'))
  const found: Repository[] = []
  const problems: string[] = []
  for (const { id, display_name: name } of connections) {
    const query = `repository=${encodeURIComponent(given)}&workspace=${encodeURIComponent(given.split('/')[0] ?? '')}`
    try {
      found.push(...(await api.get<Repository[]>(`repository_connections/${id}/repositories?${query}`)))
    } catch (error) {
      if (!(error instanceof RefusedByServer)) throw error
      problems.push(`${oneLine(name)}: ${error.message}`)
    }
  }
  const [only, ...others] = found
  if (only !== undefined && others.length === 0) return only
  if (only !== undefined) {
    const addresses = found.map(({ clone_url }) => oneLine(clone_url)).join(', ')
    throw new Refused(`Several hosts have ${given}: ${addresses}. Name one with --repository.`)
  }
  const reason = connections.length === 0 ? ': the organization has none' : ''
  throw new Refused([`No connection sees a repository ${given}${reason}.`, ...problems].join('\n'))
}

interface Wait {
  seconds: number
  say: (text: string) => void
}

interface Connected {
  health: RepositoryHealth
  /** One line; the command fails with it unless it is `isGood`. */
  text: string
  isGood: boolean
}

export async function connectPipeline(api: Api, slug: string, { seconds, say }: Wait): Promise<Connected> {
  const pipeline = `pipelines/${encodeURIComponent(slug)}`
  const read = () => api.get<RepositoryHealth>(`${pipeline}/repository_health`)
  const problem = await createWebhook(api, pipeline)
  let health = await read()
  if (problem === null) {
    if (!health.hook.can_test) {
      const text =
        'The webhook is created. The host cannot send a test: the first push will show that it works.'
      return { health, text, isGood: true }
    }
    say('The webhook is created, and the host was asked for its test.')
  } else {
    say(`${problem}\n${pasteText(health)}`)
  }
  say(`Waiting up to ${span(seconds)} for the first delivery.`)
  const deadline = performance.now() + seconds * 1000
  while (health.last_delivery === null && performance.now() < deadline) {
    await pause(1000)
    health = await read()
  }
  return { health, ...outcomeOf(health, seconds) }
}

/** Null: it is created. */
async function createWebhook(api: Api, pipeline: string): Promise<string | null> {
  try {
    await api.post(`${pipeline}/webhook`)
    return null
  } catch (error) {
    if (error instanceof RefusedByServer) return error.message
    throw error
  }
}

/** What a person gives the host. */
const pasteText = ({ hook }: RepositoryHealth): string =>
  [
    'Add the webhook yourself:',
    `  Where    ${oneLine(hook.instructions)}`,
    `  Address  ${oneLine(hook.url)}`,
    `  Secret   ${hook.has_secret ? 'the webhook secret of the connection' : 'none'}`,
  ].join('\n')

function outcomeOf({ last_delivery: delivery }: RepositoryHealth, seconds: number) {
  if (delivery === null) {
    const text = `No delivery came within ${span(seconds)}. The host must reach the server; it shows its attempts beside the webhook.`
    return { text, isGood: false }
  }
  if (delivery.status !== 200) {
    const text = `The first delivery was refused with ${delivery.status}: ${oneLine(delivery.message)}`
    return { text, isGood: false }
  }
  return { text: `The webhook works: ${oneLine(delivery.event)} came.`, isGood: true }
}

const span = (seconds: number) => `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`
