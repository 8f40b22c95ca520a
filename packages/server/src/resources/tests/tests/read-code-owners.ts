// Reads CODEOWNERS of a commit through the API of the repository's host, and keeps it until another commit is asked for: results of
// a build come for as long as it runs.
import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import type { CodeOwnersDialect } from '../../../source-hosts/code-owners.ts'
import { requestTo } from '../../../source-hosts/api.ts'
import type { CodeOwnersApi, HostToken } from '../../../source-hosts/host.ts'
import { hostOfType } from '../../../source-hosts/hosts.ts'
import { locate } from '../../../source-hosts/settings.ts'
import { findOfRepository, type ConnectionRow } from '../../pipelines/repository_connections/queries.ts'

export interface Checkout {
  organizationId: string
  pipelineId: string
  repository: string
  commit: string
}

export interface CodeOwnersFile {
  dialect: CodeOwnersDialect
  /** Empty: there is none. */
  text: string
}

/** GitHub reads no larger one. */
const mostBytes = 3 * 1024 * 1024

/** Null: it cannot be read, because there is no connection or the host has no such file. */
export async function readCodeOwners(ctx: Context, checkout: Checkout): Promise<CodeOwnersFile | null> {
  const { organizationId, repository } = checkout
  const connection = await findOfRepository(ctx.db, organizationId, repository)
  if (connection === undefined) return null
  const { codeOwners: api, token } = hostOfType(connection.type)
  if (api === null || token === null) return null
  const kept = await findKept(ctx, checkout)
  if (kept !== undefined) return { dialect: api.dialect, text: kept }
  const text = await fetchFile(ctx, connection, { api, token, checkout })
  if (text === null) return null
  await keep(ctx, checkout, text)
  return { dialect: api.dialect, text }
}

async function fetchFile(
  ctx: Context,
  connection: ConnectionRow,
  { api, token: hostToken, checkout }: { api: CodeOwnersApi; token: HostToken; checkout: Checkout },
): Promise<string | null> {
  const repository = locate(checkout.repository)?.path ?? ''
  for (const path of api.paths) {
    const request = api.fileRequest(repository, path, checkout.commit)
    const { permissions = {} } = request
    const token = await hostToken.find(ctx, connection, repository, permissions)
    if (token === null) return null
    const headers = { ...hostToken.apiHeaders(token), ...api.headers }
    const answer = await ctx.outbound.send({
      ...requestTo(connection.api_url, headers, request),
      keptBytes: mostBytes,
    })
    if (answer.status === 404) continue
    if (answer.status === 401) hostToken.evict(ctx, connection, repository, permissions)
    if (answer.status !== 200) throw new Error(`The host answered ${answer.status} for ${path}.`)
    return answer.isCut ? '' : answer.body.toString().replaceAll('\0', '')
  }
  return ''
}

async function findKept(
  ctx: Context,
  { organizationId, pipelineId, repository, commit }: Checkout,
): Promise<string | undefined> {
  const { rows } = await sql<{ content: string }>`
    select content from code_owners
    where organization_id = ${organizationId} and pipeline_id = ${pipelineId} and repository = ${repository}
      and commit = ${commit}`.execute(ctx.db)
  return rows[0]?.content
}

async function keep(
  ctx: Context,
  { organizationId, pipelineId, repository, commit }: Checkout,
  content: string,
): Promise<void> {
  await sql`
    insert into code_owners (pipeline_id, organization_id, repository, commit, content, read_at)
    select p.id, p.organization_id, ${repository}, ${commit}, ${content}, ${ctx.now().toISOString()}
    from pipelines p where p.organization_id = ${organizationId} and p.id = ${pipelineId}
    on conflict (pipeline_id) do update set repository = excluded.repository, commit = excluded.commit,
      content = excluded.content, read_at = excluded.read_at`.execute(ctx.db)
}
