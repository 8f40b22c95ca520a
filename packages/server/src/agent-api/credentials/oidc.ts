// Signed tokens that prove a job's identity to other services, which verify them with the keys published here.
import { sql } from 'kysely'
import { OidcTokenRequest, type OidcTokenResponse } from '@millrace/protocol/oidc.ts'
import type { Context } from '../../context.ts'
import { ok } from '../../http/answer.ts'
import { refused } from '../../lib/errors.ts'
import { signJwt } from '../../lib/jwt.ts'
import { getSigningKey, listPublicKeys } from './oidc-keys.ts'
import { agentRoute } from '../route.ts'
import type { RunningJob } from '../tokens.ts'

const defaultLifetimeSeconds = 300
const requestToken = agentRoute({
  method: 'POST',
  url: '/v3/jobs/:job/oidc/tokens',
  token: 'job',
  forks: { refused: 'tokens that show who it is' },
  body: OidcTokenRequest,
  async handler({ ctx, job, body }) {
    const answer: OidcTokenResponse = { token: await signToken(ctx, await claimsFor(ctx, job, body)) }
    return ok(answer)
  },
})

const getConfiguration = agentRoute({
  method: 'GET',
  url: '/.well-known/openid-configuration',
  token: 'none',
  async handler({ ctx }) {
    return ok({
      issuer: ctx.config.url,
      jwks_uri: `${ctx.config.url}/.well-known/jwks`,
      id_token_signing_alg_values_supported: ['RS256'],
      response_types_supported: ['id_token'],
      scopes_supported: ['openid'],
      subject_types_supported: ['public'],
      claims_supported: ['sub', 'aud', 'exp', 'iat', 'iss', 'nbf', ...standardClaims, ...optionalClaims],
    })
  },
})

const getKeys = agentRoute({
  method: 'GET',
  url: '/.well-known/jwks',
  token: 'none',
  async handler({ ctx }) {
    return ok({ keys: await listPublicKeys(ctx) })
  },
})

const standardClaims = [
  'organization_slug',
  'pipeline_slug',
  'build_number',
  'build_branch',
  'build_tag',
  'build_commit',
  'build_source',
  'step_key',
  'job_id',
  'agent_id',
  'runner_environment',
] as const

/** Only on request; beside them any tag of the agent, as `agent_tag:NAME`. */
const optionalClaims = [
  'organization_id',
  'pipeline_id',
  'build_id',
  'cluster_id',
  'cluster_name',
  'queue_id',
  'queue_key',
] as const

type Facts = Record<
  (typeof standardClaims)[number] | (typeof optionalClaims)[number],
  string | number | null
> & {
  tags: string[]
}

async function claimsFor(ctx: Context, job: RunningJob, body: OidcTokenRequest): Promise<object> {
  const facts = await getFacts(ctx, job)
  const now = Math.floor(ctx.now().getTime() / 1000)
  const standard = Object.fromEntries(standardClaims.map((name) => [name, facts[name]]))
  return {
    iss: ctx.config.url,
    sub: body.subject_claim ? String(claim(facts, body.subject_claim)) : subject(facts),
    aud: body.audience || `${ctx.config.url}/${facts.organization_slug}`,
    iat: now,
    nbf: now,
    exp: now + (body.lifetime || defaultLifetimeSeconds),
    ...standard,
    ...(facts.build_tag === null ? { build_tag: undefined } : {}),
    ...Object.fromEntries((body.claims ?? []).map((name) => [name, claim(facts, name)])),
    ...awsTags(facts, body.aws_session_tags ?? []),
  }
}

function subject(facts: Facts): string {
  const ref = facts.build_tag === null ? `refs/heads/${facts.build_branch}` : `refs/tags/${facts.build_tag}`
  return (
    `organization:${facts.organization_slug}:pipeline:${facts.pipeline_slug}:ref:${ref}` +
    `:commit:${facts.build_commit}:step:${facts.step_key ?? ''}`
  )
}

function claim(facts: Facts, name: string): string | number | null {
  const known = [...standardClaims, ...optionalClaims].find((candidate) => candidate === name)
  if (known !== undefined) return facts[known]
  if (!name.startsWith('agent_tag:')) throw refused(`There is no claim ${name.slice(0, 100)}.`)
  const prefix = `${name.slice('agent_tag:'.length)}=`
  return facts.tags.find((tag) => tag.startsWith(prefix))?.slice(prefix.length) ?? null
}

function awsTags(facts: Facts, names: readonly string[]): object {
  if (names.length === 0) return {}
  const tags = names.map((name): [string, string[]] => [name, [String(claim(facts, name) ?? '')]])
  return { 'https://aws.amazon.com/tags': { principal_tags: Object.fromEntries(tags) } }
}

async function getFacts(ctx: Context, job: RunningJob): Promise<Facts> {
  const { rows } = await sql<Facts>`
    select o.id as organization_id, o.slug as organization_slug, p.id as pipeline_id, p.slug as pipeline_slug,
      b.id as build_id, b.number as build_number, b.branch as build_branch, b.tag as build_tag,
      b.commit as build_commit, b.source as build_source, j.step_key, j.id as job_id, a.id as agent_id,
      case when c.hosted then 'hosted' else 'self-hosted' end as runner_environment,
      c.id as cluster_id, c.name as cluster_name, q.id as queue_id, q.key as queue_key, a.tags
    from jobs j join builds b on b.id = j.build_id join pipelines p on p.id = b.pipeline_id
    join organizations o on o.id = b.organization_id join agents a on a.id = j.agent_id
    left join clusters c on c.id = j.cluster_id left join cluster_queues q on q.id = j.queue_id
    where j.organization_id = ${job.organizationId} and j.id = ${job.id}`.execute(ctx.db)
  const [facts] = rows
  if (facts === undefined) throw new Error('A job vanished while it asked for a token.')
  return facts
}

async function signToken(ctx: Context, claims: object): Promise<string> {
  const { id, privateKey } = await getSigningKey(ctx)
  return signJwt(claims, privateKey, id)
}

export const oidcApi = [requestToken, getConfiguration, getKeys]
