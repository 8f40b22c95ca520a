// Relays the repository of a job's pipeline to git, with the credentials of the connection. They never leave the server, so a job
// can neither write with them nor reach another repository. Where the server cannot read the repository it sends git to the
// repository's own address, where the agent's credentials count.
import { gunzipSync } from 'node:zlib'
import type { Readable } from 'node:stream'
import type { RepositoryAccessResponse } from '@millrace/protocol/secrets.ts'
import type { Context } from '../../context.ts'
import { ok, redirect, type Answer } from '../../http/answer.ts'
import { badRequest, forbidden, notFound, unavailable } from '../../lib/errors.ts'
import { OutboundError } from '../../lib/outbound.ts'
import {
  findReading,
  readHttpUrl,
  type Reading,
} from '../../resources/pipelines/repository_connections/reading.ts'
import { readPackets, textOf, writePackets } from '../../source-hosts/pkt-lines.ts'
import { agentRoute, lastOf, type AgentRequest } from '../route.ts'
import type { RunningJob } from '../tokens.ts'
import { fetching, listing, onlyRefs, readCommand, wantsOf, writeRefs } from './fork-requests.ts'
import { findRelayed, type Relayed } from './relayed.ts'

const mostRequestBytes = 8 * 1024 * 1024
const mostListedBytes = 1024 * 1024
const service = 'git-upload-pack'

const advertise = agentRoute({
  method: 'GET',
  url: '/v3/jobs/:job/repository.git/info/refs',
  token: 'job',
  takesBasic: true,
  // The handler limits forks to their own pull request.
  forks: 'own_job',
  async handler({ ctx, job, query, request }) {
    if (lastOf(query['service']) !== service) throw forbidden('The repository can only be read here.')
    const found = await findRelayed(ctx, job)
    const way = found.ok ? await openRefs(ctx, job, found.relayed, request) : found
    if (way.ok) return way.answer
    const repository = found.ok ? found.relayed.repository : found.repository
    if (readHttpUrl(repository) === null) throw notFound(way.reason)
    return redirect(`${repository.replace(/\/+$/, '')}/info/refs?service=${service}`)
  },
})

type Opened = { ok: true; answer: Answer } | { ok: false; reason: string }

async function openRefs(
  ctx: Context,
  job: RunningJob,
  { repository, limits }: Relayed,
  request: AgentRequest,
): Promise<Opened> {
  const found = await findReading(ctx, job.organizationId, repository, 'checkout')
  if (!found.ok)
    return { ok: false, reason: found.reason ?? 'No connection has credentials for the repository.' }
  const version = request.headers['git-protocol']
  // Earlier versions list all refs before they are asked.
  if (limits !== null && version !== 'version=2')
    return { ok: false, reason: 'git is too old: forks need its protocol 2.' }
  try {
    const { status, headers, body } = await ask(
      ctx,
      found.reading,
      `info/refs?service=${service}`,
      request,
      null,
    )
    if (status !== 200) {
      body.destroy()
      return { ok: false, reason: `The host answered ${status} to the credentials of the connection.` }
    }
    if (limits === null) return { ok: true, answer: passOn(headers, body) }
    const advertised = await read(body)
    if (!isVersion2(advertised))
      return { ok: false, reason: 'The host does not know protocol 2 of git, which forks need.' }
    return { ok: true, answer: answerBytes('advertisement', advertised) }
  } catch (error) {
    if (error instanceof OutboundError) return { ok: false, reason: error.message }
    throw error
  }
}

const uploadPack = agentRoute({
  method: 'POST',
  url: `/v3/jobs/:job/repository.git/${service}`,
  token: 'job',
  takesBasic: true,
  // The handler limits forks to their own pull request.
  forks: 'own_job',
  makesNoWork: true,
  bodyLimitBytes: mostRequestBytes,
  async handler({ ctx, job, request }) {
    const found = await findRelayed(ctx, job)
    if (!found.ok) throw forbidden(found.reason)
    const { repository, limits } = found.relayed
    const way = await findReading(ctx, job.organizationId, repository, 'checkout')
    if (!way.ok) throw notFound(way.reason ?? 'No connection has credentials for the repository.')
    try {
      const post: Post = (body, encoding) => ask(ctx, way.reading, service, request, { body, encoding })
      return limits === null
        ? await pass(post(request.body, request.headers['content-encoding']))
        : await passLimited(post, request, limits)
    } catch (error) {
      if (error instanceof OutboundError) throw unavailable(error.message, error)
      throw error
    }
  },
})

type Post = (body: Buffer, encoding?: string) => ReturnType<typeof ask>

