// Relays the repository of a job's pipeline to git, with the credentials of the connection. They never leave the server, so a job
// can neither write with them nor reach another repository. Where the server cannot read the repository it sends git to the
// repository's own address, where the agent's credentials count.
import type { Readable } from 'node:stream'
import type { RepositoryAccessResponse } from '@millrace/protocol/secrets.ts'
import type { Context } from '../../context.ts'
import { ok, redirect, type Answer } from '../../http/answer.ts'
import { forbidden, notFound, unavailable } from '../../lib/errors.ts'
import { OutboundError } from '../../lib/outbound.ts'
import { readHttpUrl } from '../../resources/pipelines/repository_connections/reading.ts'
import { isVersion2, writePackets } from '../../source-hosts/pkt-lines.ts'
import { agentRoute, lastOf, type AgentRequest } from '../route.ts'
import type { RunningJob } from '../tokens.ts'
import {
  fetching,
  isNegotiation,
  listing,
  nothingInCommon,
  onlyRefs,
  readCommand,
  wantsOf,
  writeRefs,
} from './fork-requests.ts'
import { mostOfFork, mostOfJob, takePlace } from './places.ts'
import { findRelayed, type Relayed } from './relayed.ts'
import { decoded, findSource, mostRequestBytes, service, type Source } from './source.ts'

const mostListedBytes = 1024 * 1024

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

const noCredentials = 'The server has no credentials for the repository.'

type Opened = { ok: true; answer: Answer } | { ok: false; reason: string }

async function openRefs(
  ctx: Context,
  job: RunningJob,
  { repository, limits }: Relayed,
  request: AgentRequest,
): Promise<Opened> {
  const found = await findSource(ctx, job, repository, request)
  if (!found.ok) return { ok: false, reason: found.reason ?? noCredentials }
  const { source } = found
  // Earlier versions list all refs before they are asked.
  const needsVersion2 = limits !== null || source.needsVersion2
  if (needsVersion2 && request.headers['git-protocol'] !== 'version=2') {
    return { ok: false, reason: 'git is too old: it needs version 2 of its protocol here.' }
  }
  await waitForPlace(job, limits, request)
  try {
    const { status, headers, body } = await source.advertise()
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

const waitForPlace = (job: RunningJob, limits: Relayed['limits'], { gone }: AgentRequest): Promise<void> =>
  takePlace(job.id, limits === null ? mostOfJob : mostOfFork, gone())

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
    const way = await findSource(ctx, job, repository, request)
    if (!way.ok) throw notFound(way.reason ?? noCredentials)
    await waitForPlace(job, limits, request)
    try {
      return limits === null
        ? await pass(way.source.post(request.body, request.headers['content-encoding']))
        : await passLimited(way.source, request, limits)
    } catch (error) {
      if (error instanceof OutboundError) throw unavailable(error.message, error)
      throw error
    }
  },
})

async function pass(asked: ReturnType<Source['post']>): Promise<Answer> {
  const { status, headers, body } = await asked
  if (status === 200) return passOn(headers, body)
  body.destroy()
  throw unavailable(`The host of the repository answered ${status}.`)
}

async function passLimited(
  source: Source,
  { headers, body }: AgentRequest,
  limits: NonNullable<Relayed['limits']>,
): Promise<Answer> {
  const isVersion2Asked = headers['git-protocol'] === 'version=2'
  const command = isVersion2Asked ? readCommand(decoded(body, headers['content-encoding'])) : null
  const list = async () => {
    const listed = await source.post(listing(command ?? { capabilities: [] }, limits.refs))
    return onlyRefs(await read(listed.body), limits.refs) ?? new Map<string, string>()
  }
  if (command?.name === 'ls-refs') return answerBytes('result', writeRefs(await list()))
  if (command?.name !== 'fetch') throw forbidden('Jobs of forks can only fetch.')
  const wanted = wantsOf(command).filter((commit) => commit !== limits.commit)
  const own = wanted.length === 0 ? [] : [...(await list()).values()]
  if (!wanted.every((commit) => own.includes(commit))) {
    return answerBytes('result', writePackets([`ERR ${onlyItsOwn}\n`]))
  }
  if (isNegotiation(command)) return answerBytes('result', nothingInCommon)
  return pass(source.post(fetching(command)))
}

const onlyItsOwn = 'Jobs of forks get the commit of their pull request, and no other.'

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

const access = agentRoute({
  method: 'GET',
  url: '/v3/jobs/:job/repository_access',
  token: 'job',
  forks: 'own_job',
  async handler({ ctx, job, request }) {
    const found = await findRelayed(ctx, job)
    const way = found.ok
      ? await findSource(ctx, job, found.relayed.repository, request)
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
  'The server has a connection or a deploy key for this repository, but the host refuses it or cannot be reached from the server. Look at …/repository_connections or …/pipelines/SLUG/deploy_key; otherwise the agent needs credentials of its own.'

const noWay =
  'Neither the server nor the agent has credentials for this repository. An administrator can connect its host (…/repository_connections, with a token or a GitHub App), whoever may edit the pipeline can make a deploy key for an address of ssh (POST …/pipelines/SLUG/deploy_key), or the owner of the agent can give git credentials to the user that runs jobs.'

export const repositoryRelayApi = [advertise, uploadPack, access]
