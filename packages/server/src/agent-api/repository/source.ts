// Where the server reads a repository for a job: at the connection's host over http, or with the pipeline's deploy key over ssh.
import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import type { Context } from '../../context.ts'
import { badRequest } from '../../lib/errors.ts'
import { readSshAddress } from '../../lib/ssh-address.ts'
import { findDeployKey } from '../../resources/pipelines/deploy_key/open.ts'
import { findReading, type Reading } from '../../resources/pipelines/repository_connections/reading.ts'
import { writePackets } from '../../source-hosts/pkt-lines.ts'
import type { AgentRequest } from '../route.ts'
import type { RunningJob } from '../tokens.ts'
import { openSsh, type SshReading } from './ssh-source.ts'

export const service = 'git-upload-pack'
export const mostRequestBytes = 8 * 1024 * 1024

interface Reply {
  status: number
  headers: Record<string, string>
  body: Readable
}

export interface Source {
  /** Whether it reads only with version 2 of git's protocol. */
  needsVersion2: boolean
  advertise(): Promise<Reply>
  /** `encoding` is that of the body. */
  post(body: Buffer, encoding?: string): Promise<Reply>
}

type FoundSource = { ok: true; source: Source } | { ok: false; reason: string | null }

export async function findSource(
  ctx: Context,
  job: RunningJob,
  repository: string,
  request: AgentRequest,
): Promise<FoundSource> {
  const address = readSshAddress(repository)
  if (address === null) {
    const found = await findReading(ctx, job.organizationId, repository, 'checkout')
    return found.ok ? { ok: true, source: overHttp(ctx, found.reading, request) } : found
  }
  const privateKey = await findDeployKey(ctx, job.organizationId, job.pipelineId)
  if (privateKey === null) return { ok: false, reason: null }
  return { ok: true, source: overSsh(ctx, { address, privateKey }, request) }
}

function overHttp(
  ctx: Context,
  { url, username, password, staysPrivate }: Reading,
  { headers: { 'git-protocol': version }, gone }: AgentRequest,
): Source {
  const headers = {
    ...(typeof version === 'string' ? { 'Git-Protocol': version } : {}),
    Accept: '*/*',
    Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
  }
  return {
    needsVersion2: false,
    advertise: () =>
      ctx.outbound.open({
        method: 'GET',
        url: `${url}/info/refs?service=${service}`,
        headers,
        body: null,
        staysPrivate,
        signal: gone(),
      }),
    post: (body, encoding) =>
      ctx.outbound.open({
        method: 'POST',
        url: `${url}/${service}`,
        headers: {
          ...headers,
          'Content-Type': `application/x-${service}-request`,
          ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
        },
        body,
        staysPrivate,
        signal: gone(),
      }),
  }
}

function overSsh(ctx: Context, reading: SshReading, { gone }: AgentRequest): Source {
  const reply = (what: string, body: Readable): Reply => ({
    status: 200,
    headers: { 'content-type': `application/x-${service}-${what}` },
    body,
  })
  return {
    needsVersion2: true,
    async advertise() {
      const { advertised, end } = await openSsh(ctx, reading, gone())
      end()
      const named = Buffer.concat([writePackets([`# service=${service}\n`, 'flush']), advertised])
      return reply('advertisement', Readable.from([named]))
    },
    async post(body, encoding) {
      const { send } = await openSsh(ctx, reading, gone())
      return reply('result', send(decoded(body, encoding)))
    },
  }
}

export function decoded(body: Buffer, encoding: string | undefined): Buffer {
  if (encoding !== 'gzip') return body
  try {
    return gunzipSync(body, { maxOutputLength: mostRequestBytes })
  } catch {
    throw badRequest('The body is not what its Content-Encoding says.')
  }
}
