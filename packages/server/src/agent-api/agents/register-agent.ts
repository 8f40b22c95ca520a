// Registers an agent in a cluster: its queue, its name, and its session token.
import { randomInt } from 'node:crypto'
import type { RegisterRequest } from '@millrace/protocol/agents.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { registerHosted } from '../../hosted-agents/register.ts'
import { refused, unauthorized } from '../../lib/errors.ts'
import { hashToken, newId, newToken } from '../../lib/ids.ts'
import type { Joining, Registration } from '../tokens.ts'

interface Registered {
  id: string
  name: string
  sessionToken: string
  tags: string[]
}

export async function registerAgent(
  ctx: Context,
  joining: Joining,
  from: { ip: string; userAgent: string | null },
  body: RegisterRequest,
): Promise<Registered> {
  const given = (body.meta_data ?? []).map((tag) => tag.trim()).filter((tag) => tag !== '')
  const isHosted = joining.kind === 'hosted'
  const { organization, cluster } = isHosted ? joining.hosted : joining.registration
  const queue = isHosted ? joining.hosted.queue : await chooseQueue(ctx, joining.registration, given)
  const tags = given.some((tag) => tag.startsWith('queue=')) ? given : [...given, `queue=${queue.key}`]
  const id = newId()
  const name = expandName(body)
  const sessionToken = newToken('mras_')
  const row = {
    id,
    organization_id: organization.id,
    cluster_id: cluster.id,
    queue_id: queue.id,
    cluster_token_id: isHosted ? null : joining.registration.tokenId,
    name,
    hostname: body.hostname ?? '',
    os: body.os ?? '',
    arch: body.arch ?? '',
    version: body.version ?? '',
    build: body.build ?? '',
    pid: body.pid ?? null,
    machine_id: body.machine_id ?? null,
    priority: body.priority ? Number(body.priority) : null,
    tags,
    features: body.features ?? [],
    session_hash: hashToken(sessionToken),
    // A hosted agent has its job already and is offered no other.
    is_hosted: isHosted,
    ignore_in_dispatches: isHosted || (body.ignore_in_dispatches ?? false),
    ip_address: from.ip,
    user_agent: from.userAgent,
  }
  await inTransaction(ctx.db, async (trx) => {
    // Against a concurrent deletion of the token: either it is gone here, or the deletion finds the agent.
    if (row.cluster_token_id !== null && !(await holdToken(trx, row.cluster_token_id))) {
      throw unauthorized('The agent token is not known: it was revoked, or mistyped.')
    }
    await trx.insertInto('agents').values(row).execute()
    if (isHosted) await registerHosted(trx, ctx, joining.hosted, id)
  })
  return { id, name, sessionToken, tags }
}

async function holdToken(trx: Trx, id: string): Promise<boolean> {
  const held = await trx
    .selectFrom('cluster_tokens')
    .select('id')
    .where('id', '=', id)
    .forKeyShare()
    .execute()
  return held.length > 0
}

async function chooseQueue(
  ctx: Context,
  { organization, cluster, defaultQueue }: Registration,
  tags: readonly string[],
): Promise<{ id: string; key: string }> {
  const [key, second] = new Set(tags.filter((tag) => tag.startsWith('queue=')).map((tag) => tag.slice(6)))
  if (second !== undefined) {
    throw refused(
      `An agent serves one queue, and this one names ${key} and ${second}. Start an agent for each.`,
    )
  }
  if (key === undefined) {
    if (defaultQueue !== null) return defaultQueue
    throw refused(
      `The cluster ${cluster.name} has no default queue. Choose one for it, or start the agent with a tag such as queue=linux.`,
    )
  }
  const queue = await ctx.db
    .selectFrom('cluster_queues')
    .select(['id', 'key', 'instance_shape'])
    .where('organization_id', '=', organization.id)
    .where('cluster_id', '=', cluster.id)
    .where('key', '=', key)
    .executeTakeFirst()
  if (queue === undefined) {
    throw refused(
      `The cluster ${cluster.name} has no queue ${key.slice(0, 100)}. Make it first, or name another.`,
    )
  }
  if (queue.instance_shape !== null) {
    throw refused(`The queue ${queue.key} is hosted: Millrace starts its agents. Name a queue that is not.`)
  }
  return queue
}

/** The agent has filled in `%spawn` itself. */
function expandName({ name, hostname, pid }: RegisterRequest): string {
  const values: Record<string, () => string> = {
    hostname: () => hostname || 'agent',
    pid: () => String(pid ?? 0),
    random: () => Array.from({ length: 6 }, () => letters[randomInt(letters.length)]).join(''),
  }
  const expanded = (name?.trim() || '%hostname-%random').replace(
    /%(hostname|pid|random)/g,
    (pattern, key: string) => values[key]?.() ?? pattern,
  )
  return expanded.slice(0, 255)
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