async function pass(asked: ReturnType<typeof ask>): Promise<Answer> {
  const { status, headers, body } = await asked
  if (status === 200) return passOn(headers, body)
  body.destroy()
  throw unavailable(`The host of the repository answered ${status}.`)
}

async function passLimited(
  post: Post,
  request: AgentRequest,
  limits: NonNullable<Relayed['limits']>,
): Promise<Answer> {
  const command = request.headers['git-protocol'] === 'version=2' ? readCommand(plainBody(request)) : null
  const list = async () => {
    const { body } = await post(listing(command ?? { capabilities: [] }, limits.refs))
    return onlyRefs(await read(body), limits.refs) ?? new Map<string, string>()
  }
  if (command?.name === 'ls-refs') return answerBytes('result', writeRefs(await list()))
  if (command?.name !== 'fetch') throw forbidden('Jobs of forks can only fetch.')
  const wanted = wantsOf(command).filter((commit) => commit !== limits.commit)
  const own = wanted.length === 0 ? [] : [...(await list()).values()]
  if (!wanted.every((commit) => own.includes(commit))) {
    return answerBytes('result', writePackets([`ERR ${onlyItsOwn}\n`]))
  }
  return pass(post(fetching(command)))
}

const onlyItsOwn = 'Jobs of forks get the commit of their pull request, and no other.'

function plainBody({ headers, body }: AgentRequest): Buffer {
  if (headers['content-encoding'] !== 'gzip') return body
  try {
    return gunzipSync(body, { maxOutputLength: mostRequestBytes })
  } catch {
    throw badRequest('The body is not what its Content-Encoding says.')
  }
}

async function ask(
  ctx: Context,
  { url, username, password, staysPrivate }: Reading,
  path: string,
  { headers, gone }: AgentRequest,
  sent: { body: Buffer; encoding: string | undefined } | null,
) {
  const version = headers['git-protocol']
  return ctx.outbound.open({
    method: sent === null ? 'GET' : 'POST',
    url: `${url}/${path}`,
    headers: {
      ...(typeof version === 'string' ? { 'Git-Protocol': version } : {}),
      ...(sent === null ? {} : { 'Content-Type': `application/x-${service}-request` }),
      ...(sent?.encoding === undefined ? {} : { 'Content-Encoding': sent.encoding }),
      Accept: '*/*',
      Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    },
    body: sent?.body ?? null,
    staysPrivate,
    signal: gone(),
  })
}

const passOn = (headers: Record<string, string>, stream: Readable): Answer => ({
  status: 200,
  stream,
  headers: {
    'Content-Type': headers['content-type'] ?? 'application/octet-stream',
    'Cache-Control': 'no-store',
    ...(headers['content-encoding'] === undefined ? {} : { 'Content-Encoding': headers['content-encoding'] }),
  },
})

const answerBytes = (what: 'advertisement' | 'result', body: Buffer): Answer => ({
  status: 200,
  body,
  headers: { 'Content-Type': `application/x-${service}-${what}`, 'Cache-Control': 'no-store' },
})

async function read(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > mostListedBytes) throw new OutboundError('failed', 'The host answered with too much.')
  }
  return Buffer.concat(chunks)
}

/** Hosts may put the name of the service in front. */
const isVersion2 = (advertised: Buffer): boolean =>
  (readPackets(advertised) ?? []).map(textOf).find((line) => line !== '' && !line.startsWith('# ')) ===
  'version 2'

const access = agentRoute({
  method: 'GET',
  url: '/v3/jobs/:job/repository_access',
  token: 'job',
  forks: 'own_job',
  async handler({ ctx, job }) {
    const found = await findRelayed(ctx, job)
    const way = found.ok
      ? await findReading(ctx, job.organizationId, found.relayed.repository, 'checkout')
      : { ok: false as const, reason: found.reason }
    const answer: RepositoryAccessResponse = {
      message: way.ok
        ? couldNotRead
        : way.reason === null
          ? noWay
          : `The server could not help: ${way.reason}`,
    }
    return ok(answer)
  },
})

const couldNotRead =
  'The server has credentials for the host, of its repository connection, but the host refuses them or cannot be reached from the server. An administrator sees and changes them at …/repository_connections; otherwise the agent needs credentials of its own.'

const noWay =
  'Neither the server nor the agent has credentials for this repository. An administrator can connect its host (…/repository_connections, with a token or a GitHub App), or the owner of the agent can give git credentials to the user that runs jobs.'

export const repositoryRelayApi = [advertise, uploadPack, access]
